package flows

import "time"

// Instant returns a time as the API has it: in UTC and whole seconds. It rounds down, because a client must not trust a
// deadline that has passed.
func Instant(at time.Time) time.Time { return at.UTC().Truncate(time.Second) }
