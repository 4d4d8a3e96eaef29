package handlers_test

import (
	"bytes"
	"encoding/json"
	"os"
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
