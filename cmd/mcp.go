package cmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"frontdesk/upstream/mock"
)

// mcpTimeout bounds a call of a tool. Control endpoints answer at once.
const mcpTimeout = 30 * time.Second

// mcpServer gives coding agents the control endpoints of a running mock as tools of the Model Context Protocol.
type mcpServer struct {
	url       string // of the mock, or of frontdesk sim
	world     string // of calls that name none
	snapshots string // the folder with the snapshots
}

func newMCPCommand() *cobra.Command {
	server := &mcpServer{}
	command := &cobra.Command{
		Use:   "mcp",
		Short: "Let a coding agent control a running mock, over standard input and output (Model Context Protocol).",
		Args:  exactArgs(),
		RunE: func(command *cobra.Command, _ []string) error {
			return server.serve(command.Context(), os.Stdin, os.Stdout)
		},
	}
	addOptions(command.Flags(),
		option{
			flag: "url", value: webURL(&server.url), defaultValue: "http://localhost:8080",
			help: "Address of the mock, or of frontdesk sim.",
		},
		option{flag: "world", value: text(&server.world), defaultValue: "demo", help: "World of calls that name none, such as demo-agent."},
		option{
			flag: "snapshots", value: text(&server.snapshots), defaultValue: filepath.Join(".", "snapshots"),
			help: "Folder of the snapshots; created with the first one.",
		},
	)
	return command
}

// webURL accepts an address of a web server, and leaves out a slash at its end.
func webURL(field *string) *value {
	return &value{kind: "url", set: func(text string) error {
		parsed, err := url.Parse(text)
		if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
			return errors.New("must be an address such as http://localhost:8080")
		}
		*field = strings.TrimSuffix(text, "/")
		return nil
	}}
}

// instructions tell an agent what the tools act on.
func (m *mcpServer) instructions() string {
	return fmt.Sprintf("Frontdesk is the back end of a fitness club's signup; %[1]s is a mock of it with nothing real behind it. "+
		"Its API is described at %[1]s/openapi.yaml, its guides are at %[1]s/docs. These tools act on the mock's outside world, "+
		"as buyers, banks, phones and clubs do. A request of the API belongs to the world in its header X-Frontdesk-World; the world of "+
		"these tools is %[2]s unless a call names another. A world that is named for the first time is new: take one for each test.",
		m.url, m.world)
}

// call carries out a tool, and returns what the agent reads.
func (m *mcpServer) call(ctx context.Context, tool mcpTool, arguments map[string]json.RawMessage) (string, error) {
	maps.DeleteFunc(arguments, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	if err := tool.check(arguments); err != nil {
		return "", err
	}
	snapshot := m.snapshot(arguments)
	switch {
	case !tool.snapshot:
		return m.send(ctx, tool, arguments)
	case snapshot == "":
		return "", errors.New("name: letters, digits, underscores and hyphens are allowed")
	case tool.reads():
		state, err := m.send(ctx, tool, arguments)
		if err == nil {
			err = errors.Join(os.MkdirAll(m.snapshots, 0o750), mock.ReplaceFile(snapshot, []byte(state)))
		}
		return "Saved as " + snapshot, err
	}
	state, err := os.ReadFile(snapshot) // #nosec G304 -- its name has no separator
	if err != nil {
		return "", fmt.Errorf("there is no such snapshot: %w", err)
	}
	arguments[tool.body] = state
	return m.send(ctx, tool, arguments)
}

// snapshot returns the path of the snapshot that a call names; empty for a wrong name.
func (m *mcpServer) snapshot(arguments map[string]json.RawMessage) string {
	name := textOf(arguments["name"])
	if !regexp.MustCompile(`^[\w-]+$`).MatchString(name) {
		return ""
	}
	return filepath.Join(m.snapshots, name+".json")
}

// send makes the tool's request, and returns the body of the response. A refusal is an error with the reason.
func (m *mcpServer) send(ctx context.Context, tool mcpTool, arguments map[string]json.RawMessage) (string, error) {
	method, path, body := m.request(tool, arguments)
	ctx, cancel := context.WithTimeout(ctx, mcpTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, m.url+path, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("no response from %s: %w. Is a mock running there? Start one with frontdesk, or give frontdesk mcp "+
			"another --url", m.url, err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return "", fmt.Errorf("the response of %s is incomplete: %w", m.url, err)
	case response.StatusCode >= http.StatusBadRequest:
		return "", fmt.Errorf("%s %s: %s: %s", method, path, response.Status, content)
	case len(content) == 0:
		return "Done.", nil
	}
	return string(content), nil
}

// request returns what a tool sends.
func (m *mcpServer) request(tool mcpTool, arguments map[string]json.RawMessage) (method, path string, body []byte) {
	method, path, _ = strings.Cut(tool.call, " ")
	query, members := url.Values{}, map[string]json.RawMessage{}
	for _, argument := range tool.all() {
		text := textOf(arguments[argument.name])
		if argument.name == worldArgument.name {
			text = cmp.Or(text, m.world)
		}
		switch in := "{" + argument.name + "}"; {
		case text == "", tool.snapshot && argument.name == snapshotArgument.name:
		case strings.Contains(path, in):
			text, _, _ = strings.Cut(text, "_secret_")
			path = strings.Replace(path, in, url.PathEscape(text), 1)
		case tool.reads():
			query.Set(argument.name, text)
		default:
			members[argument.name] = arguments[argument.name]
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	switch {
	case tool.reads():
	case tool.body != "":
		body = arguments[tool.body]
	case len(tool.arguments) > 0:
		body, _ = json.Marshal(members) // they were JSON
	}
	return method, path, body
}

// textOf returns a text without its quotation marks, and any other JSON as it is.
func textOf(value json.RawMessage) (text string) {
	if json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	return text
}

// check refuses missing and unknown arguments; the control endpoint checks their values.
func (tool mcpTool) check(arguments map[string]json.RawMessage) error {
	var names []string
	for _, argument := range tool.all() {
		names = append(names, argument.name)
		if arguments[argument.name] == nil && !argument.optional {
			return fmt.Errorf("the argument %s is missing: %s", argument.name, argument.does)
		}
	}
	for name := range arguments {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s has no argument %s, but: %s", tool.name, name, strings.Join(names, ", "))
		}
	}
	return nil
}
