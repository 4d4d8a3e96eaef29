package clubsim

import (
	"strconv"
	"strings"
	"time"
)

// record is an object on the wire.
type record map[string]any

// record adds the identifier and the type to the fields of a record.
func (w *World) record(kind, collection string, id int, fields record) record {
	fields["@id"], fields["@type"] = w.iri(collection, id), kind
	return fields
}

// iri is the path identifier of a record: /{client_token}/<collection>/<id>.
func (w *World) iri(collection string, id int) string {
	return "/" + w.clientToken + "/" + collection + "/" + itoa(id)
}

// iriOrNil is the identifier of a record that may be missing (id zero).
func (w *World) iriOrNil(collection string, id int) *string {
	if id == 0 {
		return nil
	}
	return new(w.iri(collection, id))
}

// orNil is a value that may be missing (zero).
func orNil[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// parseIRI reads the number out of an identifier of this world and collection; zero for
// anything else, such as a bare number.
func (w *World) parseIRI(collection, text string) int {
	rest, ok := strings.CutPrefix(text, "/"+w.clientToken+"/"+collection+"/")
	if !ok {
		return 0
	}
	return parseID(rest)
}

// parseID reads a record's number as identifiers write it: digits, no sign, no leading
// zero. Anything else is the number zero, which no record has.
func parseID(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || itoa(n) != text {
		return 0
	}
	return n
}

func itoa(n int) string { return strconv.Itoa(n) }

// timestamp writes an instant as the club system does: whole seconds of UTC, without a zone
// unless the settings of the world ask for one. Dates are YYYY-MM-DD everywhere.
func (w *World) timestamp(t time.Time) string {
	if w.settings.DateTimeZone {
		return t.UTC().Format("2006-01-02T15:04:05-07:00")
	}
	return t.UTC().Format("2006-01-02T15:04:05")
}

func (w *World) timestampOrNil(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(w.timestamp(t))
}
