package flows

import (
	"time"

	"frontdesk/upstream/club"
)

// UnverifiablePayment is a payment that the processor holds for this organisation and mode, and that cannot be rebuilt: no key
// that is configured signed it, so anything could have been changed in it, or its record cannot be read and Redis lacks it.
type UnverifiablePayment struct {
	ID           string    `json:"id"`    // the processor's
	State        string    `json:"state"` // as the processor names it; empty: the record cannot be read
	Registration string    `json:"registration"`
	Sale         club.IRI  `json:"sale"`
	Club         club.IRI  `json:"club"`
	Amount       int64     `json:"amount"` // minor units
	Currency     string    `json:"currency"`
	CreatedAt    time.Time `json:"createdAt"`
}

// Unreadable reports whether the processor's record cannot be read.
func (u UnverifiablePayment) Unreadable() bool { return u.State == "" }
