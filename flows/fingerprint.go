package flows

import (
	"cmp"
	"fmt"
	"time"
)

// Fingerprint says whose payments Redis holds. A gateway with another one must not touch them: its card processor
// has none of them, or its club system has other sales.
type Fingerprint struct {
	Account      string    `json:"account"` // the processor and its account; empty: the key may not read it
	Organisation string    `json:"organisation"`
	Environment  string    `json:"environment"`
	Payment      string    `json:"payment,omitempty"` // a payment of the account, for gateways whose key may not read the account
	Since        time.Time `json:"since"`             // when it was first stored
	Adopted      bool      `json:"adopted,omitempty"` // an operator stored it in place of another one
}

// String describes a fingerprint in one line.
func (f Fingerprint) String() string {
	return fmt.Sprintf("account %s, organisation %s, %s mode",
		cmp.Or(f.Account, "not readable with this key"), cmp.Or(f.Organisation, "any"), f.Environment)
}

// Precedes decides between two that gateways hold for right after Redis lost its own: an operator's decision counts
// more than a start, the latest decision and the earliest start most.
func (f Fingerprint) Precedes(other Fingerprint) bool {
	if f.Adopted != other.Adopted {
		return f.Adopted
	}
	return f.Adopted == f.Since.After(other.Since)
}
