package handlers_test

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
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"frontdesk/api"
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
	file, err := os.ReadFile("texts/" + tag + ".json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "first") // not a kind of text
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
		"-f", "{{.ImportPath}}\t{{.Export}}\t{{if not .DepOnly}}{{.Dir}}\t{{join .GoFiles \" \"}}{{end}}", "../flows/...", "./...")
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
		if of, ok := node.Type.(*ast.Ident); ok && len(node.Values) == 1 && slices.Contains(codeTypes, of.Name) {
			if s.names[of.Name] == nil {
				s.names[of.Name] = map[string]string{}
			}
			s.names[of.Name][constant.StringVal(info.Types[node.Values[0]].Value)] = node.Names[0].Name
			return false
		}
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
		"page":     {"pageText", nil, 1},
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
	codeForm  = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
)

// compareTexts checks that a text has the same parameters in both languages, and one of them if it has plural forms.
func compareTexts(t *testing.T, what string, english, french wording) {
	t.Helper()
	if _, code, _ := strings.Cut(what, ", "); !codeForm.MatchString(code) {
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
			if written == "" || !slices.Equal(parametersOf(written), want) {
				t.Errorf("%s of %s.json, form %s: %q", what, tag, form, written)
			}
		}
	}
	if english["other"] == french["other"] {
		t.Errorf("%s is %q in both languages", what, english["other"])
	}
}

// TestFieldProblems: a wrong field has a code with parameters, and a message in the visitor's language.
func TestFieldProblems(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	wrong := strings.NewReplacer("ada@example.com", "ada", "Martin", strings.Repeat("m", 200), `"birthDate":"1990-05-17",`, "").Replace(person)
	for accepted, messages := range map[string]map[string]string{
		"": {
			"/email":      "must be an e-mail address",
			"/birthDate":  "is required",
			"/familyName": "must have at most 100 characters",
		},
		"tlh, *;q=0.1": {"/email": "must be an e-mail address"},
		"fr-CA, en;q=0.8": {
			"/email":      "doit être une adresse e-mail",
			"/birthDate":  "est obligatoire",
			"/familyName": "doit comporter au plus 100 caractères",
		},
		"tlh, fr;q=0.5, en;q=.3": {"/email": "doit être une adresse e-mail"},
	} {
		response := client.Do("PUT", unknownRegistration+"/person", wrong, [2]string{"Accept-Language", accepted})
		found := map[string]api.FieldProblem{}
		for _, e := range value(response.Problem(api.InvalidRequest).Errors) {
			found[frontdesktest.Place(e)] = e
		}
		for pointer, message := range messages {
			if found[pointer].Text != message {
				t.Errorf("%q: %s has %q, want %q", accepted, pointer, found[pointer].Text, message)
			}
		}
		if found["/email"].Code != "email" || found["/birthDate"].Code != "required" || found["/familyName"].Code != "too_long" ||
			value(found["/familyName"].Params)["max"] != "100" {
			t.Errorf("%q: the problems are %+v", accepted, found)
		}
		want := "en"
		if strings.HasPrefix(messages["/email"], "doit") {
			want = "fr"
		}
		if got := response.Header.Get("Content-Language"); got != want || !slices.Contains(response.Header.Values("Vary"), "Accept-Language") {
			t.Errorf("%q is answered in %q, Vary: %q", accepted, got, response.Header.Values("Vary"))
		}
	}
	late := client.Do("GET", "/v1/clubs/"+client.Club()+"/products?date=2999-01-01", nil,
		[2]string{"Accept-Language", "fr"}).Problem(api.InvalidRequest)
	e := value(late.Errors)
	if len(e) != 1 || e[0].Code != "date_too_late" || value(e[0].Params)["latest"] == "" ||
		!strings.HasPrefix(e[0].Text, "ne doit pas être postérieure au ") || value(late.Detail) != "date: "+e[0].Text {
		t.Errorf("a date that is too late: %+v", late)
	}
}

// TestCorrectionHasTheCodesOfThePerson: a wrong field has the same code in a correction as in a whole person,
// and the code says what the field is, not how its text is limited.
func TestCorrectionHasTheCodesOfThePerson(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	id := client.RegisterWith("11", frontdesktest.Person()).Id
	for _, field := range []struct {
		path  string
		wrong any
		code  api.FieldCode
	}{
		{"/mobile", "0612345678", "phone"}, {"/mobile", "", "phone"}, {"/mobile", "+33 6 12 34 56 78", "phone"},
		{"/email", "ada", "email"}, {"/email", nil, "type"},
		{"/birthDate", "17/05/1990", "date"}, {"/birthDate", "2100-01-01", "birth_date"},
		{"/givenName", "", "blank"}, {"/givenName", " ", "blank"}, {"/givenName", strings.Repeat("x", 101), "too_long"},
		{"/address/street", "", "blank"}, {"/address/postalCode", "!", "postal_code"}, {"/address/postalCode", "1", "postal_code"},
		{"/address/country", "France", "country"}, {"/address/country", "fr", "country"},
	} {
		var whole, correction map[string]any
		text, _ := json.Marshal(frontdesktest.Person())
		_ = json.Unmarshal(text, &whole)
		if member, ok := strings.CutPrefix(field.path, "/address/"); ok {
			whole["address"].(map[string]any)[member] = field.wrong
			correction = map[string]any{"address": map[string]any{member: field.wrong}}
		} else {
			whole[field.path[1:]] = field.wrong
			correction = map[string]any{field.path[1:]: field.wrong}
		}
		for method, body := range map[string]any{"PUT": whole, "PATCH": correction} {
			problem := client.Do(method, "/v1/registrations/"+id+"/person", body).Problem(api.InvalidRequest)
			found := frontdesktest.Value(problem.Errors)
			if len(found) != 1 || frontdesktest.Place(found[0]) != field.path || found[0].Code != field.code {
				t.Errorf("%s of %s %q: %+v, not %s", method, field.path, field.wrong, found, field.code)
			}
		}
	}
}

// TestMessages: a message has a code with parameters, and each device gets it in its own language,
// even if the response is replayed.
func TestMessages(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	in := func(tag string) [2]string { return [2]string{"Accept-Language", tag} }
	start := func(tag string) *frontdesktest.Response {
		return client.Do(
			"POST", "/v1/registrations",
			`{"clubId":"`+client.Club()+`","person":`+person+`,"items":[{"offerId":"201","startDate":"2030-01-15"}]}`,
			frontdesktest.Key("one start, in two languages"), in(tag),
		)
	}
	var begun api.Registration
	first := start("fr")
	first.Into(http.StatusCreated, &begun)
	again := start("en")
	was, is := first.Header.Get("Content-Language"), again.Header.Get("Content-Language")
	if was != "fr" || is != "en" || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("a start in French is in %q, and replayed in %q", was, is)
	}

	client.Token = *begun.Token
	path := "/v1/registrations/" + begun.Id
	due := time.Now().UTC().AddDate(0, 0, 9)
	later := map[string]string{"method": "later", "dueDate": due.Format(time.DateOnly)}
	for _, visitor := range []struct{ tag, message string }{
		{"fr", "Votre inscription est enregistrée. Vous réglez au club au plus tard le " + french(due) + "."},
		{"en", "You are registered. Please pay at the club by " + due.Format("2 January 2006") + "."},
	} {
		var paid, registration api.Registration
		client.Do("POST", path+"/payment", later, frontdesktest.Key("one payment, in two languages"), in(visitor.tag)).
			Into(http.StatusCreated, &paid)
		shown := client.Do("GET", path, nil, in(visitor.tag))
		shown.Into(http.StatusOK, &registration)
		for name, shown := range map[string]api.Registration{"paid": paid, "read": registration} {
			if message := shown.Message; message.Text != visitor.message || message.Code != "later_recorded" ||
				value(message.Params)["dueDate"] != due.Format(time.DateOnly) {
				t.Errorf("%s in %s: %q, want %q", name, visitor.tag, message.Text, visitor.message)
			}
		}
		if message := registration.Message; message.Text != visitor.message || message.Code != "later_recorded" ||
			shown.Header.Get("Content-Language") != visitor.tag {
			t.Errorf("the registration in %s: %q in %q", visitor.tag, message.Text, shown.Header.Get("Content-Language"))
		}
	}
}

// TestStreamLanguage: a browser cannot set headers on an event stream, so the language is a parameter.
func TestStreamLanguage(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	registration := client.Register()
	for path, want := range map[string]string{"?lang=fr": "fr", "?lang=tlh": "en", "": "fr"} {
		request, err := http.NewRequestWithContext(t.Context(), "GET", client.URL+"/v1/registrations/"+registration.Id+"/events"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+client.Token)
		request.Header.Set("X-Frontdesk-World", client.World)
		request.Header.Set("Accept-Language", "fr")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Header.Get("Content-Language"); response.StatusCode != http.StatusOK || got != want {
			t.Errorf("events%s are in %q (%d), want %q", path, got, response.StatusCode, want)
		}
	}
}

// french formats a date in French.
func french(day time.Time) string {
	months := []string{
		"janvier", "février", "mars", "avril", "mai", "juin",
		"juillet", "août", "septembre", "octobre", "novembre", "décembre",
	}
	number := day.Format("2 ")
	if day.Day() == 1 {
		number = "1er "
	}
	return number + months[day.Month()-1] + day.Format(" 2006")
}
