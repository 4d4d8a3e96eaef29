package protocol_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
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

// TestDecisionsAreExplained: the page has exactly the decisions that an operator can make, and the states to which each leads.
func TestDecisionsAreExplained(t *testing.T) {
	t.Parallel()
	choices := map[string]protocol.Choice{"recorded": protocol.ConfirmRecorded, "recorded by hand": protocol.ConfirmRecorded,
		"settled by hand": protocol.ConfirmRecorded, "not recorded, send again": protocol.SendAgain, "not recorded, refund": protocol.GiveBack,
		"refund": protocol.GiveBack, "refund with an override, if it is disputed or missing": protocol.GiveBack,
		"not recorded, cancel": protocol.CallOff, "cancel": protocol.CallOff}
	_, section, _ := strings.Cut(page(t), "## What an operator may decide")
	explained, about := map[string]bool{}, ""
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			continue
		}
		about = cmp.Or(strings.TrimSpace(cells[1]), about)
		for _, to := range statesIn(cells[3]) {
			explained[fmt.Sprintf("%s: %s, which leads to %s", about, choices[strings.TrimSpace(cells[2])], to)] = true
		}
	}
	possible := map[string]bool{}
	for state, about := range map[flows.PaymentState]string{flows.InDoubt: "in doubt", flows.Blocked: "blocked",
		flows.Recorded: "recorded, with a finding"} {
		for _, s := range starts(state) {
			if state == flows.Recorded {
				s.p.SaleVerdict = protocol.SaleOpen
			}
			for what, to := range decisionsOf(s) {
				possible[fmt.Sprintf("%s: %s, which leads to %s", about, what, to)] = true
			}
		}
	}
	for each := range explained {
		if !possible[each] {
			t.Errorf("the page has a decision that is never possible: %s", each)
		}
	}
	for each := range possible {
		if !explained[each] {
			t.Errorf("the page lacks a decision: %s", each)
		}
	}
}

// decisionsOf returns the decisions about a payment that are carried out, and where they lead, whatever the other systems show.
func decisionsOf(began *start) iter.Seq2[protocol.Choice, flows.PaymentState] {
	return func(yield func(protocol.Choice, flows.PaymentState) bool) {
		for _, choice := range []protocol.Choice{protocol.ConfirmRecorded, protocol.SendAgain, protocol.GiveBack, protocol.CallOff} {
			for _, override := range []bool{false, true} {
				for _, r := range began.readings {
					for _, sale := range began.sales {
						f := protocol.Facts{Remote: r.Remote, Sale: sale.Sale, Latest: &protocol.Latest{Payment: began.p}}
						decides(choice, override)(&f)
						_, change := protocol.Next(began.p, f, now)
						if change != nil && !yield(choice, change.Record.State) {
							return
						}
					}
				}
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
