package docs_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"frontdesk/e2e/frontdesktest"
)

// operation is an operation of the contract, with its first success status.
type operation struct {
	*openapi3.Operation
	Method, Path string
	Status       int
}

// operationsOf lists the contract's operations in a steady order, with the parameters of their paths.
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

// successStatus returns the first success status.
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

// TestEveryOperationHasExamples checks for an example of the request, of the response, and of lines to
// paste.
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
		if response := op.Responses.Status(op.Status); response == nil || len(response.Value.Content) > 0 && !hasExample(response.Value.Content) {
			t.Errorf("%s: the answer %d has no example", op.OperationID, op.Status)
		}
		if len(op.samples(t)) != 1 {
			t.Errorf("%s has %d code samples, not one", op.OperationID, len(op.samples(t)))
		}
	}
}

// TestContractIsPacked compares the contract in the binary with openapi.yaml.
func TestContractIsPacked(t *testing.T) {
	t.Parallel()
	file, err := gzip.NewReader(strings.NewReader(read(t, "openapi.yaml.gz")))
	frontdesktest.Must(t, err)
	packed, err := io.ReadAll(file)
	frontdesktest.Must(t, err)
	if !bytes.Equal(packed, frontdesktest.Contract(t)) {
		t.Error("openapi.yaml.gz differs from openapi.yaml: run go generate ./handlers/docs")
	}
}

// TestResponsesMayGrow checks that no response forbids members, so that a validating client reads those
// of a newer gateway.
func TestResponsesMayGrow(t *testing.T) {
	t.Parallel()
	seen := map[*openapi3.Schema]bool{}
	var walk func(at string, ref *openapi3.SchemaRef)
	walk = func(at string, ref *openapi3.SchemaRef) {
		if ref == nil || seen[ref.Value] {
			return
		}
		schema := ref.Value
		seen[schema] = true
		if allowed := schema.AdditionalProperties.Has; allowed != nil && !*allowed {
			t.Errorf("%s has additionalProperties: false", at)
		}
		for name, property := range schema.Properties {
			walk(at+"."+name, property)
		}
		for _, part := range slices.Concat(schema.OneOf, schema.AllOf, openapi3.SchemaRefs{schema.Items, schema.AdditionalProperties.Schema}) {
			walk(at, part)
		}
	}
	for _, op := range operationsOf(t) {
		for status, response := range op.Responses.Map() {
			for _, media := range response.Value.Content {
				walk(op.OperationID+" "+status, media.Schema)
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d schemas were found", len(seen))
	}
}

// hasExample reports whether content comes with an example, its own or its schema's. A page or a
// document is its own.
func hasExample(content openapi3.Content) bool {
	for kind, media := range content {
		page := slices.Contains([]string{"text/html", "text/plain", "application/pdf", "application/yaml"}, kind)
		if !page && media.Example == nil && len(media.Examples) == 0 && media.Schema.Value.Example == nil {
			return false
		}
	}
	return len(content) > 0
}

// samples returns the operation's lines of shell, as documentation tools read them.
func (op operation) samples(t *testing.T) (all []struct{ Lang, Source string }) {
	t.Helper()
	text, err := json.Marshal(op.Extensions["x-codeSamples"])
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || slices.ContainsFunc(all, func(sample struct{ Lang, Source string }) bool { return sample.Lang != "Shell" }) {
		t.Errorf("%s: the code samples are %s: %v", op.OperationID, text, err)
	}
	return all
}

// TestOperationExamplesRun runs each operation's lines by themselves, as a reader without other
// knowledge does. Its own request must get the response that the contract promises, and every other one
// must succeed.
func TestOperationExamplesRun(t *testing.T) {
	t.Parallel()
	gateway := localhost(frontdesktest.NewMock(t).URL)
	for _, op := range operationsOf(t) {
		t.Run(op.OperationID, func(t *testing.T) {
			for _, sample := range op.samples(t) {
				printed, made := paste(t, gateway, sample.Source)
				if own, ok := op.findRequest(made); !ok || own.Status != op.Status {
					t.Errorf("%s %s must be answered with %d; the requests were %+v", op.Method, op.Path, op.Status, made)
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
