package ops

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"frontdesk/flows"
)

// listing is what the queries of lists have in common: ended records too, and the time of each.
type listing struct {
	all          bool
	since, until time.Time // zero: any
}

func listingOf(r *http.Request) (asked listing, err error) {
	query := r.URL.Query()
	if all := query.Get("all"); all != "" {
		if asked.all, err = strconv.ParseBool(all); err != nil {
			return asked, flows.Invalid(flows.FieldProblem{Pointer: flows.InQuery + "all", Message: "must be true or false"})
		}
	}
	if asked.since, err = instantOf(query, "since"); err != nil {
		return asked, err
	}
	asked.until, err = instantOf(query, "until")
	return asked, err
}

// instantOf reads an instant from the query, as the listings print it: with a space. Zero without one.
func instantOf(query url.Values, name string) (at time.Time, err error) {
	written := query.Get(name)
	if written == "" {
		return at, nil
	}
	if at, err = time.Parse(time.RFC3339, strings.Replace(written, " ", "T", 1)); err != nil {
		return at, flows.Invalid(flows.FieldProblem{Pointer: flows.InQuery + name, Message: "must be a time such as 2030-01-15T18:00:00Z"})
	}
	return at, nil
}
