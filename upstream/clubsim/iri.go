package clubsim

import (
	"strconv"
	"strings"
)

// iri is the path identifier of a record: /{client_token}/<collection>/<id>.
func (w *World) iri(collection string, id int) string {
	return "/" + w.clientToken + "/" + collection + "/" + itoa(id)
}

// iriOrNil is the identifier of a record that may be missing (id zero).
func (w *World) iriOrNil(collection string, id int) *string {
	if id == 0 {
		return nil
	}
	s := w.iri(collection, id)
	return &s
}

// parseIRI reads the number out of an identifier of this world and collection. A bare
// number is not an identifier.
func (w *World) parseIRI(collection, s string) (int, bool) {
	rest, ok := strings.CutPrefix(s, "/"+w.clientToken+"/"+collection+"/")
	if !ok {
		return 0, false
	}
	return parseID(rest)
}

// parseID reads a record's number as identifiers write it: digits, no sign, no leading
// zero. Anything else is the number zero, which no record has.
func parseID(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || itoa(n) != s {
		return 0, false
	}
	return n, true
}

func itoa(n int) string { return strconv.Itoa(n) }
