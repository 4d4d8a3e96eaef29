package store

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

const (
	// openPayments is a sorted set of the payments that are not final, scored by their next poll, ms.
	openPayments = "fd:payments:open"
	// paymentStates is a sorted set of the same payments and those with a finding, scored by stateScore. Its hash tag
	// puts it on the slot of openPayments, so that one script changes both.
	paymentStates = "fd:{" + openPayments + "}:states"
	// unverifiedPayments is a sorted set of recorded payments, scored by when each is verified next, ms, on the same slot.
	unverifiedPayments = "fd:{" + openPayments + "}:unverified"
	// auditStream is a stream of operators' actions: at, by, what, payment, from, to, statement, registration.
	auditStream = "fd:audit"
	// fingerprintKey says whose payments these are: a flows.Fingerprint, in plain so that no seal key is needed.
	fingerprintKey = "fd:fingerprint"
	// unverifiablePayments is a hash of flows.UnverifiablePayment, sealed, by the processor's id.
	unverifiablePayments = "fd:unverifiable"
	// sealKeys is a sorted set of the ids of the seal keys that sealed something, scored by their last use, ms.
	sealKeys = "fd:seals"
	// clubEvents is a stream of the club system's events that are not processed yet.
	clubEvents = "fd:{club}:events"
	// clubEventCounts is a hash of how many events of each kind arrived.
	clubEventCounts = "fd:{club}:counts"
	// refreshes is a sorted set of registrations to be read again, scored by the time of that, ms; less urgent if an event requested it.
	refreshes = "fd:{refreshes}:registrations"
	// brakes is a hash of what each organisation's brake knows: "<organisation> <field>", see brakeFields.
	brakes = "fd:brakes"
	// uniqueEmails is a set of organisations whose club system uses an e-mail address once.
	uniqueEmails = "fd:unique-emails"
	// refreshRate is a hash with the token bucket of refreshes.
	refreshRate = "fd:{refreshes}:budget"
	// dueStatements, openStatements, receivedStatements and doubtfulStatements are sorted sets of statements, scored by their next
	// follow-up, by the deadline of those that wait for an operator, by their receipt, and by the claim of those whose online cancellation is
	// in doubt, ms. All keys of statements share a slot, because one script
	// changes several.
	dueStatements      = "fd:{statements}:due"
	openStatements     = "fd:{statements}:open"
	receivedStatements = "fd:{statements}:received"
	doubtfulStatements = "fd:{statements}:doubtful"
	// statementsOf starts the key of a person's statements: a sorted set, scored by the end of each, ms.
	statementsOf = "fd:{statements}:of:"
	// receiptsPrefix starts the key of each contact's receipts.
	receiptsPrefix = "fd:receipts:"
	// confirmationsPrefix starts the key of each list of a contact's or a person's confirmations, hashed as in smsKey: sorted sets of
	// registrations, scored by when each was completed, ms, and backedLater more if it is paid or has a mandate.
	confirmationsPrefix = "fd:confirmations:"
	// unmailedConfirmations is a sorted set of the registrations whose confirmation was not mailed yet, scored by when each was completed, ms.
	unmailedConfirmations = "fd:unmailed"
	// heldConfirmations is a hash of the flows.MailHold, by registration, of those among them that an operator must see to.
	heldConfirmations = "fd:held"
)

// finishedPayments is a sorted set of the payments that ended in a state, scored by their end, ms.
func finishedPayments(state flows.PaymentState) string { return "fd:payments:" + string(state) }

// stateScore ranks payments by state or finding and, within it, by when they entered it.
func stateScore(state flows.PaymentState, since time.Time) int64 {
	rank := slices.Index(flows.PaymentStates, state)
	if finding := slices.Index(flows.Findings, state); finding >= 0 {
		rank = firstFinding + finding
	}
	return int64(rank)*stateSpan + since.UnixMilli()
}

const (
	// stateSpan exceeds every time in ms. All scores stay exact in a float64.
	stateSpan = 1e13
	// firstFinding is the rank of the first finding, which leaves room for more states.
	firstFinding = 100
)

// comparisonKey is a hash with the latest complete comparison with a processor: at, oldest, in ms.
func comparisonKey(processor string) string { return "fd:comparison:" + processor }

func ruleKey(environment string) string { return "fd:rule:" + environment }

func notesKey(id flows.PaymentID) string {
	registration, _ := id.Split()
	return "fd:{" + registration + "}:notes:" + number(id)
}

func registrationKey(id string) string { return "fd:{" + id + "}:registration" }

// paymentPrefix is completed by the generation, which scripts append themselves.
func paymentPrefix(registration string) string { return "fd:{" + registration + "}:payment:" }

func paymentKey(id flows.PaymentID) string {
	registration, _ := id.Split()
	return paymentPrefix(registration) + number(id)
}

// number is a payment's generation among those of its registration.
func number(id flows.PaymentID) string {
	_, generation := id.Split()
	return strconv.Itoa(generation)
}

// probeKey is written and read back by the check of Redis.
func probeKey(name string) string { return "fd:probe:" + name }

func heartbeatKey(gateway string) string { return "fd:heartbeat:" + gateway }

// quotaKey is a hash of what is known of the API gateway's limits of an organisation's calls; see quotaState.
func quotaKey(organisation string) string { return "fd:{quota:" + organisation + "}:calls" }

// turnKey holds when it is a newcomer's turn, by the key of the request.
func turnKey(organisation, request string) string {
	return "fd:{quota:" + organisation + "}:turn:" + digest(request)
}

// onceKey marks that something happened.
func onceKey(name string) string { return "fd:once:" + digest(name) }

// responseKey holds the response to an idempotent request. Scope and key come from the caller, so
// they are hashed.
func responseKey(scope, key string) string { return "fd:response:" + digest(scope, key) }

// attemptKey holds the attempt at such a request, which outlives a response that is not final.
func attemptKey(scope, key string) string { return "fd:attempt:" + digest(scope, key) }

// smsKey holds the codes sent to a subject. It is hashed with a key, because trying all contacts
// would reveal a plain hash. Rotating the key restarts the count.
func (s *Store) smsKey(subject string) string { return "fd:sms:" + s.keys.Pseudonym("sms", subject) }

// purchasesKey holds what a buyer has bought lately, by one of their pseudonyms. Its hash tag puts all of them on one
// slot, so that one script changes several.
func purchasesKey(name string) string { return "fd:{purchases}:" + name }

// rateKey holds the requests of a client under a limit, hashed as in smsKey. "rate:" is in front
// of it.
func (s *Store) rateKey(limit, client string) string {
	return "fd:" + limit + ":" + s.keys.Pseudonym("rate", client)
}

// transferKey holds a contact's move to another club, hashed as in smsKey.
func (s *Store) transferKey(contact club.IRI) string {
	return "fd:transfer:" + s.keys.Pseudonym("transfer", string(contact))
}

func statementKey(id string) string { return "fd:{statements}:statement:" + id }

// leavingKey holds the statement that ends a subscription online, hashed without a key, as receiptsKey.
func leavingKey(subscription club.IRI) string {
	return "fd:{statements}:leaving:" + digest(string(subscription))
}

func invitationKey(hash string) string { return "fd:invitation:" + hash }

// contactKeys hold the registrations of a contact, hashed as in smsKey. The first key is the one
// that is written; the others are from before a rotation.
func (s *Store) contactKeys(contact club.IRI) []string {
	return prefixed("fd:contact:", s.keys.Pseudonyms("contact", string(contact)))
}

// personKeys hold the registrations found by pseudonyms of an e-mail address or phone.
func personKeys(pseudonyms []string) []string { return prefixed("fd:person:", pseudonyms) }

func prefixed(prefix string, names []string) []string {
	keys := make([]string, len(names))
	for i, name := range names {
		keys[i] = prefix + name
	}
	return keys
}

// confirmationKey holds the confirmation of a registration.
func confirmationKey(registration string) string { return "fd:{" + registration + "}:confirmation" }

// receiptsKey lists a contact's consent receipts, hashed without a key because they outlive all keys.
func receiptsKey(contact club.IRI) string { return receiptsPrefix + digest(string(contact)) }

// documentKey holds the bytes of a document by their hash.
func documentKey(sha256 string) string { return "fd:document:" + sha256 }

// copyKey holds the copy of a value of the club system. The name reveals whose catalogue it is, so
// it is hashed as in smsKey.
func (s *Store) copyKey(name string) string {
	return "fd:{" + s.keys.Pseudonym("copy", name) + "}:copy"
}

// digest hashes parts so that no two lists of parts collide.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return hex.EncodeToString(h.Sum(nil))
}
