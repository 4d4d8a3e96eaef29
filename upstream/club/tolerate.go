package club

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// tolerant makes a decoder call tolerate for each value.
var tolerant = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(tolerate))

// tolerate decodes what PHP, in which a list and a map are one type, writes in place of the documented form:
//
//   - an empty list for an empty object, within a record,
//   - an object with whole numbers as names for a list with gaps, whose order is that of the numbers,
//   - a whole number as 12.0 or 1.2e1, and a count as "12".
//
// It leaves everything else to the decoder. A type that is not an int or int64 itself, such as cents, is strict, and so
// are amounts in strings. A type with its own UnmarshalJSON comes here with what that method passes to unmarshal.
func tolerate(decoder *jsontext.Decoder, into any) error {
	switch kind := decoder.PeekKind(); kind {
	case '0', '"':
		return tolerateNumber(decoder, kind, into)
	case '[', '{':
		return tolerateShape(decoder, kind, into)
	}
	return errors.ErrUnsupported
}

func tolerateNumber(decoder *jsontext.Decoder, kind jsontext.Kind, into any) error {
	count, isCount := into.(*int)
	amount, isAmount := into.(*int64)
	if !isCount && (!isAmount || kind == '"') {
		return errors.ErrUnsupported
	}
	text, err := decoder.ReadValue()
	if err != nil {
		return err
	}
	n, ok := wholeNumber(text)
	switch {
	case !ok:
		return &jsonv2.SemanticError{GoType: reflect.TypeOf(into).Elem()}
	case isCount:
		*count = int(n)
	default:
		*amount = n
	}
	return nil
}

// wholeNumber reads a JSON number without a fraction, or a string of digits.
func wholeNumber(text []byte) (int64, bool) {
	const exact = 1 << 53 // from here on a float64 is not exact
	if digits, quoted := bytes.CutPrefix(text, []byte{'"'}); quoted {
		n, err := strconv.ParseUint(string(bytes.TrimSuffix(digits, []byte{'"'})), 10, 63)
		return int64(n), err == nil // #nosec G115 -- it has at most 63 bits
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n, true
	}
	float, err := strconv.ParseFloat(string(text), 64)
	return int64(float), err == nil && float == math.Trunc(float) && math.Abs(float) < exact
}

func tolerateShape(decoder *jsontext.Decoder, kind jsontext.Kind, into any) error {
	wanted := reflect.TypeOf(into).Elem()
	isObject := wanted.Kind() == reflect.Struct || wanted.Kind() == reflect.Map
	isList := wanted.Kind() == reflect.Slice
	_, own := into.(json.Unmarshaler)
	if own || (kind != '[' || !isObject || decoder.StackDepth() == 0) && (kind != '{' || !isList) {
		return errors.ErrUnsupported
	}
	value, err := decoder.ReadValue()
	if err != nil {
		return err
	}
	if isList {
		if value, err = listOf(value, decoder.Options()); err == nil {
			return jsonv2.Unmarshal(value, into, decoder.Options())
		}
	} else if len(bytes.TrimSpace(value[1:len(value)-1])) == 0 {
		reflect.ValueOf(into).Elem().SetZero()
		return nil
	}
	return &jsonv2.SemanticError{GoType: wanted}
}

// listOf writes an object with whole numbers as names as a list, in their order.
func listOf(object jsontext.Value, options jsonv2.Options) (jsontext.Value, error) {
	var entries map[int]jsontext.Value
	if err := jsonv2.Unmarshal(object, &entries, options); err != nil {
		return nil, err
	}
	list := [][]byte{}
	for _, at := range slices.Sorted(maps.Keys(entries)) {
		list = append(list, entries[at])
	}
	return slices.Concat([]byte{'['}, bytes.Join(list, []byte{','}), []byte{']'}), nil
}

// lenient is a value that is not needed: its zero value if it does not have the expected form.
type lenient[T any] struct{ value T }

// UnmarshalJSON never fails.
func (l *lenient[T]) UnmarshalJSON(data []byte) error {
	if unmarshal(data, &l.value) != nil {
		l.value = *new(T)
	}
	return nil
}
