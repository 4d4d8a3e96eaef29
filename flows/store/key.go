package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// openPayments is a sorted set of the payments that are not final, scored by
// the millisecond of their next look.
const openPayments = "fd:payments:open"

// auditStream is a stream of what operators did: at, by, what, payment, from, to.
const auditStream = "fd:audit"

// finishedPayments is a sorted set of payments that ended in a state, scored by
// the millisecond of their end.
func finishedPayments(state flows.PaymentState) string { return "fd:payments:" + string(state) }

// ruleKey holds the calibrated rule of an environment.
func ruleKey(environment string) string { return "fd:rule:" + environment }

// notesKey is the list of operators' notes about a payment.
func notesKey(id flows.PaymentID) string {
	registration, generation := id.Split()
	return "fd:{" + registration + "}:notes:" + strconv.Itoa(generation)
}

func registrationKey(id string) string { return "fd:{" + id + "}:registration" }

// paymentPrefix is completed by the generation; scripts do that themselves.
func paymentPrefix(registration string) string { return "fd:{" + registration + "}:payment:" }

func paymentKey(id flows.PaymentID) string {
	registration, _ := id.Split()
	return paymentPrefix(registration) + number(id)
}

// number is a payment's place among those of its registration.
func number(id flows.PaymentID) string {
	_, generation := id.Split()
	return strconv.Itoa(generation)
}

// probeKey is written and read back to see whether that is possible.
func probeKey(name string) string { return "fd:probe:" + name }

// heartbeatKey holds the last sign of life of a gateway.
func heartbeatKey(gateway string) string { return "fd:beat:" + gateway }

// onceKey remembers that something happened.
func onceKey(name string) string { return "fd:once:" + digest(name) }

// responseKey holds the answer to an idempotent request. The scope and the key
// are the caller's, so they appear hashed alone.
func responseKey(scope, key string) string { return "fd:answer:" + digest(scope, key) }

// smsKey holds the codes that were sent to a subject. Who that is can be
// guessed by trying all contacts, so it is hashed with a key. When the key is
// rotated the count begins anew.
func (s *Store) smsKey(subject string) string { return "fd:sms:" + s.keys.Pseudonym("sms", subject) }

// rateKey holds the requests of somebody under a limit; hashed as in smsKey. The
// library puts "rate:" in front of it.
func (s *Store) rateKey(limit, who string) string {
	return "fd:" + limit + ":" + s.keys.Pseudonym("rate", who)
}

// transferKey holds a contact's move to another club; hashed as in smsKey.
func (s *Store) transferKey(contact club.IRI) string {
	return "fd:transfer:" + s.keys.Pseudonym("transfer", string(contact))
}

// invitationKey holds what a link stands for, by the hash of its token.
func invitationKey(hash string) string { return "fd:invitation:" + hash }

// EventsAboutContacts is a stream of what the club system told and nobody has worked on yet;
// clubEventCounts is a hash of how often each kind of it came.
const (
	clubEvents      = "fd:{club}:events"
	clubEventCounts = "fd:{club}:counts"
)

// refreshes is a sorted set of registrations that are to be read again at the club
// system, scored by the millisecond of that look; refreshRate is a hash of what is
// left of the looks that are allowed.
const (
	refreshes   = "fd:{looks}:registrations"
	refreshRate = "fd:{looks}:budget"
)

// contactKeys hold the registrations of a contact, who is hashed as in smsKey: the
// key that is written comes first, then those from before a rotation.
func (s *Store) contactKeys(contact club.IRI) []string {
	keys := s.keys.Pseudonyms("contact", string(contact))
	for i, name := range keys {
		keys[i] = "fd:contact:" + name
	}
	return keys
}

// personKey holds the registrations of somebody by e-mail or phone, whose name was
// made with a key.
func personKey(name string) string { return "fd:person:" + name }

// receiptsPrefix stands in front of everybody's receipts.
const receiptsPrefix = "fd:receipts:"

// receiptsKey lists what a contact has said about its consents. It is hashed without
// a key, since it outlives all of them.
func receiptsKey(contact club.IRI) string { return receiptsPrefix + digest(string(contact)) }

// copyKey holds the copy of a value of the club system. The name tells whose catalogue
// it is, so it is hashed as in smsKey.
func (s *Store) copyKey(name string) string {
	return "fd:{" + s.keys.Pseudonym("reading", name) + "}:reading"
}

// digest hashes parts so that no two lists of parts look alike.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return hex.EncodeToString(h.Sum(nil))
}
