package cmd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
)

// mcpVersions are the versions of the Model Context Protocol (modelcontextprotocol.io) that the server speaks, the newest first.
// Clients of the first one send server/discover, those of the others begin with initialize.
var mcpVersions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2024-11-05"}

// Codes of JSON-RPC 2.0.
const (
	rpcParseError     = -32700
	rpcMethodNotFound = -32601
	rpcInvalidParams  = -32602
)

// rpcRequest is a request, or a notification if it has no id.
type rpcRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string                     `json:"protocolVersion"` // of initialize
		Name            string                     `json:"name"`            // of tools/call
		Arguments       map[string]json.RawMessage `json:"arguments"`
	} `json:"params"`
}

type rpcResponse struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// serve answers the requests of a client, one JSON text a line and one after the other, until there are no more or ctx ends.
//
// The SDK of the protocol would add 1.6 MB to the image; the part of it that serves tools is this file. Its client tests it.
func (m *mcpServer) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines, failed := make(chan []byte), make(chan error, 1)
	go func() { // a read of standard input cannot be ended
		reader := bufio.NewReader(in)
		for {
			line, err := reader.ReadBytes('\n')
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
			if err != nil {
				failed <- err
				return
			}
		}
	}()
	encoder := json.NewEncoder(out) // ends each response with a line feed
	encoder.SetEscapeHTML(false)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		case line := <-lines:
			if response := m.answer(ctx, line); response != nil {
				if err := encoder.Encode(response); err != nil {
					return err
				}
			}
		}
	}
}

// answer returns the response to a line; nil for none.
func (m *mcpServer) answer(ctx context.Context, line []byte) *rpcResponse {
	var request rpcRequest
	response := &rpcResponse{JSONRPC: "2.0", ID: json.RawMessage("null")}
	if err := json.Unmarshal(line, &request); err != nil {
		if len(line) == 0 {
			return nil
		}
		response.Error = &rpcError{rpcParseError, "The line is not a request: " + err.Error()}
		return response
	}
	if request.ID == nil {
		return nil
	}
	response.ID = request.ID
	if response.Result, response.Error = m.run(ctx, request); response.Error != nil {
		response.Result = nil
	}
	return response
}

// run carries out a request.
func (m *mcpServer) run(ctx context.Context, request rpcRequest) (result any, refused *rpcError) {
	info := map[string]string{"name": "frontdesk", "version": builtVersion()}
	complete := map[string]any{ // what each result of the newest version has; older ones ignore it
		"resultType": "complete",
		"_meta":      map[string]any{"io.modelcontextprotocol/serverInfo": info},
	}
	about := func(members map[string]any) map[string]any {
		for name, value := range complete {
			members[name] = value
		}
		return members
	}
	capabilities := map[string]any{"tools": struct{}{}}
	switch request.Method {
	case "initialize":
		version := request.Params.ProtocolVersion
		if !slices.Contains(mcpVersions[1:], version) {
			version = mcpVersions[1]
		}
		return map[string]any{
			"protocolVersion": version, "capabilities": capabilities, "serverInfo": info, "instructions": m.instructions(),
		}, nil
	case "server/discover":
		return about(map[string]any{
			"supportedVersions": mcpVersions, "capabilities": capabilities, "instructions": m.instructions(),
			"ttlMs": 0, "cacheScope": "private",
		}), nil
	case "ping":
		return struct{}{}, nil
	case "tools/list":
		return about(map[string]any{"tools": mcpTools, "ttlMs": 0, "cacheScope": "private"}), nil
	case "tools/call":
		at := slices.IndexFunc(mcpTools, func(tool mcpTool) bool { return tool.name == request.Params.Name })
		if at < 0 {
			return nil, &rpcError{rpcInvalidParams, "There is no tool " + request.Params.Name + "."}
		}
		text, err := m.call(ctx, mcpTools[at], request.Params.Arguments)
		if err != nil {
			text = err.Error()
		}
		return about(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": err != nil}), nil
	}
	return nil, &rpcError{rpcMethodNotFound, "The server has no method " + request.Method + "."}
}
