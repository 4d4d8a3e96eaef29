package text_test

import (
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"frontdesk/e2e/frontdesktest"
)

// wording is a text by its plural forms; most texts have only the form "other".
type wording map[string]string

func (w *wording) UnmarshalJSON(data []byte) error {
	var only string
	if json.Unmarshal(data, &only) == nil {
		*w = wording{"other": only}
		return nil
	}
	return json.Unmarshal(data, (*map[string]string)(w))
}

// readTexts returns a language's texts, by kind and code.
func readTexts(t *testing.T, tag string) map[string]map[string]wording {
	t.Helper()
	file, err := os.ReadFile(tag + ".json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "first") // not a kind of text
	delete(all, "ordinals")
	texts := map[string]map[string]wording{}
	for kind, of := range all {
		byCode := map[string]wording{}
		if err := json.Unmarshal(of, &byCode); err != nil {
			t.Fatalf("%s of %s.json: %v", kind, tag, err)
		}
		texts[kind] = byCode
	}
	return texts
}

// extensible returns the codes that a schema of the contract lists.
func extensible(schema *openapi3.SchemaRef) (codes []string) {
	list, _ := schema.Value.Extensions["x-extensible-enum"].([]any)
	for _, code := range list {
		codes = append(codes, code.(string))
	}
	slices.Sort(codes)
	return codes
}

// source is what the product's Go files say of texts.
type source struct {
	names map[string]map[string]string // of constants, by type and value
	uses  map[string]int               // how often a constant is used, by its name
}

// readSource reads the Go files of flows and handlers with their types. Where a code belongs, no file may have a literal:
// it is a sentence, or a code that no list has.
func readSource(t *testing.T, codeTypes []string) source {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps",
		"-f", "{{.ImportPath}}\t{{.Export}}\t{{if not .DepOnly}}{{.Dir}}\t{{join .GoFiles \" \"}}{{end}}", "../...", "../../handlers/...")
	listed, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	files := token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	found := source{names: map[string]map[string]string{}, uses: map[string]int{}}
	for line := range strings.Lines(string(listed)) { // in which a package follows those that it imports
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		exports[fields[0]] = fields[1]
		if len(fields) < 4 {
			continue
		}
		var parsed []*ast.File
		for _, name := range strings.Fields(fields[3]) {
			file, err := parser.ParseFile(files, filepath.Join(fields[2], name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		if _, err := (&types.Config{Importer: imports}).Check(fields[0], files, parsed, info); err != nil {
			t.Fatal(err)
		}
		for _, file := range parsed {
			ast.Inspect(file, func(node ast.Node) bool { return found.note(t, files, info, codeTypes, node) })
		}
	}
	return found
}

// note notes the constants that are declared and used, and reports whether to look into the node.
func (s source) note(t *testing.T, files *token.FileSet, info *types.Info, codeTypes []string, node ast.Node) bool {
	t.Helper()
	switch node := node.(type) {
	case *ast.ValueSpec:
		of, ok := types.Unalias(info.TypeOf(node.Type)).(*types.Named)
		if !ok || len(node.Values) != 1 || !slices.Contains(codeTypes, of.Obj().Name()) || info.Types[node.Values[0]].Value == nil {
			return true
		}
		name := of.Obj().Name()
		if s.names[name] == nil {
			s.names[name] = map[string]string{}
		}
		s.names[name][constant.StringVal(info.Types[node.Values[0]].Value)] = node.Names[0].Name
		return false
	case *ast.Ident:
		if _, ok := info.Uses[node].(*types.Const); ok {
			s.uses[node.Name]++
		}
	case *ast.SelectorExpr: // a constant of another package
	case ast.Expr:
		value := info.Types[node]
		of, ok := types.Unalias(value.Type).(*types.Named)
		if !ok || value.Value == nil || !slices.Contains(codeTypes, of.Obj().Name()) || constant.StringVal(value.Value) == "" {
			return true
		}
		t.Errorf("%s has %s instead of a constant of type %s", files.Position(node.Pos()), value.Value, of.Obj().Name())
		return false
	}
	return true
}

// TestTexts checks that each code has a text in each language and is used, and that no text lacks a code. The contract lists
// the codes that programs read.
func TestTexts(t *testing.T) {
	t.Parallel()
	schemas := frontdesktest.Document(t).Components.Schemas
	kinds := map[string]struct {
		constants string
		listed    *openapi3.SchemaRef // nil: not in the contract, or an enum, which the gateway checks when it starts
		uses      int                 // at least: a table of all codes, where there is one, and one more
	}{
		"titles":   {"Code", nil, 2},
		"details":  {"DetailCode", nil, 1},
		"fields":   {"FieldCode", schemas["FieldCode"], 1},
		"messages": {"MessageCode", schemas["MessageCode"], 1},
		"cart":     {"CartProblemCode", schemas["CartProblemCode"], 1},
		"page":     {"PageCode", nil, 1},
		"contract": {"ContractCode", nil, 1},
	}
	var codeTypes []string
	for _, kind := range kinds {
		codeTypes = append(codeTypes, kind.constants)
	}
	product := readSource(t, codeTypes)
	texts := map[string]map[string]map[string]wording{}
	for _, tag := range []string{"en", "fr"} {
		texts[tag] = readTexts(t, tag)
		if got, want := slices.Sorted(maps.Keys(texts[tag])), slices.Sorted(maps.Keys(kinds)); !slices.Equal(got, want) {
			t.Fatalf("%s.json has %q, want %q", tag, got, want)
		}
	}
	for kind, of := range kinds {
		names := product.names[of.constants]
		codes := slices.Sorted(maps.Keys(names))
		if of.listed != nil && !slices.Equal(codes, extensible(of.listed)) {
			t.Errorf("openapi.yaml lists for %s %q, and the code has %q", kind, extensible(of.listed), codes)
		}
		for _, code := range codes {
			isLeafs := kind == "fields" && strings.HasPrefix(code, "iban") // package iban imports nothing, and has them as strings
			if product.uses[names[code]] < of.uses && !isLeafs {
				t.Errorf("%s, %s: nothing uses %s", kind, code, names[code])
			}
		}
		for tag := range texts {
			for _, code := range codes {
				if texts[tag][kind][code] == nil {
					t.Errorf("%s, %s: %s.json has no text", kind, code, tag)
				}
			}
			for code := range texts[tag][kind] {
				if names[code] == "" {
					t.Errorf("%s, %s: %s.json has a text for no constant", kind, code, tag)
				}
			}
		}
		for code, english := range texts["en"][kind] {
			compareTexts(t, kind+", "+code, english, texts["fr"][kind][code])
		}
	}
}

var (
	parameter = regexp.MustCompile(`\{[a-zA-Z]+\}`)
	// alike are the texts that are the same in both languages.
	alike    = []string{"Club", "E-mail", "Total", "Type", "{date}"}
	codeForm = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
)

// compareTexts checks that a text has the same parameters in both languages, and one of them if it has plural forms.
func compareTexts(t *testing.T, what string, english, french wording) {
	t.Helper()
	_, code, _ := strings.Cut(what, ", ")
	if !codeForm.MatchString(code) {
		t.Errorf("%s is not a code", what)
	}
	parametersOf := func(form string) []string { return slices.Sorted(slices.Values(parameter.FindAllString(form, -1))) }
	want := parametersOf(english["other"])
	for tag, text := range map[string]wording{"en": english, "fr": french} {
		forms := slices.Sorted(maps.Keys(text))
		hasPlural := len(want) == 1 && slices.Equal(forms, []string{"one", "other"})
		if !hasPlural && !slices.Equal(forms, []string{"other"}) {
			t.Errorf("%s of %s.json has the forms %q and the parameters %q", what, tag, forms, want)
		}
		for form, written := range text {
			isOnce := form == "one" && strings.HasPrefix(code, "every_") // every month
			if written == "" || !isOnce && !slices.Equal(parametersOf(written), want) {
				t.Errorf("%s of %s.json, form %s: %q", what, tag, form, written)
			}
		}
	}
	if english["other"] == french["other"] && !slices.Contains(alike, english["other"]) {
		t.Errorf("%s is %q in both languages", what, english["other"])
	}
}
