package protocol_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestNothingBlocks: the protocol has neither context, clock, network nor chance, so a test knows all that it can depend on.
func TestNothingBlocks(t *testing.T) {
	t.Parallel()
	allowed := []string{"cmp", "fmt", "slices", "strconv", "strings", "time", "github.com/google/uuid",
		"frontdesk/flows", "frontdesk/upstream/cards", "frontdesk/upstream/club"}
	forbidden := []string{"time.Now", "time.Since", "time.Until", "time.After", "time.AfterFunc", "time.Sleep", "time.NewTimer",
		"time.NewTicker", "time.Tick", "uuid.New", "uuid.NewString", "uuid.NewRandom", "uuid.NewV7", "cards.New", "club.New", "fmt.Print",
		"fmt.Printf", "fmt.Println"}
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) < 5 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, each := range file.Imports {
			if path, _ := strconv.Unquote(each.Path.Value); !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if call, ok := node.(*ast.SelectorExpr); ok {
				if of, ok := call.X.(*ast.Ident); ok && slices.Contains(forbidden, of.Name+"."+call.Sel.Name) {
					t.Errorf("%s calls %s.%s", name, of.Name, call.Sel.Name)
				}
			}
			return true
		})
	}
}
