package flows

import (
	"time"
)

// Evidence is what the club system shows around a payment at one moment: enough
// to see a difference, and nothing about a person. A nil field is not known.
type Evidence struct {
	At            time.Time `json:"at"`
	SaleState     *string   `json:"saleState,omitempty"`
	Total         *int64    `json:"total,omitempty"` // minor units
	Valid         *bool     `json:"valid,omitempty"` // the sale's check
	ContactStatus *string   `json:"contactStatus,omitempty"`
	Debt          *int64    `json:"debt,omitempty"` // of the contact, minor units
}

// Reading is evidence that was read while a payment was in doubt.
type Reading struct {
	Evidence
	Failures int `json:"failures,omitempty"` // above zero: nothing was read, so often in a row, the last time at At
}

// ReadSince tells whether evidence was read, or was tried to be, within a time.
func (p *Payment) ReadSince(now time.Time, span time.Duration) bool {
	last := p.UpdatedAt
	for _, reading := range p.Readings {
		if reading.At.After(last) {
			last = reading.At
		}
	}
	return now.Sub(last) < span
}
