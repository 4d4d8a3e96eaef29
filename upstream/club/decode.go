package club

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// errUnboundedList: a list has not ended after maxPages.
	errUnboundedList = cause("list without end")
	// errTooLong: an answer is longer than Limits.Body.
	errTooLong = cause("answer too long")
)

// DecodeError is an answer that does not have the expected form. It names the
// field and never its value, which may be personal.
type DecodeError struct {
	// Field is the path of the JSON field, such as "articles.priceTI"; in a list
	// the path within one member. Empty when it is the answer as a whole.
	Field string
	// Want is what was expected, such as "a whole number"; empty when it is not even JSON.
	Want string
}

// Error implements error.
func (e *DecodeError) Error() string {
	switch {
	case e.Want == "":
		return "answer is not JSON"
	case e.Field == "":
		return "answer is not " + e.Want
	}
	return fmt.Sprintf("answer unreadable: field %s is not %s", e.Field, e.Want)
}

// checker is a result that can be of no use however well it is formed.
type checker interface {
	// check returns a DecodeError for a field that has to be there and is not, or
	// that is out of bounds.
	check() error
}

// require tells that a field is not there without which a result says nothing.
func require(field string, there bool) error {
	if !there {
		return &DecodeError{Field: field, Want: "present"}
	}
	return nil
}

// decode reads the answer to an accepted request. When the content is needed
// and cannot be had, the outcome is Unknown: the club system did something, and
// what it made cannot be told.
func decode[T any](op string, a response) (T, *Error) {
	var result T
	if _, ok := any(&result).(*noContent); ok {
		return result, nil
	}
	err := a.bodyErr
	if err == nil {
		err = read(a.body, &result)
	}
	if err != nil {
		return result, &Error{Operation: op, Outcome: Unknown, Status: a.status, Err: err, transient: true}
	}
	return result, nil
}

// read reads a body into a result and holds it against its check, where it has one.
func read(body []byte, result any) error {
	if err := unmarshal(body, result); err != nil {
		return decodeError(err)
	}
	if of, ok := result.(checker); ok {
		return of.check()
	}
	return nil
}

// unmarshal reads JSON in half of the time that encoding/json would take, and forgives what
// that forgives: a name that comes twice, and bytes that are no characters. Unlike that, it
// takes names letter by letter.
func unmarshal(data []byte, into any) error {
	return json.Unmarshal(data, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// decodeError strips what a decoding failure quotes from the body.
func decodeError(err error) error {
	var ours *DecodeError
	if errors.As(err, &ours) {
		return err
	}
	malformed := &DecodeError{}
	var path []string
	for wrong := new(json.SemanticError); errors.As(err, &wrong); err = wrong.Err { // what reads itself has an error of its own
		for name := range wrong.JSONPointer.Tokens() {
			if strings.Trim(name, "0123456789") != "" { // no place in a list
				path = append(path, name)
			}
		}
		if wrong.GoType != nil {
			malformed.Want = jsonType(wrong.GoType)
		}
	}
	malformed.Field = strings.Join(path, ".")
	return malformed
}

// jsonType names what JSON has to hold for a Go type.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	}
	return "a whole number"
}
