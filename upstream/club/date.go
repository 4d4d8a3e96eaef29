package club

import (
	"strings"
	"time"
)

// instantLayouts are the forms of a date with a time and a zone.
var instantLayouts = []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00"}

// readDay replaces a date by what day returns. An empty one stays empty.
func readDay(field string, date *string, zone *time.Location) (err error) {
	if *date != "" {
		*date, err = day(field, *date, zone)
	}
	return err
}

// day reads a date of the club system, which may be written as an instant: YYYY-MM-DD, as the club's calendar shows
// it. Midnight at a club in Paris is 22:00 or 23:00 UTC of the day before. Without a zone in the text, or of the club,
// the day is the one that is written.
func day(field, text string, zone *time.Location) (string, error) {
	for _, layout := range instantLayouts {
		at, err := time.Parse(layout, text)
		if err == nil && zone != nil {
			at = at.In(zone)
		}
		if err == nil {
			return at.Format(time.DateOnly), nil
		}
	}
	date, clock, timed := strings.Cut(strings.Replace(text, " ", "T", 1), "T")
	_, err := time.Parse(time.DateOnly, date)
	if err == nil && timed {
		_, err = time.Parse(time.TimeOnly, clock)
	}
	if err != nil {
		return "", &DecodeError{Field: field, Want: "a date"}
	}
	return date, nil
}
