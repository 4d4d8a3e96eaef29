package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
	"pgregory.net/rapid"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
)

// documents have every kind of value, empty and nested.
var documents = []string{
	`{"clubId":"11","person":{"givenName":"Ada","address":{"city":"Paris"}},"items":[{"offerId":"1"},{}],"a":[],"b":null}`,
	`[[[]],{"a":{"a":"\ud83c\udfcb é\n"}},true,false,null,0,-0.50,1e400,12345678901234567890]`,
	"\t\"text\" \r\n", `-1`, `null`, ` {} `,
}

// insertions make a document of another, or something that is not JSON or not safe.
var insertions = []string{
	`{`, `}`, `[`, `]`, `:`, `,`, `"`, `\`, ` `, "\n", "\v", "\u00a0", `0`, `01`, `-`, `.`, `e5`, `tru`, `true`, `null`, `"a"`, `"a":`,
	`,"a":{}`,
	`"\ud800"`, `\u0000`, "\x00", "\xff", `"\u0061":1,`, `{}{}`, `4242424242424242`, `"4242 4242 4242 4242"`, "\ufeff",
}

// TestDecodesAsEncodingJSON compares the values and the mistakes of the syntax with those of encoding/json, in
// documents with a part replaced.
func TestDecodesAsEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, text := range documents {
		if _, err := decodeJSON([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	for _, text := range []string{"", " ", deep, "[" + deep + "]"} {
		checkDecoding(t, []byte(text))
	}
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.SampledFrom(documents).Draw(r, "document")
		from := rapid.IntRange(0, len(text)).Draw(r, "from")
		to := rapid.IntRange(from, min(from+3, len(text))).Draw(r, "to")
		inserted := rapid.SliceOfN(rapid.SampledFrom(insertions), 0, 3).Draw(r, "inserted")
		checkDecoding(r, []byte(text[:from]+strings.Join(inserted, "")+text[to:]))
	})
}

// checkDecoding decodes a body with both.
func checkDecoding(t rapid.TB, body []byte) {
	got, err := decodeJSON(body)
	failure, _ := errors.AsType[*flows.Error](err)
	syntax, broken := errors.AsType[*json.SyntaxError](json.Unmarshal(body, new(json.RawMessage)))
	switch {
	case (err == nil) != (failure == nil):
		t.Errorf("%q: %v is not an error for the caller", body, err)
	case broken && (failure == nil || failure.Code != flows.MalformedRequest || len(failure.Fields) > 0):
		t.Errorf("%q is not JSON: %v", body, err)
	case broken && failure.Params != nil && failure.Params["byte"] != fmt.Sprint(syntax.Offset):
		t.Errorf("%q: byte %s instead of %d", body, failure.Params["byte"], syntax.Offset)
	case !broken && failure != nil && len(failure.Fields) == 0:
		t.Errorf("%q: %v has no pointer", body, failure)
	case err == nil:
		reader := json.NewDecoder(bytes.NewReader(body))
		reader.UseNumber()
		var want any
		if err := reader.Decode(&want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %#v instead of %#v, %v", body, got, want, err)
		}
	}
}

const startBody = `{"clubId":"11","person":{"givenName":"Ada","familyName":"Martin","birthDate":"1990-05-17","email":"ada@example.com",
	"mobile":"+33612345678","address":{"street":"12 rue des Lilas","postalCode":"75011","city":"Paris","country":"FR"}},
	"items":[{"offerId":"2501"}]}`

// startTaker keeps the body that the generated handler gives it.
type startTaker struct {
	api.StrictServerInterface
	body *api.StartRegistration
}

func (s *startTaker) StartRegistration(
	_ context.Context, request api.StartRegistrationRequestObject,
) (api.StartRegistrationResponseObject, error) {
	s.body = request.Body
	return nil, nil
}

// checkStart returns a function that checks the body of a start and passes it to the generated handler. sent is what
// the handler could read instead.
func checkStart(t testing.TB) (check func(read []byte, sent io.Reader) error, taker *startTaker) {
	document, err := openapi3.NewLoader().LoadFromFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	operations, err := operationsOf(document)
	if err != nil {
		t.Fatal(err)
	}
	edge := &Server{
		cfg:           Config{Now: time.Now, Catalogue: catalogue.New(catalogue.Config{Now: time.Now})},
		specification: &specification{operations: operations},
	}
	taker = new(startTaker)
	generated, router := api.NewStrictHandler(taker, nil), echo.New()
	handle := edge.validate(func(c echo.Context) error { return generated.StartRegistration(c, api.StartRegistrationParams{}) })
	return func(read []byte, sent io.Reader) error {
		request := httptest.NewRequest("POST", "/v1/registrations", sent)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", "0a6a6f4e-7f0f-4b1c-9d0e-5a1f6c1b2d3e")
		ctx := context.WithValue(t.Context(), exchangeKey{}, &exchange{body: read})
		c := router.NewContext(request.WithContext(ctx), httptest.NewRecorder())
		c.SetPath("/v1/registrations")
		return handle(c)
	}, taker
}

// TestHandlersGetWhatWasChecked: the handler's type is filled from the value that was checked. No text is decoded again.
func TestHandlersGetWhatWasChecked(t *testing.T) {
	t.Parallel()
	check, taker := checkStart(t)
	if err := check([]byte(startBody), strings.NewReader(`{"clubId":"12"}`)); err != nil {
		t.Fatal(err)
	}
	var want api.StartRegistration
	if err := json.Unmarshal([]byte(startBody), &want); err != nil || !reflect.DeepEqual(taker.body, &want) {
		t.Errorf("the handler gets %+v instead of %+v, %v", taker.body, want, err)
	}
}

// BenchmarkStartBody measures a body from its text to the handler's type, with all checks. The metric "decodings"
// compares it with encoding/json, which fills the type alone and is measured in turn.
func BenchmarkStartBody(b *testing.B) {
	check, _ := checkStart(b)
	body := []byte(startBody)
	var checked, decoded time.Duration
	b.ReportAllocs()
	for b.Loop() {
		begun := time.Now()
		if err := check(body, bytes.NewReader(body)); err != nil {
			b.Fatal(err)
		}
		between := time.Now()
		if err := json.Unmarshal(body, new(api.StartRegistration)); err != nil {
			b.Fatal(err)
		}
		checked += between.Sub(begun)
		decoded += time.Since(between)
	}
	b.ReportMetric(float64(checked)/float64(decoded), "decodings")
}
