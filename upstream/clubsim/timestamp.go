package clubsim

import "time"

// timestamp writes an instant as the club system does: whole seconds of UTC, without a zone
// unless the settings of the world ask for one. Dates are YYYY-MM-DD everywhere.
func (w *World) timestamp(t time.Time) string {
	if w.settings.DateTimeZone {
		return t.UTC().Format("2006-01-02T15:04:05-07:00")
	}
	return t.UTC().Format("2006-01-02T15:04:05")
}

// timestampOrNil is null for the zero time.
func (w *World) timestampOrNil(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := w.timestamp(t)
	return &s
}
