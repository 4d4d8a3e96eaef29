package handlers_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// readTexts returns a language's texts by kind.
func readTexts(t *testing.T, tag string) map[string]json.RawMessage {
	t.Helper()
	file, err := os.ReadFile("texts/" + tag + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	return all
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

// inspectFlows visits each node of the product's Go files in package flows, in the packages below it, in
// handlers and in more, except operators' files.
func inspectFlows(t *testing.T, visit func(ast.Node), more ...string) {
	t.Helper()
	patterns := []string{"*.go", "../flows/*.go", "../flows/registration/*.go", "../flows/catalogue/*.go"}
	for _, pattern := range append(patterns, more...) {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "registration/operator.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(node ast.Node) bool { visit(node); return true })
		}
	}
}

// text returns the text of a literal, or of several that are joined, and an empty string for any other expression.
func text(expression ast.Expr) string {
	if joined, ok := expression.(*ast.BinaryExpr); ok {
		first, second := text(joined.X), text(joined.Y)
		if joined.Op != token.ADD || first == "" || second == "" {
			return ""
		}
		return first + second
	}
	literal, ok := expression.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	value, _ := strconv.Unquote(literal.Value)
	return value
}

// constants returns the values of a type's constants.
func constants(t *testing.T, typeName string) (values []string) {
	t.Helper()
	inspectFlows(t, func(node ast.Node) {
		if spec, ok := node.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if named, ok := spec.Type.(*ast.Ident); ok && named.Name == typeName {
				values = append(values, text(spec.Values[0]))
			}
		}
	})
	return slices.Sorted(slices.Values(values))
}

// details returns the English details of problems.
func details(t *testing.T) (found []string) {
	t.Helper()
	add := func(expression ast.Expr) {
		if text := text(expression); text != "" {
			found = append(found, text)
		}
	}
	inspectFlows(t, func(node ast.Node) {
		switch node := node.(type) {
		case *ast.KeyValueExpr:
			if key, ok := node.Key.(*ast.Ident); ok && key.Name == "Detail" {
				add(node.Value)
			}
		case *ast.CallExpr:
			if called, ok := node.Fun.(*ast.SelectorExpr); ok && called.Sel.Name == "ClubFailed" {
				add(node.Args[1])
			}
		}
	})
	return found
}

var parameter = regexp.MustCompile(`\{[a-zA-Z]+\}`)

// parameters returns those of a text in the order of their names.
func parameters(text string) []string {
	return slices.Sorted(slices.Values(parameter.FindAllString(text, -1)))
}

// TestTextsComplete: the contract lists the codes that can be sent, each has a text in each language,
// and the text has the same parameters in all of them.
func TestTextsComplete(t *testing.T) {
	t.Parallel()
	english, french := readTexts(t, "en"), readTexts(t, "fr")
	for kind := range english {
		if len(french[kind]) <= len(`""`) {
			t.Errorf("fr.json has no %s", kind)
		}
	}
	for kind, of := range map[string]struct{ schema, constants string }{
		"fields":   {"FieldCode", "FieldCode"},
		"messages": {"MessageCode", "MessageCode"},
		"titles":   {"", "Code"},
	} {
		var en, fr map[string]string
		if json.Unmarshal(english[kind], &en) != nil || json.Unmarshal(french[kind], &fr) != nil {
			t.Fatalf("%s are not texts", kind)
		}
		want := constants(t, of.constants)
		listed := want
		if of.schema != "" {
			listed = extensible(frontdesktest.Document(t).Components.Schemas[of.schema])
		}
		for where, codes := range map[string][]string{
			"openapi.yaml": listed,
			"en.json":      slices.Sorted(maps.Keys(en)),
			"fr.json":      slices.Sorted(maps.Keys(fr)),
		} {
			if len(want) == 0 || !slices.Equal(codes, want) {
				t.Errorf("%s of %s are %q, and package flows sends %q", kind, where, codes, want)
			}
		}
		for code, text := range en {
			if !slices.Equal(parameters(text), parameters(fr[code])) || text == fr[code] {
				t.Errorf("%s %s: %q, %q", kind, code, text, fr[code])
			}
		}
	}
}

// TestCartProblemsInFrench: the contract lists the cart's problems, and each has a French text.
func TestCartProblemsInFrench(t *testing.T) {
	t.Parallel()
	var french map[string]string
	if err := json.Unmarshal(readTexts(t, "fr")["cart"], &french); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../flows/cart.go")
	if err != nil {
		t.Fatal(err)
	}
	sent := []string{"no_method", "settled"}
	for _, code := range append(regexp.MustCompile(`api\.error\.[a-z.-]+`).FindAllString(string(source), -1), "another") {
		sent = append(sent, flows.ProblemOf(club.Violation{Code: code}).Code)
	}
	slices.Sort(sent)
	sent = slices.Compact(sent)
	property := frontdesktest.Document(t).Components.Schemas["CartProblem"].Value.Properties["code"]
	listed, texts := extensible(property), slices.Sorted(maps.Keys(french))
	if len(sent) < 10 || !slices.Equal(sent, listed) || !slices.Equal(sent, texts) {
		t.Errorf("sent are %q, the contract lists %q, fr.json has %q", sent, listed, texts)
	}
}

// TestDetailsInFrench: each detail of a visitor's problem has a French text with the same parameters, and each
// French text has a detail. Only the second finds a changed detail that is a constant or an argument, or is in
// payment, whose other details are operators' and in English only.
func TestDetailsInFrench(t *testing.T) {
	t.Parallel()
	var french map[string]string
	if err := json.Unmarshal(readTexts(t, "fr")["details"], &french); err != nil {
		t.Fatal(err)
	}
	all := details(t)
	if len(all) < 50 {
		t.Errorf("only %d details were found", len(all))
	}
	for _, detail := range all {
		if text := french[detail]; text == "" || !slices.Equal(parameter.FindAllString(detail, -1), parameter.FindAllString(text, -1)) {
			t.Errorf("%q is %q", detail, text)
		}
	}
	sent := map[string]bool{}
	inspectFlows(t, func(node ast.Node) {
		if expression, ok := node.(ast.Expr); ok {
			sent[text(expression)] = true
		}
	}, "../flows/payment/*.go")
	for detail := range french {
		if !sent[detail] {
			t.Errorf("the code does not have the detail %q", detail)
		}
	}
}

// TestFieldProblems: a wrong field has a code with parameters, and a message in the visitor's language.
func TestFieldProblems(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	wrong := strings.NewReplacer("ada@example.com", "ada", "Martin", strings.Repeat("m", 200), `"birthDate":"1990-05-17",`, "").Replace(person)
	for accepted, messages := range map[string]map[string]string{
		"": {
			"/email":      "must be an e-mail address",
			"/birthDate":  "is required",
			"/familyName": "must have at most 100 characters",
		},
		"de, *;q=0.1": {"/email": "must be an e-mail address"},
		"fr-CA, en;q=0.8": {
			"/email":      "doit être une adresse e-mail",
			"/birthDate":  "est obligatoire",
			"/familyName": "doit comporter au plus 100 caractères",
		},
		"de, fr;q=0.5, en;q=.3": {"/email": "doit être une adresse e-mail"},
	} {
		response := c.Do("PUT", unknownRegistration+"/person", wrong, [2]string{"Accept-Language", accepted})
		found := map[string]api.FieldProblem{}
		for _, e := range value(response.Problem(api.InvalidRequest).Errors) {
			found[e.Pointer] = e
		}
		for pointer, message := range messages {
			if found[pointer].Message != message {
				t.Errorf("%q: %s has %q, want %q", accepted, pointer, found[pointer].Message, message)
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
	late := c.Do("GET", "/v1/clubs/"+c.Club()+"/products?date=2999-01-01", nil, [2]string{"Accept-Language", "fr"}).Problem(api.InvalidRequest)
	e := value(late.Errors)
	if len(e) != 1 || e[0].Code != "date_too_late" || value(e[0].Params)["latest"] == "" ||
		!strings.HasPrefix(e[0].Message, "ne doit pas être postérieure au ") || value(late.Detail) != "date: "+e[0].Message {
		t.Errorf("a date that is too late: %+v", late)
	}
}

// TestCorrectionHasTheCodesOfThePerson: a wrong field has the same code in a correction as in a whole person,
// and the code says what the field is, not how its text is limited.
func TestCorrectionHasTheCodesOfThePerson(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	id := c.RegisterWith("11", frontdesktest.Person()).Id
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
			problem := c.Do(method, "/v1/registrations/"+id+"/person", body).Problem(api.InvalidRequest)
			if found := frontdesktest.Value(problem.Errors); len(found) != 1 || found[0].Pointer != field.path || found[0].Code != field.code {
				t.Errorf("%s of %s %q: %+v, not %s", method, field.path, field.wrong, found, field.code)
			}
		}
	}
}

// TestMessages: a message has a code with parameters, and each device gets it in its own language,
// even if the response is replayed.
func TestMessages(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	in := func(tag string) [2]string { return [2]string{"Accept-Language", tag} }
	start := func(tag string) *frontdesktest.Response {
		return c.Do(
			"POST", "/v1/registrations",
			`{"clubId":"`+c.Club()+`","person":`+person+`,"items":[{"offerId":"201","startDate":"2030-01-15"}]}`,
			frontdesktest.Key("one start, in two languages"), in(tag),
		)
	}
	var begun api.Registration
	first := start("fr")
	first.Into(http.StatusCreated, &begun)
	again := start("en")
	was, is := first.Header.Get("Content-Language"), again.Header.Get("Content-Language")
	if was != "fr" || is != "fr" || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("a start in French is in %q, and replayed in %q", was, is)
	}

	c.Token = *begun.Token
	path := "/v1/registrations/" + begun.Id
	due := time.Now().UTC().AddDate(0, 0, 9)
	later := map[string]string{"method": "later", "dueDate": due.Format(time.DateOnly)}
	for _, visitor := range []struct{ tag, message string }{
		{"fr", "Votre inscription est enregistrée. Vous réglez au club au plus tard le " + french(due) + "."},
		{"en", "You are registered. Please pay at the club by " + due.Format("2 January 2006") + "."},
	} {
		var paid, read api.Payment
		var registration api.Registration
		c.Do("POST", path+"/payment", later, frontdesktest.Key("one payment, in two languages"), in(visitor.tag)).
			Into(http.StatusCreated, &paid)
		c.Do("GET", path+"/payment", nil, in(visitor.tag)).Into(http.StatusOK, &read)
		shown := c.Do("GET", path, nil, in(visitor.tag))
		shown.Into(http.StatusOK, &registration)
		for name, payment := range map[string]api.Payment{"started": paid, "read": read, "the registration's": *registration.Payment} {
			message, code, params := value(payment.Message), value(payment.MessageCode), value(payment.MessageParams)
			if message != visitor.message || code != "later_recorded" || params["dueDate"] != later["dueDate"] {
				t.Errorf("%s in %s: %q %q %v, want %q", name, visitor.tag, message, code, params, visitor.message)
			}
		}
		if value(registration.Message) != visitor.message || value(registration.MessageCode) != "later_recorded" ||
			shown.Header.Get("Content-Language") != visitor.tag {
			t.Errorf("the registration in %s: %q in %q", visitor.tag, value(registration.Message), shown.Header.Get("Content-Language"))
		}
	}
}

// TestStreamLanguage: a browser cannot set headers on an event stream, so the language is a parameter.
func TestStreamLanguage(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	registration := c.Register()
	for path, want := range map[string]string{"?lang=fr": "fr", "?lang=de": "en", "": "fr"} {
		request, err := http.NewRequestWithContext(t.Context(), "GET", c.URL+"/v1/registrations/"+registration.Id+"/events"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+c.Token)
		request.Header.Set("X-Frontdesk-World", c.World)
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
