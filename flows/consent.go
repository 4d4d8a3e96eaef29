package flows

import (
	"time"

	"frontdesk/upstream/club"
)

// Consent is a contact's word on one type of message on one channel; the club
// system calls it an opt-in.
type Consent struct {
	ID         string `json:"id"`
	Channel    string `json:"channel"`
	Type       string `json:"type"`
	Authorized bool   `json:"authorized"`
}

// Locked tells whether it is mandatory information, which cannot be switched off.
func (c Consent) Locked() bool { return c.Type == club.OptinLegal }

// Receipt is what a contact said about its consents: the club has to be able to
// show when somebody agreed, and to which text.
type Receipt struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Wording string    `json:"wording,omitempty"` // the front end's name for the text that was shown
	Items   []Consent `json:"items"`
}
