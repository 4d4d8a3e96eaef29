package protocol_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestReasonsAreExplained: docs/explanation/exactly-once.md has the reason of every way into doubt and of every refund that becomes
// due, as far as the code names both in one place.
func TestReasonsAreExplained(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/explanation/exactly-once.md")
	names, globbed := filepath.Glob("*.go")
	if err != nil || globbed != nil {
		t.Fatal(err, globbed)
	}
	found := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			for _, reason := range reasons(node) {
				found++
				if !strings.Contains(string(page), reason) {
					t.Errorf("%s has the reason %q, and the page does not explain it", name, reason)
				}
			}
			return true
		})
	}
	if found < 15 {
		t.Errorf("the code has only %d reasons", found)
	}
}

// reasons returns the texts of a call or a return that leads to a doubt or to a refund that is due.
func reasons(node ast.Node) (texts []string) {
	var values []ast.Expr
	leads := false
	switch node := node.(type) {
	case *ast.CallExpr:
		values = node.Args
		if called, ok := node.Fun.(*ast.SelectorExpr); ok {
			leads = called.Sel.Name == "endUnrecorded"
		}
	case *ast.ReturnStmt:
		values = node.Results
	}
	leads = leads || slices.ContainsFunc(values, func(value ast.Expr) bool {
		state, ok := value.(*ast.SelectorExpr)
		return ok && (state.Sel.Name == "InDoubt" || state.Sel.Name == "RefundDue")
	})
	if !leads {
		return nil
	}
	for _, value := range values {
		ast.Inspect(value, func(node ast.Node) bool {
			if text, ok := node.(*ast.BasicLit); ok && text.Kind == token.STRING {
				reason, _ := strconv.Unquote(text.Value)
				texts = append(texts, strings.Trim(reason, "; "))
			}
			return true
		})
	}
	return texts
}
