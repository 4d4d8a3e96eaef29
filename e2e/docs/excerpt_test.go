package docs_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"frontdesk/e2e/frontdesktest"
)

// TestExcerptsMatchFiles checks that an excerpt in a guide matches its example file.
func TestExcerptsMatchFiles(t *testing.T) {
	t.Parallel()
	excerpts := 0
	for _, guide := range []string{"docs/how-to/build-a-website.md", "docs/how-to/build-an-app.md", "docs/how-to/run-parallel-tests.md"} {
		for _, block := range parseBlocks(read(t, guide)) {
			if block.File == "" {
				continue
			}
			excerpts++
			if !strings.Contains(read(t, filepath.Join("docs", block.File)), block.Text) {
				t.Errorf("%s shows what is not in %s:\n%s", guide, block.File, block.Text)
			}
		}
	}
	if excerpts < 5 {
		t.Errorf("only %d excerpts were found", excerpts)
	}
}

// language holds the patterns that find the contract's elements in a language.
type language struct {
	file string
	// model finds a type and its members, member one of them.
	model, member *regexp.Regexp
	// request finds method and path of a request, or the path of an action of a registration. Those without a method are POSTs.
	request, header, word *regexp.Regexp
	optional              func(kind string) bool
}

var languages = map[string]language{
	"swift": {
		file:    "docs/examples/Frontdesk.swift",
		model:   regexp.MustCompile(`(?ms)^struct (\w+): (?:Codable|Decodable|Encodable)(?:, Error)? \{(.*?)(?:^\}| \}$| \} //)`),
		member:  regexp.MustCompile(`\b(?:let|var) ([\w, ]+?)(?:: ([\w\[\]]+\??)| = "\w*")(?:;|\s*//.*|\s*)(?:\n|$| )`),
		request: regexp.MustCompile(`(?:send\(\s*"(\w+)", |want\(|string: )"(/v1/[^"]*)"|\bact\("([^"]+)"`),
		header:  regexp.MustCompile(`HTTPHeaderField: "([^"]+)"`),
		word:    regexp.MustCompile(`(?:[=!]= |can\(|", )"([a-z_]+)`),
		optional: func(kind string) bool {
			return strings.HasSuffix(kind, "?")
		},
	},
	"kotlin": {
		file:    "docs/examples/Frontdesk.kt",
		model:   regexp.MustCompile(`(?ms)^@Serializable data class (\w+)\((.*?)^?\)`),
		member:  regexp.MustCompile(`\bval (\w+): ([\w<>]+\??)`),
		request: regexp.MustCompile(`(?:send\("(\w+)", |want\(|request\()"(/v1/[^"]*)"|\bact\("([^"]+)"`),
		header:  regexp.MustCompile(`\bheader\("([^"]+)"`),
		word:    regexp.MustCompile(`(?:[=!]= |can\(|", )"([a-z_]+)`),
		optional: func(kind string) bool {
			return strings.HasSuffix(kind, "?")
		},
	},
}

// TestAppExamplesMatchContract compares the files for app developers with the contract: every path with its method,
// every field and whether it may be missing, every header, and every value that the code compares with. No test can
// compile the Swift file.
func TestAppExamplesMatchContract(t *testing.T) {
	t.Parallel()
	document := frontdesktest.Document(t)
	for name, language := range languages {
		t.Run(name, func(t *testing.T) {
			text := read(t, language.file)
			language.checkModels(t, text, document)
			language.checkRequests(t, text, document)
			language.checkHeaders(t, text, document)
			language.checkValues(t, text, document)
		})
	}
}

// checkModels compares the types that are named as schemas with them.
func (l language) checkModels(t *testing.T, text string, document *openapi3.T) {
	t.Helper()
	held := map[string]int{}
	for _, model := range l.model.FindAllStringSubmatch(text, -1) {
		reference, ok := document.Components.Schemas[model[1]]
		if !ok {
			continue // the app's own
		}
		if model[1] == "Registration" { // one type for all responses, so it has the token of the first one
			reference = document.Components.Schemas["StartedRegistration"]
		}
		schema := merged(reference.Value)
		for _, member := range l.member.FindAllStringSubmatch(model[2], -1) {
			for field := range strings.SplitSeq(member[1], ",") {
				field = strings.TrimSpace(field)
				held[model[1]]++
				if schema.Properties[field] == nil {
					t.Errorf("%s: the contract's %s has no %s", l.file, model[1], field)
				}
				if required := slices.Contains(schema.Required, field); !required && member[2] != "" && !l.optional(member[2]) {
					t.Errorf("%s: %s of %s may be missing", l.file, field, model[1])
				}
			}
		}
		sent := schema.AdditionalProperties.Has != nil
		for _, field := range schema.Required {
			if sent && !regexp.MustCompile(`\b`+field+`\b`).MatchString(model[2]) {
				t.Errorf("%s: %s lacks %s", l.file, model[1], field)
			}
		}
	}
	for _, needed := range []string{"Registration", "Payment", "Problem", "Person", "StartRegistration", "NewMandate", "Money", "Action"} {
		if held[needed] == 0 {
			t.Errorf("%s: no field of %s was found", l.file, needed)
		}
	}
}

// merged is a schema with the members of its branches: those of all parts of an allOf, and of any
// alternative of a oneOf. A oneOf requires what each alternative requires.
func merged(schema *openapi3.Schema) *openapi3.Schema {
	all := &openapi3.Schema{
		Properties:           maps.Clone(schema.Properties),
		Required:             schema.Required,
		AdditionalProperties: schema.AdditionalProperties,
	}
	if all.Properties == nil {
		all.Properties = openapi3.Schemas{}
	}
	for _, part := range schema.AllOf {
		maps.Copy(all.Properties, merged(part.Value).Properties)
		all.Required = append(all.Required, merged(part.Value).Required...)
	}
	for i, branch := range schema.OneOf {
		maps.Copy(all.Properties, branch.Value.Properties)
		if i == 0 {
			all.Required = slices.Clone(branch.Value.Required)
		}
		all.Required = slices.DeleteFunc(all.Required, func(name string) bool { return !slices.Contains(branch.Value.Required, name) })
	}
	return all
}

// interpolated is a value in a path.
var interpolated = regexp.MustCompile(`\\\(\w[\w.]*\)|\$\{[^}]*\}|\$\w+`)

func (l language) checkRequests(t *testing.T, text string, document *openapi3.T) {
	t.Helper()
	known := map[string]bool{}
	for path, item := range document.Paths.Map() {
		for method := range item.Operations() {
			known[method+" "+regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "{}")] = true
		}
	}
	found := map[string]bool{}
	for _, request := range l.request.FindAllStringSubmatch(text, -1) {
		method := request[1]
		path, _, _ := strings.Cut(interpolated.ReplaceAllString(request[2], "{}"), "?")
		if action := request[3]; action != "" {
			path = "/v1/registrations/{}/" + action
		} else if path == "/v1/registrations/{}/{}" {
			continue // what sends the actions
		}
		if method == "" {
			method = "POST"
		}
		if strings.HasSuffix(path, "/events") {
			method = "GET"
		}
		found[method+" "+path] = true
	}
	for request := range found {
		if !known[request] {
			t.Errorf("%s: the contract has no %s", l.file, request)
		}
	}
	if len(found) < 8 {
		t.Errorf("%s: only the requests %v were found", l.file, slices.Sorted(maps.Keys(found)))
	}
}

func (l language) checkHeaders(t *testing.T, text string, document *openapi3.T) {
	t.Helper()
	known := map[string]bool{"Accept-Language": true, "Authorization": true, "Content-Type": true, "Retry-After": true}
	for _, parameter := range document.Components.Parameters {
		known[parameter.Value.Name] = parameter.Value.In == "header"
	}
	found := l.header.FindAllStringSubmatch(text, -1)
	for _, header := range found {
		if !known[header[1]] {
			t.Errorf("%s: the contract has no header %s", l.file, header[1])
		}
	}
	if len(found) < 3 {
		t.Errorf("%s: only %d headers were found", l.file, len(found))
	}
}

// checkValues compares states, codes, actions and the like with all that the contract lists.
func (l language) checkValues(t *testing.T, text string, document *openapi3.T) {
	t.Helper()
	known := map[string]bool{"offline": true} // the file's own, when no response arrived
	for _, schema := range document.Components.Schemas {
		collectValues(known, schema.Value)
		for name, property := range schema.Value.Properties {
			known[name] = true
			collectValues(known, property.Value)
		}
	}
	found := map[string]bool{}
	for _, at := range l.word.FindAllStringSubmatchIndex(text, -1) {
		word := text[at[2]:at[3]]
		if text[at[3]] != '"' {
			continue // the beginning of something longer
		}
		found[word] = true
		if !known[word] {
			t.Errorf("%s: the contract knows no %q", l.file, word)
		}
	}
	for _, needed := range []string{"send_again", "pay", "card", "start_again"} {
		if !found[needed] {
			t.Errorf("%s: %q was not found among %v", l.file, needed, slices.Sorted(maps.Keys(found)))
		}
	}
}

func collectValues(known map[string]bool, schema *openapi3.Schema) {
	for _, word := range schema.Enum {
		known[fmt.Sprint(word)] = true
	}
}
