package flows

import (
	"time"
)

// SMSLimit allows so many codes within a time.
type SMSLimit struct {
	Codes  int
	Period time.Duration
}
