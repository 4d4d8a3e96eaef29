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
	return nil, &flows.Error{Code: flows.MalformedRequest, Detail: flows.DetailBodyIncomplete}
}

// decodeBody decodes an operation's JSON body, and checks everything but its schema. Where the contract has none, see
// rejectBody. It sets the Content-Type of a merge patch to the only one in the contract, application/json. It fails
// with MalformedRequest, UnsupportedMediaType or CardNumberRefused.
//
// An accepted body is decoded here alone: schema and rules are checked on its value, and the types of the generated
// handlers are filled from it. Text is decoded again in two cases:
//   - A body is not JSON. encoding/json says at which byte it stops being JSON.
//   - startPayment has a union, which oapi-codegen keeps as text. Its runtime writes the value as JSON for it, and
//     ValueByDiscriminator decodes that.
func decodeBody(c echo.Context, op operation) (any, error) {
	if op.Operation.RequestBody == nil {
		return nil, rejectBody(c)
	}
	request, body := c.Request(), exchangeOf(c.Request().Context()).body
	if len(body) == 0 {
		return nil, &flows.Error{Code: flows.MalformedRequest, Detail: flows.DetailBodyMissing}
	}
	media, _, err := mime.ParseMediaType(request.Header.Get("Content-Type"))
	patch := media == "application/merge-patch+json" && request.Method == http.MethodPatch
	if err != nil || media != "application/json" && !patch {
		return nil, &flows.Error{Code: flows.UnsupportedMediaType, Detail: flows.DetailContentType}
	}
	request.Header.Set("Content-Type", "application/json")
	return decodeJSON(body)
}

// decodedBody is a body with its value, from which the generated handlers fill their type.
type decodedBody struct {
	io.ReadCloser
	value any
}

// ValidatedValue returns the value. The generated handlers know it by this name.
func (b decodedBody) ValidatedValue() any { return b.value }

// decodeJSON returns what encoding/json decodes to an any, with a json.Number for each number. It refuses JSON that
// is not safe to pass on: duplicate members, of which two readers may use different ones; invalid characters; NUL,
// where other systems may cut a text; card numbers. The errors have pointers, and repeat no text.
func decodeJSON(body []byte) (any, error) {
	reader := jsonReader{Decoder: jsontext.NewDecoder(bytes.NewBuffer(body))}
	value, err := reader.value("")
	if err == nil {
		_, err = reader.ReadToken()
		if errors.Is(err, io.EOF) {
			return value, cardsRefused(reader.cards)
		}
	}
	// A mistake of the syntax comes first, wherever it is.
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(body, new(json.RawMessage))); ok {
		return nil, notJSON(body, syntax.Offset)
	}
	return nil, ambiguous(err)
}

// notJSON says where a body stops being JSON. The first byte is number 1.
func notJSON(body []byte, offset int64) error {
	err := json.NewDecoder(bytes.NewReader(body)).Decode(new(json.RawMessage))
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &flows.Error{Code: flows.MalformedRequest, Detail: flows.DetailJSONEnded}
	}
	return &flows.Error{
		Code: flows.MalformedRequest, Detail: flows.DetailJSONUnexpected,
		Params: map[string]string{"character": fmt.Sprintf("%q", body[offset-1:offset]), "byte": fmt.Sprint(offset)},
	}
}

// jsonReader reads a document, and notes where it has card numbers.
type jsonReader struct {
	*jsontext.Decoder
	cards []flows.FieldProblem
}

// value reads the next value. member is the name that leads to it, which is empty in a list.
func (r *jsonReader) value(member string) (any, error) {
	token, err := r.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case jsontext.KindNull:
		return nil, nil
	case jsontext.KindString:
		text := token.String()
		return text, r.inspect(member, text)
	case jsontext.KindNumber:
		digits := token.String()
		return json.Number(digits), r.inspect(member, digits)
	case jsontext.KindBeginArray:
		return r.list()
	case jsontext.KindBeginObject:
		return r.object(member)
	default:
		return token.Bool(), nil
	}
}

func (r *jsonReader) list() (any, error) {
	list := []any{}
	for r.PeekKind() != jsontext.KindEndArray {
		item, err := r.value("")
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, err := r.ReadToken()
	return list, err
}

// object reads the members of an object. Its names are inspected as texts of the object.
func (r *jsonReader) object(member string) (any, error) {
	object := map[string]any{}
	for r.PeekKind() != jsontext.KindEndObject {
		token, err := r.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		if err := r.inspect(member, name); err != nil {
			return nil, err
		}
		if object[name], err = r.value(name); err != nil {
			return nil, err
		}
	}
	_, err := r.ReadToken()
	return object, err
}

// errNUL is the error of a NUL in a text.
var errNUL = errors.New("NUL in a text")

// inspect checks the text that was read last.
func (r *jsonReader) inspect(member, text string) error {
	if strings.ContainsRune(text, 0) {
		return &jsontext.SyntacticError{JSONPointer: r.pointer(), Err: errNUL}
	}
	if containsPAN(member, text) {
		r.cards = append(r.cards, flows.FieldProblem{Pointer: string(r.pointer()), Code: flows.FieldCardNumber})
	}
	return nil
}

// pointer points at the text that was read last. For a name it points at its object, because no pointer may repeat an
// unknown name.
func (r *jsonReader) pointer() jsontext.Pointer {
	at := r.StackPointer()
	if kind, read := r.StackIndex(r.StackDepth()); kind == jsontext.KindBeginObject && read%2 == 1 {
		return at.Parent()
	}
	return at
}

// cardsRefused is the error for a body with card numbers; nil: it has none.
func cardsRefused(cards []flows.FieldProblem) error {
	if len(cards) == 0 {
		return nil
	}
	return &flows.Error{Code: flows.CardNumberRefused, Detail: flows.DetailCardNumbers, Fields: cards}
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
		c.Request().Body = http.NoBody // kin-openapi recognises this value
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
	return &flows.Error{Code: flows.MalformedRequest, Detail: flows.DetailNoBodyAccepted}
}

// ambiguous returns the error for JSON that two readers may read differently: a duplicate member, or
// invalid characters.
func ambiguous(err error) error {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return &flows.Error{Code: flows.MalformedRequest, Detail: flows.DetailNotJSON, Err: err}
	}
	code := flows.FieldCharacters
	if errors.Is(syntax.Err, jsontext.ErrDuplicateName) {
		code = flows.FieldDuplicate
	}
	return malformed(string(syntax.JSONPointer), code)
}

func malformed(pointer string, code flows.FieldCode) error {
	return &flows.Error{Code: flows.MalformedRequest, Detail: flows.DetailBodyAmbiguous, Fields: fieldError(pointer, code)}
}
