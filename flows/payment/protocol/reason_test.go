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

	"frontdesk/flows"
)

// page reads docs/explanation/exactly-once.md.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/explanation/exactly-once.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTransitionsAreExplained: the page has exactly the transitions that the protocol may make.
func TestTransitionsAreExplained(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(page(t), "## States")
	section, _, _ = strings.Cut(section, "\n## ")
	explained := map[flows.PaymentState]map[flows.PaymentState]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			continue
		}
		before, after, _ := strings.Cut(cells[1], "→")
		for _, from := range statesIn(before) {
			for _, to := range statesIn(after + cells[2]) { // the second column has the states of payments without a processor
				if explained[from] == nil {
					explained[from] = map[flows.PaymentState]bool{}
				}
				explained[from][to] = true
			}
		}
	}
	for _, from := range flows.PaymentStates {
		for _, to := range flows.PaymentStates {
			if may := from.CanBecome(to); may != explained[from][to] {
				t.Errorf("%s may become %s: %t, and the page says %t", from, to, may, explained[from][to])
			}
		}
	}
}

// statesIn returns the states that a cell of a table has as code.
func statesIn(cell string) (states []flows.PaymentState) {
	for i, text := range strings.Split(cell, "`") {
		if i%2 == 1 {
			states = append(states, flows.PaymentState(text))
		}
	}
	return states
}

// TestReasonsAreExplained: the page has the reason of every way into doubt, of every refund that becomes due, and of every block, as far
// as the code names both in one place.
func TestReasonsAreExplained(t *testing.T) {
	t.Parallel()
	explained := page(t)
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
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
				if !strings.Contains(explained, reason) {
					t.Errorf("%s has the reason %q, and the page does not explain it", name, reason)
				}
			}
			return true
		})
	}
	if found < 28 {
		t.Errorf("the code has only %d reasons", found)
	}
}

// reasons returns the texts of a call or a return that leads to a doubt, to a refund that is due or to a block.
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
		return ok && slices.Contains([]string{"InDoubt", "RefundDue", "Blocked"}, state.Sel.Name)
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
