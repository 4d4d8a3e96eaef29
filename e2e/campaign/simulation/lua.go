package simulation

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // it is how Redis names scripts
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// scripts runs the gateways' scripts, word for word, with the commands of the
// embedded Redis. That one makes a Lua world for each call, which would be half of
// the cost of a journey; here one world and its compiled scripts stay.
type scripts struct {
	server *server.Server // of the embedded Redis
	peer   *server.Peer   // whose commands they are
	reply  *bytes.Buffer

	mu    sync.Mutex // a script is not interrupted
	state *lua.LState
	known map[string]*lua.LFunction // by hash
}

func newScripts(s *server.Server) *scripts {
	reply := &bytes.Buffer{}
	r := &scripts{
		server: s, peer: server.NewPeer(bufio.NewWriter(reply)), reply: reply,
		state: lua.NewState(), known: map[string]*lua.LFunction{},
	}
	module := r.state.NewTable()
	r.state.SetField(module, "call", r.state.NewFunction(r.call))
	r.state.SetGlobal("redis", module)
	return r
}

// close ends it.
func (s *scripts) close() { s.state.Close() }

// knows tells whether a script came as a whole before.
func (s *scripts) knows(hash string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[hash] != nil
}

// learn compiles a script that comes as a whole. What is wrong with it, Redis says.
func (s *scripts) learn(text string) {
	hash := fmt.Sprintf("%x", sha1.Sum([]byte(text))) //nolint:gosec // it is how Redis names scripts
	chunk, err := parse.Parse(strings.NewReader(text), hash)
	if err != nil {
		return
	}
	proto, err := lua.Compile(chunk, hash)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[hash] = s.state.NewFunctionFromProto(proto)
}

// process runs a script that is known, and has Redis do everything else.
func (s *scripts) process(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
	asked, ok := cmd.(*redis.Cmd)
	if !ok || cmd.Name() != "evalsha" {
		return next(ctx, cmd)
	}
	args := cmd.Args()
	s.mu.Lock()
	defer s.mu.Unlock()
	script := s.known[fmt.Sprint(args[1])]
	if script == nil {
		return next(ctx, cmd)
	}
	keys, _ := strconv.Atoi(fmt.Sprint(args[2]))
	s.state.SetGlobal("KEYS", s.table(args[3:3+keys]))
	s.state.SetGlobal("ARGV", s.table(args[3+keys:]))
	if err := s.state.CallByParam(lua.P{Fn: script, NRet: 1, Protect: true}); err != nil {
		return fmt.Errorf("simulation: script: %w", err)
	}
	value := fromLua(s.state.Get(-1))
	s.state.Pop(1)
	if value == nil {
		return redis.Nil
	}
	asked.SetVal(value)
	return nil
}

func (s *scripts) table(args []any) *lua.LTable {
	table := s.state.CreateTable(len(args), 0)
	for i, arg := range args {
		table.RawSetInt(i+1, lua.LString(onWire(arg)))
	}
	return table
}

// onWire is an argument as the client sends it.
func onWire(arg any) string {
	switch a := arg.(type) {
	case string:
		return a
	case []byte:
		return string(a)
	case float64:
		return strconv.FormatFloat(a, 'f', -1, 64)
	default:
		return fmt.Sprint(a)
	}
}

// fromLua is a result as the client reads it.
func fromLua(value lua.LValue) any {
	switch v := value.(type) {
	case lua.LNumber:
		return int64(v)
	case lua.LString:
		return string(v)
	case *lua.LTable:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = fromLua(v.RawGetInt(i + 1))
		}
		return list
	}
	if value == lua.LTrue {
		return int64(1)
	}
	return nil
}

// call is redis.call of the scripts.
func (s *scripts) call(l *lua.LState) int {
	args := make([]string, l.GetTop())
	for i := range args {
		args[i] = l.Get(i + 1).String()
	}
	s.reply.Reset()
	s.server.Dispatch(s.peer, args)
	s.peer.Flush()
	reply, err := server.ParseReply(bufio.NewReader(s.reply))
	if err != nil {
		l.RaiseError("%s", err.Error())
	}
	l.Push(toLua(l, reply))
	return 1
}

// toLua is a command's answer as a script reads it.
func toLua(l *lua.LState, reply any) lua.LValue {
	switch r := reply.(type) {
	case int64:
		return lua.LNumber(r)
	case int:
		return lua.LNumber(r)
	case []byte:
		return lua.LString(r)
	case string:
		return lua.LString(r)
	case server.Simple:
		status := l.NewTable()
		status.RawSetString("ok", lua.LString(r))
		return status
	case []any:
		list := l.CreateTable(len(r), 0)
		for i, each := range r {
			list.RawSetInt(i+1, toLua(l, each))
		}
		return list
	default:
		return lua.LFalse
	}
}
