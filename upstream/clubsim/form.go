package clubsim

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The messages of the two most common violations.
const (
	messageBlank = "This value should not be blank."
	messageType  = "This value is not valid."
)

// form reads the JSON object of a request field by field and collects every violation,
// so that one response names all of them.
type form struct {
	w      *World
	prefix string
	values map[string]json.RawMessage
	asked  map[string]bool // the fields that the operation knows
	errors *formErrors
}

type formErrors struct {
	refusal    error // of the whole request; nil: only what the violations say
	violations []violation
	forms      []*form // the whole request, and the objects within
}

// form reads the body of the request. A body that is not a JSON object is an empty form,
// and an error of err.
func (c *request) form() *form {
	f := (&form{w: c.w, errors: &formErrors{}}).nested("", nil)
	decoder := json.NewDecoder(bytes.NewReader(c.req.body))
	if err := decoder.Decode(&f.values); err != nil || f.values == nil || decoder.More() {
		f.values, f.errors.refusal = nil, badRequest("", "The request body is not a JSON object.")
	}
	return f
}

// err is the result of the fields that were read: 404 when an identifier is not one, 400
// with every violation, nil when all is well.
func (f *form) err() error {
	if f.errors.refusal == nil && len(f.errors.violations) > 0 {
		return invalid(f.errors.violations...)
	}
	return f.errors.refusal
}

func (f *form) addViolation(name, message string) { f.addViolationCode(name, message, "") }

func (f *form) addViolationCode(name, message, code string) {
	f.errors.violations = append(f.errors.violations,
		violation{PropertyPath: f.prefix + name, Message: message, Code: code})
}

// whole is err for a request that makes money move: a field that the club system does not know is refused, because the sender means
// something by it. Members of JSON-LD, such as @context, mean nothing here.
func (f *form) whole() error {
	for _, part := range f.errors.forms {
		for _, name := range slices.Sorted(maps.Keys(part.values)) {
			if !part.asked[name] && !strings.HasPrefix(name, "@") {
				part.addViolation(name, "This field was not expected.")
			}
		}
	}
	return f.err()
}

// has reports whether a field was sent with a value other than null.
func (f *form) has(name string) bool {
	f.asked[name] = true
	raw, sent := f.values[name]
	return sent && string(raw) != "null"
}

// isNull reports whether a field was sent as null.
func (f *form) isNull(name string) bool { return string(f.values[name]) == "null" }

// decode reads a field into v. A missing field leaves v as it is, and is a violation when
// the field is required.
func (f *form) decode(name string, required bool, value any) (present bool) {
	if !f.has(name) {
		if required {
			f.addViolation(name, messageBlank)
		}
		return false
	}
	if err := json.Unmarshal(f.values[name], value); err != nil {
		f.addViolation(name, messageType)
		return false
	}
	return true
}

// text reads a string, trimmed; a blank one counts as missing.
func (f *form) text(name string, required bool) string {
	var text string
	if !f.decode(name, required, &text) {
		return ""
	}
	text = strings.TrimSpace(text)
	if text == "" && required {
		f.addViolation(name, messageBlank)
	}
	return text
}

func (f *form) matching(name string, required bool, pattern *regexp.Regexp) string {
	s := f.text(name, required)
	if s != "" && !pattern.MatchString(s) {
		f.addViolation(name, messageType)
	}
	return s
}

func (f *form) choice(name string, required bool, words ...string) string {
	s := f.text(name, required)
	if s != "" && !slices.Contains(words, s) {
		f.addViolation(name, "The value you selected is not a valid choice.")
	}
	return s
}

// integer reads a whole number within bounds.
func (f *form) integer(name string, required bool, low, high int) int {
	var n int
	if !f.decode(name, required, &n) {
		return 0
	}
	if n < low || n > high {
		f.addViolation(name, messageType)
	}
	return n
}

// optionalInteger reads a whole number within bounds; nil when it is missing.
func (f *form) optionalInteger(name string, low, high int) *int {
	if n := f.integer(name, false, low, high); f.has(name) {
		return &n
	}
	return nil
}

func (f *form) boolean(name string, required bool) bool {
	var b bool
	f.decode(name, required, &b)
	return b
}

// date reads a date, YYYY-MM-DD; empty when it is missing.
func (f *form) date(name string, required bool) string {
	s := f.text(name, required)
	if s != "" && !isDate(s) {
		f.addViolation(name, "This value is not a valid date.")
		return ""
	}
	return s
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// iri reads an identifier of a collection and returns its number. Anything else in its
// place, such as a bare number, makes the whole request a 404.
func (f *form) iri(name, collection string, required bool) int {
	var raw json.RawMessage
	if !f.decode(name, required, &raw) {
		return 0
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" && required {
			f.addViolation(name, messageBlank)
			return 0
		}
		if id := f.w.parseIRI(collection, text); id != 0 {
			return id
		}
	}
	f.errors.refusal = itemNotFound()
	return 0
}

// object reads a nested object, whose violations carry its name as a prefix; nil when it
// is missing.
func (f *form) object(name string, required bool) *form {
	values := map[string]json.RawMessage{}
	if !f.decode(name, required, &values) {
		return nil
	}
	return f.nested(name, values)
}

// list reads an array of objects.
func (f *form) list(name string, required bool) []*form {
	var items []map[string]json.RawMessage
	if !f.decode(name, required, &items) {
		return nil
	}
	forms := make([]*form, len(items))
	for i, values := range items {
		forms[i] = f.nested(name+"["+itoa(i)+"]", values)
	}
	return forms
}

func (f *form) nested(name string, values map[string]json.RawMessage) *form {
	part := &form{w: f.w, prefix: strings.TrimPrefix(f.prefix+name+".", "."), values: values, asked: map[string]bool{}, errors: f.errors}
	f.errors.forms = append(f.errors.forms, part)
	return part
}
