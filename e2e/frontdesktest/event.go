package frontdesktest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"
)

// messages reads the messages of asyncapi.yaml once for all tests of a package: by name the schema of
// the payload, and by "name headers" that of the headers. Its schemas are OpenAPI schemas, too.
var messages = sync.OnceValues(func() (openapi3.Schemas, error) {
	path := filepath.Join(Root(), "asyncapi.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var document struct {
		Components struct {
			Messages map[string]struct{ Payload, Headers map[string]any }
		}
	}
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	schemas := map[string]any{}
	for name, message := range document.Components.Messages {
		schemas[name] = message.Payload
		if foreign, ok := message.Payload["schema"]; ok { // with a schemaFormat
			schemas[name] = foreign
		}
		if message.Headers != nil {
			schemas[name+"Headers"] = message.Headers
		}
	}
	text, err = json.Marshal(map[string]any{"openapi": "3.0.3", "components": map[string]any{"schemas": schemas}})
	if err != nil {
		return nil, err
	}
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = true
	loaded, err := loader.LoadFromDataWithPath(text, &url.URL{Path: path})
	if err != nil {
		return nil, err
	}
	return loaded.Components.Schemas, nil
})

// ValidateEvent checks a message that the gateway sent, and its headers if it has any, against asyncapi.yaml.
func ValidateEvent(t testing.TB, name string, payload []byte, headers http.Header) {
	t.Helper()
	schemas, err := messages()
	if err != nil {
		t.Fatal(err)
	}
	if schemas[name] == nil {
		t.Fatalf("asyncapi.yaml has no message %s", name)
	}
	var body any
	if err = json.Unmarshal(payload, &body); err == nil {
		err = schemas[name].Value.VisitJSON(body)
	}
	if err != nil {
		t.Errorf("the message %s is not what asyncapi.yaml says: %v", name, err)
	}
	described := schemas[name+"Headers"]
	if described == nil {
		return
	}
	sent := map[string]any{}
	for header := range headers {
		sent[strings.ToLower(header)] = headers.Get(header)
	}
	if err := described.Value.VisitJSON(sent); err != nil {
		t.Errorf("the headers of %s are not what asyncapi.yaml says: %v", name, err)
	}
}
