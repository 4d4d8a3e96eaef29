package docs_test

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"frontdesk/e2e/frontdesktest"
)

// operation is one of the contract, with the status that it promises first.
type operation struct {
	*openapi3.Operation
	Method, Path string
	Status       int
}

// operationsOf lists the contract's operations in a steady order.
func operationsOf(t *testing.T) (operations []operation) {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(frontdesktest.Contract(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(context.Background(), openapi3.EnableExamplesValidation()); err != nil {
		t.Errorf("an example is not what its schema says: %v", err)
	}
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			op.Parameters = append(slices.Clone(op.Parameters), item.Parameters...)
			operations = append(operations, operation{op, method, path, successStatus(op)})
		}
	}
	slices.SortFunc(operations, func(a, b operation) int { return strings.Compare(a.Path+a.Method, b.Path+b.Method) })
	if len(operations) < 30 {
		t.Fatalf("the contract has %d operations", len(operations))
	}
	return operations
}

// successStatus is the first status of success.
func successStatus(op *openapi3.Operation) int {
	for _, status := range slices.Sorted(func(yield func(string) bool) {
		for status := range op.Responses.Map() {
			if !yield(status) {
				return
			}
		}
	}) {
		if code, err := strconv.Atoi(status); err == nil && code < http.StatusMultipleChoices {
			return code
		}
	}
	return 0
}

// findRequest finds the operation's own request among those of its example, the last one.
func (op operation) findRequest(all []exchange) (exchange, bool) {
	path := regexp.MustCompile("^" + regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(op.Path), "[^/]+") + "$")
	for _, e := range slices.Backward(all) {
		if e.Method == op.Method && path.MatchString(e.Path) {
			return e, true
		}
	}
	return exchange{}, false
}

// TestEveryOperationHasExamples: of what is sent, of what is answered, and as lines to paste.
func TestEveryOperationHasExamples(t *testing.T) {
	t.Parallel()
	for _, op := range operationsOf(t) {
		for _, parameter := range op.Parameters {
			if p := parameter.Value; p.Required && p.Example == nil && p.Examples == nil {
				t.Errorf("%s: the parameter %s has no example", op.OperationID, p.Name)
			}
		}
		if op.RequestBody != nil && !hasExample(op.RequestBody.Value.Content) {
			t.Errorf("%s: the body has no example", op.OperationID)
		}
		if answer := op.Responses.Status(op.Status); answer == nil || len(answer.Value.Content) > 0 && !hasExample(answer.Value.Content) {
			t.Errorf("%s: the answer %d has no example", op.OperationID, op.Status)
		}
		if len(shellBlocks(op)) != 1 {
			t.Errorf("%s: its description has %d blocks of shell, not one", op.OperationID, len(shellBlocks(op)))
		}
	}
}

// hasExample tells whether content comes with an example, its own or its schema's. A page or a document is its own.
func hasExample(content openapi3.Content) bool {
	for kind, media := range content {
		page := kind == "text/html" || kind == "application/yaml"
		if !page && media.Example == nil && len(media.Examples) == 0 && media.Schema.Value.Example == nil {
			return false
		}
	}
	return len(content) > 0
}

// shellBlocks are the blocks of shell in an operation's description.
func shellBlocks(op operation) []block {
	return slices.DeleteFunc(parseBlocks(op.Description), func(b block) bool { return b.Language != "sh" })
}

// TestOperationExamplesRun runs each operation's lines by themselves, as
// a reader without other knowledge does. Its own request has to be answered
// as the contract promises, and every other one without an error.
func TestOperationExamplesRun(t *testing.T) {
	t.Parallel()
	gateway := localhost(frontdesktest.NewMock(t).URL)
	for _, op := range operationsOf(t) {
		t.Run(op.OperationID, func(t *testing.T) {
			for _, lines := range shellBlocks(op) {
				printed, made := paste(t, gateway, lines.Text)
				if own, ok := op.findRequest(made); !ok || own.Status != op.Status {
					t.Errorf("%s %s has to be answered with %d; made was %+v", op.Method, op.Path, op.Status, made)
				}
				for _, e := range made {
					if e.Status == 0 || e.Status >= http.StatusBadRequest {
						t.Errorf("on the way there: %+v", e)
					}
				}
				if text := strings.TrimSpace(printed); text == "" || text == "null" {
					t.Errorf("the reader sees %q", text)
				}
			}
		})
	}
}
