package handlers_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestContractAsJSON compares api/openapi.json with openapi.yaml, or writes it.
func TestContractAsJSON(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(frontdesktest.Contract(t))
	frontdesktest.Must(t, err)
	frontdesktest.Must(t, document.Validate(t.Context()))
	text, err := document.MarshalJSON()
	frontdesktest.Must(t, err)
	var indented bytes.Buffer
	frontdesktest.Must(t, json.Indent(&indented, text, "", " "))
	if *update {
		frontdesktest.Must(t, os.WriteFile("../api/openapi.json", indented.Bytes(), 0o644))
	} else if !bytes.Equal(indented.Bytes(), api.JSON) {
		t.Error("api/openapi.json is another contract than openapi.yaml: run make generate")
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
