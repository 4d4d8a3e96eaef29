package flows

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"frontdesk/upstream/club"
)

// consentWrites: the club system takes one consent a call; so many at once.
const consentWrites = 4

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

// ConsentWish asks for a consent to be given or withdrawn.
type ConsentWish struct {
	ID         string
	Authorized bool
}

// ConsentChange is what became of a wish.
type ConsentChange struct {
	ID      string
	Code    string   // one of the Consent… codes
	Consent *Consent // as it stands now; nil when there is none
}

// What can become of a wish.
const (
	ConsentChanged   = "changed"
	ConsentUnchanged = "unchanged" // it was so already
	ConsentLocked    = "locked"    // mandatory information
	ConsentUnknown   = "unknown"   // no consent of this contact
	ConsentFailed    = "failed"    // the club system did not take it
)

// Receipt is what a contact said about its consents: the club has to be able to
// show when somebody agreed, and to which text.
type Receipt struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Wording string    `json:"wording,omitempty"` // the front end's name for the text that was shown
	Items   []Consent `json:"items"`
}

// Consents lists what a contact has consented to, and its latest receipts.
func (f *Contacts) Consents(ctx context.Context, who Identified) ([]Consent, []Receipt, error) {
	at, err := homeOf(ctx, f.cfg.Catalogue, who)
	if err != nil {
		return nil, nil, err
	}
	consents, err := f.readConsents(ctx, at, who)
	if err != nil {
		return nil, nil, err
	}
	receipts, err := f.cfg.Store.Receipts(ctx, who.IRI())
	return consents, receipts, storageFailed(err)
}

// ChangeConsents carries wishes out, each by itself, and tells what became of
// each. The receipt is kept first: no consent is given at the club system that
// the contact cannot be shown to have given. Nil when there was nothing to change.
func (f *Contacts) ChangeConsents(ctx context.Context, who Identified, wishes []ConsentWish, wording string) ([]ConsentChange, *Receipt, error) {
	if err := distinct(wishes); err != nil {
		return nil, nil, err
	}
	at, err := homeOf(ctx, f.cfg.Catalogue, who)
	if err != nil {
		return nil, nil, err
	}
	consents, err := f.readConsents(ctx, at, who)
	if err != nil {
		return nil, nil, err
	}
	changes, said := planConsents(consents, wishes)
	if len(said) == 0 {
		return changes, nil, nil
	}
	receipt := Receipt{ID: uuid.NewString(), At: f.cfg.Now().UTC(), Wording: wording, Items: said}
	if err := f.cfg.Store.KeepReceipt(ctx, who.IRI(), receipt); err != nil {
		return nil, nil, storageFailed(err)
	}
	if f.writeConsents(ctx, at, who, changes) {
		f.lookAgain(ctx, at, who, changes)
	}
	return changes, &receipt, nil
}

// distinct refuses two wishes for one consent, since either could be meant.
func distinct(wishes []ConsentWish) error {
	failure, seen := &Error{Code: InvalidRequest}, map[string]bool{}
	for i, wish := range wishes {
		if seen[wish.ID] {
			failure.Fields = append(failure.Fields, FieldProblem{fmt.Sprintf("/items/%d/id", i), "is in the list already"})
		}
		seen[wish.ID] = true
	}
	if len(failure.Fields) > 0 {
		return failure
	}
	return nil
}

// readConsents reads the contact's own consents. One that does not say whose it
// is, is nobody's: it is not shown to anybody.
func (f *Contacts) readConsents(ctx context.Context, at Club, who Identified) ([]Consent, error) {
	optins, err := f.cfg.Club.ListOptins(ctx, at.Scope, who.IRI())
	if err != nil {
		return nil, notIdentified(err, "The consents could not be read.")
	}
	consents := []Consent{}
	for _, optin := range optins {
		if optin.Contact == who.IRI() {
			consents = append(consents, Consent{ID: optin.IRI.ID(), Channel: optin.Channel, Type: optin.Type, Authorized: optin.Authorized})
		}
	}
	return consents, nil
}

// planConsents says of each wish what has to become of it, and lists what the
// contact thereby says. What has to be written is marked as changed already.
func planConsents(consents []Consent, wishes []ConsentWish) (changes []ConsentChange, said []Consent) {
	held := map[string]Consent{}
	for _, consent := range consents {
		held[consent.ID] = consent
	}
	for _, wish := range wishes {
		consent, known := held[wish.ID]
		change := ConsentChange{ID: wish.ID, Code: ConsentUnknown}
		if known {
			change.Consent = &consent
			switch {
			case consent.Authorized == wish.Authorized:
				change.Code = ConsentUnchanged
			case consent.Locked():
				change.Code = ConsentLocked
			default:
				change.Code, consent.Authorized = ConsentChanged, wish.Authorized
				said = append(said, consent)
			}
		}
		changes = append(changes, change)
	}
	return changes, said
}

// writeConsents carries out what was planned, and marks and reports what failed.
func (f *Contacts) writeConsents(ctx context.Context, at Club, who Identified, changes []ConsentChange) (failed bool) {
	var writes errgroup.Group
	writes.SetLimit(consentWrites)
	for i := range changes {
		change := &changes[i]
		if change.Code != ConsentChanged {
			continue
		}
		writes.Go(func() error {
			optin := club.NewIRI(who.ClientToken, "optins", change.ID)
			err := f.cfg.Club.UpdateOptin(ctx, at.Scope, optin, change.Consent.Authorized)
			if err != nil {
				change.Code = ConsentFailed
			}
			return err
		})
	}
	return writes.Wait() != nil
}

// lookAgain tells what became of consents whose change failed: an answer that
// was lost may have been a change that was made. What cannot be read again stays
// failed, as it was before.
func (f *Contacts) lookAgain(ctx context.Context, at Club, who Identified, changes []ConsentChange) {
	now := map[string]bool{}
	consents, err := f.readConsents(ctx, at, who)
	for _, consent := range consents {
		now[consent.ID] = consent.Authorized
	}
	for i, change := range changes {
		if change.Code != ConsentFailed {
			continue
		}
		authorized, read := now[change.ID]
		if err == nil && read && authorized == change.Consent.Authorized {
			changes[i].Code = ConsentChanged
		} else {
			change.Consent.Authorized = !change.Consent.Authorized
		}
	}
}
