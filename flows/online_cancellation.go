package flows

import (
	"encoding/json"
	"time"

	"frontdesk/upstream/club"
)

// OnlineState is the state of an online cancellation: planned ─→ sending ─→ carried out, refused or in doubt.
// An operator ends a doubt.
type OnlineState string

// The states of an online cancellation.
const (
	OnlinePlanned    OnlineState = "planned"     // the person has not confirmed it
	OnlineSending    OnlineState = "sending"     // it is claimed: a gateway sends it, once
	OnlineCarriedOut OnlineState = "carried_out" // the club system has ended the membership
	OnlineRefused    OnlineState = "refused"     // the club system has certainly not ended it
	OnlineInDoubt    OnlineState = "in_doubt"    // the club system may have ended it, and it is not sent again
)

// OnlineCancellation is the end of a membership that the club system itself carries out.
type OnlineCancellation struct {
	State        OnlineState `json:"state"`
	Subscription club.IRI    `json:"subscription"`
	Name         string      `json:"name"` // of the membership, as the club system has it
	Club         club.IRI    `json:"club"`
	Node         club.IRI    `json:"node,omitempty"` // of the club
	Motive       club.IRI    `json:"motive"`         // one of the club system's
	Date         string      `json:"date"`           // the last day; YYYY-MM-DD
	Notice       string      `json:"notice"`         // the notice period, an ISO 8601 duration
	ClaimedAt    time.Time   `json:"claimedAt,omitzero"`
	Seen         string      `json:"seen,omitempty"` // what the club system responded, for operators
	// Membership is what ends, as it was planned: in the form of flows/registration, for a club system that no longer lists it.
	Membership json.RawMessage `json:"membership,omitempty"`
}

// Sent reports whether the club system has ended the membership, or may have.
func (o *OnlineCancellation) Sent() bool {
	return o != nil && (o.State == OnlineSending || o.State == OnlineInDoubt || o.State == OnlineCarriedOut)
}

// Scope is that of the club whose membership ends.
func (o OnlineCancellation) Scope() club.Scope {
	return club.Scope{ClientToken: o.Club.ClientToken(), Club: o.Club, Node: o.Node}
}
