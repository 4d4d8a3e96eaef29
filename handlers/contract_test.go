package handlers_test

import (
	"bytes"
	"net/http"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"frontdesk/e2e/frontdesktest"
)

// TestContractAsJSON: the contract is valid, and /openapi.json is all of it.
func TestContractAsJSON(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(frontdesktest.Contract(t))
	frontdesktest.Must(t, err)
	frontdesktest.Must(t, document.Validate(t.Context()))
	text, err := document.MarshalJSON()
	frontdesktest.Must(t, err)
	if served := newVisitor(t).Do("GET", "/openapi.json", nil); !bytes.Equal(served.Body, text) {
		t.Errorf("/openapi.json (%d) is another document", served.Status)
	}
}

// withoutKey are the writes that have one effect, and one response, however often they are sent.
var withoutKey = []string{"/v1/withdrawals/{statementId}/confirm", "/v1/cancellations/{statementId}/confirm"}

// TestKeysOfWrites: there is one rule for keys. Each POST of a front end requires an Idempotency-Key, and every other write
// accepts one, but for those of withoutKey.
func TestKeysOfWrites(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(frontdesktest.Contract(t))
	frontdesktest.Must(t, err)
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Extensions["x-internal"] == true || slices.Contains(withoutKey, path) {
				continue
			}
			key := op.Parameters.GetByInAndName("header", "Idempotency-Key")
			if write := method != http.MethodGet; write != (key != nil) {
				t.Errorf("%s %s: a write, %t, has a key, %t", method, path, write, key != nil)
				continue
			}
			if key == nil {
				continue
			}
			longest := key.Schema.Value.MaxLength
			if key.Required != (method == http.MethodPost) || key.Schema.Value.MinLength != 16 || longest == nil || *longest != 255 {
				t.Errorf("%s %s has the key %+v", method, path, key)
			}
		}
	}
}
