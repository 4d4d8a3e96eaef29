package clubsim

import "time"

// timestamp is a point in time as the club system writes it: whole seconds of
// UTC, without a zone unless the settings of the world ask for one. Dates, such
// as the first day of a subscription, are YYYY-MM-DD everywhere.
func (w *World) timestamp(t time.Time) string {
	if w.settings.DateTimeZone {
		return t.UTC().Format("2006-01-02T15:04:05-07:00")
	}
	return t.UTC().Format("2006-01-02T15:04:05")
}

// timestampOrNil is a moment that may not have come; the zero time is null.
func (w *World) timestampOrNil(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := w.timestamp(t)
	return &s
}
