package handlers

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"frontdesk/flows"
)

// inspectJSON refuses what is JSON and yet not safe to pass on, whatever the route:
// members that come twice, since two readers may take different ones; characters
// that do not exist, and NUL, which the systems behind may cut a text at; and card
// numbers. Each is told with its pointer, and nothing of it is repeated.
func inspectJSON(body []byte) error {
	reader := jsontext.NewDecoder(bytes.NewReader(body))
	var cards []flows.FieldProblem
	for {
		token, err := reader.ReadToken()
		if err != nil && !errors.Is(err, io.EOF) {
			return unreadable(err)
		}
		if err != nil {
			break
		}
		if kind := token.Kind(); kind != '"' && kind != '0' {
			continue
		}
		text := token.String()
		if strings.ContainsRune(text, 0) {
			return malformed(pointerOf(reader), "holds a NUL character")
		}
		if !enoughDigits(text) { // as nearly always
			continue
		}
		if at := pointerOf(reader); containsPAN(jsontext.Pointer(at).LastToken(), text) {
			cards = append(cards, flows.FieldProblem{Pointer: at, Message: "holds a card number"})
		}
	}
	if len(cards) == 0 {
		return nil
	}
	return &flows.Error{Code: flows.CardNumberRefused, Fields: cards,
		Detail: "No card number is taken here, and nothing of this request was kept. A card is entered on the card processor's own page alone."}
}

// rejectBody refuses a body where the contract has none, because its sender expects it to be read.
// Intermediaries may turn no body into an empty one. Health probes may send anything.
func rejectBody(c echo.Context) error {
	if !strings.HasPrefix(c.Path(), "/v1/") {
		return nil
	}
	if c.Request().ContentLength == 0 { // as nearly always; one of unknown length has -1
		c.Request().Body = http.NoBody // what looks for one later knows this mark
		return nil
	}
	begun, err := readAll(io.LimitReader(c.Request().Body, 1))
	if err != nil || len(begun) == 0 {
		return err
	}
	return &flows.Error{Code: flows.MalformedRequest, Detail: "This endpoint does not accept a request body."}
}

// pointerOf points at the value that was read last, or at the object of a name,
// which is no pointer's business to repeat.
func pointerOf(reader *jsontext.Decoder) string {
	at := reader.StackPointer()
	if kind, read := reader.StackIndex(reader.StackDepth()); kind == '{' && read%2 == 1 {
		at = at.Parent()
	}
	return string(at)
}

// unreadable says what two readers could read differently.
func unreadable(err error) error {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return &flows.Error{Code: flows.MalformedRequest, Detail: "The body is not JSON.", Err: err}
	}
	if errors.Is(syntax.Err, jsontext.ErrDuplicateName) {
		return malformed(string(syntax.JSONPointer), "is there twice")
	}
	return malformed(string(syntax.JSONPointer), "holds characters that do not exist: invalid UTF-8, or one half of a surrogate pair")
}

// malformed is the error for one place of a body that cannot be taken as it is.
func malformed(pointer, message string) error {
	return &flows.Error{Code: flows.MalformedRequest, Detail: "The body cannot be taken as it is.", Fields: []flows.FieldProblem{{Pointer: pointer, Message: message}}}
}
