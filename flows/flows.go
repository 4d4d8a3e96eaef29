// Package flows holds the journeys: how a visitor's wish becomes calls to the
// club system and to the card processor, and what is remembered in between.
//
// It knows nothing of HTTP requests (that is handlers) and nothing of Redis
// commands (that is the child package store, which implements Store). The club
// system's client is used as it is, without an interface: its double speaks
// HTTP as well. Store is an interface although one implementation ships, for a
// child may import its parent and never the reverse.
//
// Start reading at Registrations for the journey, and at Payments.Advance for
// the money: a payment moves by that one function, whoever calls it.
package flows

import (
	"context"
	"iter"
	"time"

	"frontdesk/upstream/club"
)

// Store is what the journeys need of Redis. Every write is one atomic script;
// a write that lost a race answers ErrConflict and changed nothing.
type Store interface {
	// CreateRegistration stores a new registration, version 1.
	CreateRegistration(ctx context.Context, r *Registration) error
	// Registration reads a registration and its latest payment (nil when there is none). ErrNotFound.
	Registration(ctx context.Context, id string) (*Registration, *Payment, error)
	// SaveRegistration replaces the registration if its version is still r.Version, and counts the version up.
	SaveRegistration(ctx context.Context, r *Registration) error
	// AmendRegistration is SaveRegistration that leaves alone how long the registration is kept.
	AmendRegistration(ctx context.Context, r *Registration) error

	// RegistrationsOf lists the registrations of contacts; some may be gone.
	RegistrationsOf(ctx context.Context, contacts ...club.IRI) ([]string, error)
	// RegistrationsOfPerson lists those of somebody by names made with a key; some may be gone.
	RegistrationsOfPerson(ctx context.Context, names ...string) ([]string, error)
	// Forget takes a registration from every list in which it is found by person or contact.
	Forget(ctx context.Context, r *Registration) error
	// EraseTransfer deletes a contact's move to another club, and tells whether there was one.
	EraseTransfer(ctx context.Context, contact club.IRI) (bool, error)

	// StartPayment saves the registration as SaveRegistration does and creates
	// its next payment, both or neither.
	StartPayment(ctx context.Context, r *Registration, p *Payment) error
	// Payment reads a payment. ErrNotFound.
	Payment(ctx context.Context, id PaymentID) (*Payment, error)
	// Commit moves a payment by compare-and-set; see Move.
	Commit(ctx context.Context, move Move) error
	// Rebuild stores a payment that is missing, and its registration as
	// SaveRegistration does (nil: the registration stays as it is), both or neither.
	// keep is how long a final payment is kept. ErrConflict when the payment is there.
	Rebuild(ctx context.Context, r *Registration, p *Payment, keep time.Duration) error
	// DuePayments returns payments that want a look, at most limit, and puts each
	// of them off by pause, so that several gateways share the work.
	DuePayments(ctx context.Context, now time.Time, pause time.Duration, limit int) ([]PaymentID, error)
	// LookAt puts the payment's next look at an instant; the zero instant means never again.
	LookAt(ctx context.Context, id PaymentID, at time.Time) error
	// KeepOpen is LookAt for a payment that has no next look; one that has keeps it.
	KeepOpen(ctx context.Context, id PaymentID, at time.Time) error

	// Changes gives the ids of registrations that were written, payments included, by
	// whichever gateway, until the context ends. Some may get lost.
	Changes(ctx context.Context) iter.Seq[string]
	// Finished takes a final payment from the list of open ones and puts it into
	// the bounded list of those that ended in the same state.
	Finished(ctx context.Context, p *Payment) error
	// OpenPayments lists payments that are not final, the one to be looked at next first.
	OpenPayments(ctx context.Context, limit int) ([]PaymentID, error)
	// FinishedPayments lists payments that ended in a state, the latest first.
	FinishedPayments(ctx context.Context, state PaymentState, limit int) ([]PaymentID, error)

	// Rule reads the calibrated rule of an environment. ErrNotFound.
	Rule(ctx context.Context, environment string) (*Rule, error)
	// SaveRule replaces the rule of an environment.
	SaveRule(ctx context.Context, environment string, rule *Rule) error
	// AddNote keeps an operator's note about a payment; the oldest of very many go.
	AddNote(ctx context.Context, id PaymentID, note Note) error
	// Notes reads a payment's notes, oldest first.
	Notes(ctx context.Context, id PaymentID) ([]Note, error)
	// Audit appends to the audit stream, which is bounded and in plain.
	Audit(ctx context.Context, entry AuditEntry) error

	// TakeSMS counts an SMS code for a subject, unless a limit is used up. It answers
	// with the instant from which the next one is allowed. A repeated id counts once.
	TakeSMS(ctx context.Context, subject, id string, now time.Time, limits []SMSLimit) (allowed bool, next time.Time, err error)
	// GiveBackSMS takes a counted code back.
	GiveBackSMS(ctx context.Context, subject, id string) error
	// CountSMS counts a subject's codes from one instant to another, both included.
	CountSMS(ctx context.Context, subject string, from, to time.Time) (int, error)
	// Transfer reads the move to another club that a contact has begun. ErrNotFound.
	Transfer(ctx context.Context, contact club.IRI) (*Transfer, error)
	// SaveTransfer stores a contact's move if its version is still t.Version, and counts the version up.
	SaveTransfer(ctx context.Context, contact club.IRI, t *Transfer, keep time.Duration) error

	// Once tells whether this is the first call with this name within the period.
	Once(ctx context.Context, name string, period time.Duration) (bool, error)
	// Beat leaves a gateway's n-th sign of life and returns the one before it, 0 for
	// none: another than the gateway left itself says that Redis forgot something.
	Beat(ctx context.Context, gateway string, n int64) (int64, error)
	// PaymentUnlessSeen reads a payment as Payment does, unless Once was called with this name within its period.
	PaymentUnlessSeen(ctx context.Context, id PaymentID, name string) (p *Payment, seen bool, err error)

	// KeepInvitation keeps an invitation under the hash of its token.
	KeepInvitation(ctx context.Context, hash string, invitation Invitation, life time.Duration) error
	// TakeInvitation gives an invitation to its first use; ErrNotFound to every other.
	TakeInvitation(ctx context.Context, hash, use string) (Invitation, error)
	// GiveInvitationBack makes an invitation good again that this use has taken.
	GiveInvitationBack(ctx context.Context, hash, use string) error

	// KeepReceipt keeps what a contact said about its consents.
	KeepReceipt(ctx context.Context, contact club.IRI, receipt Receipt) error
	// RenewReceipts seals with the current key every receipt that an older one sealed.
	RenewReceipts(ctx context.Context) error
	// Receipts returns what a contact said about its consents, newest first.
	Receipts(ctx context.Context, contact club.IRI) ([]Receipt, error)
}
