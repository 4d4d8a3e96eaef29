package handlers_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/text"
	"frontdesk/handlers"
)

//go:generate go test -run Reference -update .

var update = flag.Bool("update", false, "write the generated file instead of comparing it")

// problemReference is the page without its table rows.
const problemReference = `# Problems and texts

<!-- Generated from openapi.yaml, handlers/problem.go and flows/text: go generate ./handlers -->

Every text that the API sends by a code, as it is sent, in both languages. Programs read the codes; texts may be reworded. ` +
	"[/docs/problems](http://localhost:8080/docs/problems) of a running gateway explains the members of a problem document." + `

## Problem codes

| Code | Status | ` + "`retry`" + ` | ` + "`then`" + ` | Title | Title in French | When | What the front end does |
|---|---|---|---|---|---|---|---|
%s
## Problem codes of the operators' API

| Code | Status | ` + "`retry`" + ` | ` + "`then`" + ` | Title | When | What the operator does |
|---|---|---|---|---|---|---|
%s
## Field codes

` + "`code` and `text` of an entry in `errors`. Braces mark `params`." + `

| Code | Text | Text in French |
|---|---|---|
%s
## Message codes

` + "`code` and `text` of the `message` of a registration, a mandate or a move." + `

| Code | Text | Text in French |
|---|---|---|
%s
## Codes of cart problems

` + "`code` and `text` of an entry in `cart.problems`." + `

| Code | Text | Text in French |
|---|---|---|
%s`

// contractRow is a row of the contract's table of problems; it captures the code, when it happens and what to
// do.
var contractRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| \\d+ \\| `[a-z_]+` \\| `[a-z_]+` \\| (.*) \\| (.*) \\|$")

// TestProblemReference compares docs/reference/problems.md with what the gateway sends. At start, the gateway
// itself compares status and retry with the contract's table.
func TestProblemReference(t *testing.T) {
	t.Parallel()
	schemas := frontdesktest.Document(t).Components.Schemas
	english, french := text.Languages[0], text.Languages[1]
	var problems, operators bytes.Buffer
	rows := contractRow.FindAllStringSubmatch(schemas["ProblemCode"].Value.Description, -1)
	if len(rows) != len(schemas["ProblemCode"].Value.Enum) {
		t.Errorf("the contract's table has %d rows for %d problem codes", len(rows), len(schemas["ProblemCode"].Value.Enum))
	}
	for _, row := range rows {
		code := row[1]
		sent, _ := handlers.ProblemOf(&flows.Error{Code: flows.Code(code)}, "")
		if (sent.Then == api.SendAgain) != (sent.Retry != api.ProblemRetryNever) ||
			(sent.Then == api.StartAgain) != (sent.Code == api.RegistrationNotFound) {
			t.Errorf("%s: retry %s contradicts then %s", code, sent.Retry, sent.Then)
		}
		fmt.Fprintf(
			&problems, "| `%s` | %d | `%s` | `%s` | %s | %s | %s | %s |\n", code, sent.Status, sent.Retry, sent.Then, sent.Title,
			french.Titles[flows.Code(code)], row[2], row[3],
		)
	}
	for _, row := range [][3]string{
		{
			"not_decidable",
			"the payment's state, its evidence or the sale excludes the decision; `detail` says why",
			"reads the payment again and takes one of the decisions that it lists",
		},
		{"too_early", "a request that was sent may still arrive", "waits for `Retry-After`"},
	} {
		sent, _ := handlers.ProblemOf(&flows.Error{Code: flows.Code(row[0])}, "")
		fmt.Fprintf(
			&operators, "| `%s` | %d | `%s` | `%s` | %s | %s | %s |\n", sent.Code, sent.Status, sent.Retry, sent.Then, sent.Title,
			row[1], row[2],
		)
	}
	want := fmt.Sprintf(problemReference, &problems, &operators,
		textTable(schemas["FieldCode"], english.Fields, french.Fields),
		textTable(schemas["MessageCode"], english.Messages, french.Messages),
		textTable(schemas["CartProblemCode"], english.Cart, french.Cart))
	const page = "../docs/reference/problems.md"
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s differs from the code: run go generate ./handlers", page)
	}
}

// textTable returns the rows of a contract's list of codes with their texts, in the list's order. Of a text with plural forms
// it has the most common one.
func textTable[Code ~string, Text any](codes *openapi3.SchemaRef, english, french map[Code]Text) string {
	var rows strings.Builder
	list, _ := codes.Value.Extensions["x-extensible-enum"].([]any)
	for _, code := range list {
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", code, commonForm(english[Code(code.(string))]), commonForm(french[Code(code.(string))]))
	}
	return rows.String()
}

func commonForm(of any) any {
	if forms, ok := of.(text.Text); ok {
		return forms["other"]
	}
	return of
}
