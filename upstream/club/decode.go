package club

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// errUnboundedList: a list has not ended after maxPages.
	errUnboundedList = cause("list without end")
	// errTooLong: a response is longer than Limits.MaxBody.
	errTooLong = cause("response too long")
)

// DecodeError is a response without the expected form. It names the field and never its
// value, which may be personal.
type DecodeError struct {
	// Field is the path of the JSON field, such as "articles.priceTI"; in a list the path
	// within one member. Empty: the whole response.
	Field string
	// Want is what was expected, such as "a whole number"; empty when it is not even JSON.
	Want string
}

func (e *DecodeError) Error() string {
	switch {
	case e.Want == "":
		return "response is not JSON"
	case e.Field == "":
		return "response is not " + e.Want
	}
	return fmt.Sprintf("response unreadable: field %s is not %s", e.Field, e.Want)
}

// Is reports whether the response is not the club system's own: errors.Is finds ErrForeign in a response that is
// not JSON, or not a record or a list of its kind.
func (e *DecodeError) Is(target error) bool {
	return target == ErrForeign && (e.Field == "" || e.Field == "@id" || e.Field == "hydra:member")
}

// checker is a result with required or bounded fields. check returns a DecodeError.
type checker interface{ check() error }

// require returns an error for a missing field without which a result is useless.
func require(field string, present bool) error {
	if !present {
		return &DecodeError{Field: field, Want: "present"}
	}
	return nil
}

// requireIRI returns an error unless a record is one of its collection.
func requireIRI(iri IRI, collection string) error {
	if iri != "" && iri.Collection() != collection {
		return &DecodeError{Field: "@id", Want: "one of " + collection}
	}
	return require("@id", iri != "")
}

// identifiable is a record that is read by its identifier.
type identifiable interface{ identifier() IRI }

// requireAsked returns an error for a record that is not the one that a request reads.
func (r *request) requireAsked(result any) error {
	if of, ok := result.(identifiable); ok && r.isRead() && r.record != "" && of.identifier() != r.record {
		return &DecodeError{Field: "@id", Want: "that of the record that was asked for"}
	}
	return nil
}

// maxAmount in cents, positive or negative: ten billion. Sums of a few hundred
// such amounts stay exact in every JSON parser.
const maxAmount = 1_000_000_000_000

func checkAmount(field string, n int64) error {
	if n < -maxAmount || n > maxAmount {
		return &DecodeError{Field: field, Want: "an amount of money"}
	}
	return nil
}

// cents is an amount of money that is owed or paid. It is read strictly: only an integer is one.
type cents int64

func requireAmount(field string, n *cents) error {
	if n == nil {
		return require(field, false)
	}
	return checkAmount(field, int64(*n))
}

func checkLength(field string, n, limit int) error {
	if n > limit {
		return &DecodeError{Field: field, Want: fmt.Sprintf("a list of at most %d", limit)}
	}
	return nil
}

// dated is a result with dates. readDates turns them into days of the club whose time zone zoneOf returns: that of
// the call if it is given none.
type dated interface {
	readDates(zoneOf func(IRI) *time.Location) error
}

// decode reads the response to an accepted request. When its content is needed and cannot
// be read, the outcome is Unknown: the club system did something, and the response does not
// say what.
func decode[T any](request *request, response response, zoneOf func(IRI) *time.Location) (T, *Error) {
	var result T
	if _, ok := any(result).(noContent); ok {
		return result, nil
	}
	err := response.bodyErr
	file, isFile := any(&result).(*contractDocument)
	switch {
	case err != nil:
	case isFile:
		err = file.read(response.body)
	default:
		err = decodeError(unmarshal(response.body, &result))
	}
	if of, ok := any(&result).(dated); ok && err == nil {
		err = of.readDates(zoneOf)
	}
	if of, ok := any(&result).(checker); ok && err == nil {
		err = of.check()
	}
	if err == nil {
		err = request.requireAsked(&result)
	}
	if err != nil {
		return result, &Error{
			Operation: request.op,
			Outcome:   Unknown,
			Status:    response.status,
			Err:       err,
			transient: true,
		}
	}
	return result, nil
}

// prefixPattern matches a member of Hydra's vocabulary, which newer services write without its prefix.
var prefixPattern = regexp.MustCompile(`"hydra:(\w+"\s*:)`)

// normalize returns a body in the one form that is decoded: without a byte order mark, and without the prefix of
// Hydra's members.
func normalize(body []byte) []byte {
	if bytes.HasPrefix(body, pdfMark) { // each byte of a file counts
		return body
	}
	body = TrimByteOrderMark(body)
	if bytes.Contains(body, []byte(`"hydra:`)) {
		return prefixPattern.ReplaceAll(body, []byte(`"$1`))
	}
	return body
}

// TrimByteOrderMark removes the mark that some systems write in front of UTF-8.
func TrimByteOrderMark(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")) }

// asWritten takes half the time of encoding/json. Like encoding/json, it accepts duplicate names and
// invalid UTF-8; unlike that, it matches names exactly.
var asWritten = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// unmarshal decodes the documented form, and if that fails, what tolerate accepts, which takes twice as long.
func unmarshal(data []byte, into any) error {
	if json.Unmarshal(data, into, asWritten) == nil {
		return nil
	}
	reflect.ValueOf(into).Elem().SetZero()
	return json.Unmarshal(data, into, asWritten, tolerant)
}

// decodeError removes what a decoding error quotes from the body.
func decodeError(err error) error {
	if _, ok := errors.AsType[*DecodeError](err); ok || err == nil {
		return err
	}
	malformed := &DecodeError{}
	var path []string
	for wrong := new(json.SemanticError); errors.As(err, &wrong); err = wrong.Err { // each UnmarshalJSON adds one
		for name := range wrong.JSONPointer.Tokens() {
			if strings.Trim(name, "0123456789") != "" { // not an index of a list
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
