package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"frontdesk/flows"
)

// readAll reads a body. The error of one that breaks off, or is too slow, leaves out the network's
// message, which names addresses.
func readAll(from io.Reader) ([]byte, error) {
	body, err := io.ReadAll(from)
	if _, tooLarge := errors.AsType[*echo.HTTPError](err); err == nil || tooLarge {
		return body, err
	}
	return nil, &flows.Error{Code: flows.MalformedRequest, Detail: "The body did not arrive completely, or not in time."}
}

// checkBody checks everything but the schema of an operation's JSON body. Where the contract has none,
// see rejectBody. It sets the Content-Type of a merge patch to the only one in the contract,
// application/json. It fails with MalformedRequest, UnsupportedMediaType or CardNumberRefused.
func checkBody(c echo.Context, op operation) error {
	if op.Operation.RequestBody == nil {
		return rejectBody(c)
	}
	r, body := c.Request(), exchangeOf(c.Request().Context()).body
	if len(body) == 0 {
		return &flows.Error{Code: flows.MalformedRequest, Detail: "The body is missing."}
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if patch := media == "application/merge-patch+json" && r.Method == http.MethodPatch; err != nil || media != "application/json" && !patch {
		return &flows.Error{Code: flows.UnsupportedMediaType, Detail: "Send the body as JSON, with Content-Type: application/json."}
	}
	var raw json.RawMessage
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(body, &raw)); ok {
		return notJSON(body, syntax.Offset)
	}
	r.Header.Set("Content-Type", "application/json")
	return inspectJSON(body)
}

// notJSON says where a body stops being JSON. The first byte is number 1.
func notJSON(body []byte, offset int64) error {
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(new(json.RawMessage)); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &flows.Error{Code: flows.MalformedRequest, Detail: "The body is not JSON: it ends too early."}
	}
	return &flows.Error{
		Code: flows.MalformedRequest, Detail: "The body is not JSON: unexpected {character} at byte {byte}.",
		Params: map[string]string{"character": fmt.Sprintf("%q", body[offset-1:offset]), "byte": fmt.Sprint(offset)},
	}
}

// inspectJSON refuses JSON that is not safe to pass on: duplicate members, of which two readers may
// use different ones; invalid characters; NUL, where other systems may cut a text; card numbers.
// The errors have pointers, and repeat no text.
func inspectJSON(body []byte) error {
	reader := jsontext.NewDecoder(bytes.NewReader(body))
	var cards []flows.FieldProblem
	for {
		token, err := reader.ReadToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return ambiguous(err)
		}
		if kind := token.Kind(); kind != '"' && kind != '0' {
			continue
		}
		text := token.String()
		if strings.ContainsRune(text, 0) {
			return malformed(pointerOf(reader), flows.FieldCharacters)
		}
		if at := pointerOf(reader); containsPAN(jsontext.Pointer(at).LastToken(), text) {
			cards = append(cards, flows.FieldProblem{Pointer: at, Code: flows.FieldCardNumber})
		}
	}
	if len(cards) == 0 {
		return nil
	}
	return &flows.Error{Code: flows.CardNumberRefused, Fields: cards,
		Detail: "Card numbers are not accepted here, and nothing from this request was stored. Cards are entered only on the card processor's own page."}
}

// longestEmpty is longer than any client's form of an empty object.
const longestEmpty = 16

// rejectBody refuses a body where the contract has none. An empty object counts as none, because common
// HTTP clients send it, and so does an empty body, which proxies may add. Health probes may send anything.
func rejectBody(c echo.Context) error {
	if !strings.HasPrefix(c.Path(), "/v1/") {
		return nil
	}
	if c.Request().ContentLength == 0 { // a body of unknown length has -1
		c.Request().Body = http.NoBody // the schema's validation recognises this value
		return nil
	}
	begun, err := readAll(io.LimitReader(c.Request().Body, longestEmpty+1))
	if err != nil {
		return err
	}
	if text := bytes.TrimSpace(begun); len(begun) <= longestEmpty && (len(text) == 0 || string(text) == "{}") {
		c.Request().Body, c.Request().ContentLength = http.NoBody, 0
		exchangeOf(c.Request().Context()).body = nil // so that idempotency sees the same request, too
		return nil
	}
	return &flows.Error{Code: flows.MalformedRequest, Detail: "This endpoint does not accept a request body."}
}

// pointerOf points at the value that was read last. For a name it points at its object, because no
// pointer may repeat an unknown name.
func pointerOf(reader *jsontext.Decoder) string {
	at := reader.StackPointer()
	if kind, read := reader.StackIndex(reader.StackDepth()); kind == '{' && read%2 == 1 {
		at = at.Parent()
	}
	return string(at)
}

// ambiguous returns the error for JSON that two readers may read differently: a duplicate member, or
// invalid characters.
func ambiguous(err error) error {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return &flows.Error{Code: flows.MalformedRequest, Detail: "The body is not JSON.", Err: err}
	}
	code := flows.FieldCharacters
	if errors.Is(syntax.Err, jsontext.ErrDuplicateName) {
		code = flows.FieldDuplicate
	}
	return malformed(string(syntax.JSONPointer), code)
}

func malformed(pointer string, code flows.FieldCode) error {
	return &flows.Error{Code: flows.MalformedRequest, Detail: "The body cannot be accepted as it is.", Fields: fieldError(pointer, code)}
}
