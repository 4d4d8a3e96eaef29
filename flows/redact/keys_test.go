package redact_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"frontdesk/flows/redact"
)

var logMethod = regexp.MustCompile(`^(Debug|Info|Warn|Error)(Context)?$`)

// TestLoggedKeysAreAllowed: every attribute of every log line has a key whose value is logged.
func TestLoggedKeysAreAllowed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, lines := slog.New(redact.New(slog.NewTextHandler(&out, nil))), 0
	for _, folder := range []string{"cmd", "flows", "handlers"} {
		err := filepath.WalkDir(filepath.Join("../..", folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if call, ok := node.(*ast.CallExpr); ok && isLogCall(call) {
					lines++
					for _, key := range keysOf(call) {
						out.Reset()
						log.Info("line", key, "kept")
						if !strings.Contains(out.String(), key+"=kept") {
							t.Errorf("%s: the value of %q is not logged: %s", path, key, out.String())
						}
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if lines < 50 {
		t.Errorf("only %d log lines were found", lines)
	}
}

// isLogCall reports whether a call is one of a logger's methods.
func isLogCall(call *ast.CallExpr) bool {
	called, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !logMethod.MatchString(called.Sel.Name) {
		return false
	}
	switch logger := called.X.(type) {
	case *ast.SelectorExpr:
		return strings.EqualFold(logger.Sel.Name, "log")
	case *ast.Ident:
		return logger.Name == "log"
	}
	return false
}

// keysOf returns the keys that follow the event, which is the first string literal of a log call.
func keysOf(call *ast.CallExpr) (keys []string) {
	event := -1
	for i, argument := range call.Args {
		literal, ok := argument.(*ast.BasicLit)
		switch {
		case event < 0 && ok && literal.Kind == token.STRING:
			event = i
		case event >= 0 && (i-event)%2 == 1 && ok:
			key, _ := strconv.Unquote(literal.Value)
			keys = append(keys, key)
		}
	}
	return keys
}
