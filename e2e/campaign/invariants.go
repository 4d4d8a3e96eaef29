package campaign

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"frontdesk/flows"
)

// The invariants, as a Violation names them.
const (
	AppliedTwice           = "the club system booked the sale more than once"
	RecordedNotApplied     = "recorded, but the club system did not book it exactly once"
	RecordedWrongAmount    = "recorded, but what was booked, taken and due is not the same amount"
	ChargedAndForgotten    = "money was taken and not refunded, and the payment is neither recorded nor in doubt"
	RefundedButApplied     = "a payment that the club system booked was refunded"
	ChargedTwice           = "money was taken more than once for a sale and kept"
	SecondPayment          = "the processor holds several payments of one sale and generation"
	SettledByAnotherMethod = "a card was charged for a sale that was settled in another way"
	SettledAtDesk          = "money is kept for a sale that staff settled"
	RetryWhileCharged      = "the buyer was asked to try again while money was taken"
	RetryAfterAuthorising  = "the buyer was asked to pay again after an authorisation"
	StrangerServed         = "a stranger got the holder's data"
	VersionShrank          = "a version did not grow"
	DoubtUnlisted          = "a payment waits for an operator, and no list shows it"
	CapturedBehindBrake    = "money was taken while the brake held the payment back"
	CapturedTooLate        = "money was taken although the hour after its authorisation was over"
	SecondContact          = "one intention made more than one contact or sale"
	BlockedForGood         = "a payment is blocked or in doubt, and no decision can end that"
	CancelledAndOpen       = "a payment counts as cancelled, and the processor can still charge it"
	ReservedForGood        = "the buyer's money stays reserved, and no operator is asked"
	MandateSignedTwice     = "a contact signed two mandates of one registration"
	NeverSettles           = "the journey does not end"
	PersonalDataInPlain    = "personal data is in plain text"
	RestrictedInDoubt      = "a payment that the club system refused for a restriction is in doubt, or recorded"
	RestrictedTakenTwice   = "money was taken twice for a cart that the club system refuses for a restriction, or refunded twice"
)

// QuietPeriod is how long after the last fault money may be neither recorded nor in doubt: the alert fires
// after five minutes, and the operator needs time to act.
const QuietPeriod = 10 * time.Minute

// SameMinute is how long after staff settled a sale a request to settle it may still leave, because the
// gateway saw the sale as agreed within the last minute.
const SameMinute = time.Minute

// Evidence is what is known of one sale when its journey has ended and the QuietPeriod is over: the club
// system's ledger, the processor's list, and what the gateway said.
type Evidence struct {
	Registration string
	Sale         string // IRI
	Due          int64  // the sale's total at the club system, minor units

	Contacts, Sales int // that the start of the registration made, however often it was repeated; zero: not counted

	Booked       []int64       // what the club system booked for the sale, a payment each, minor units
	CardPayments []CardPayment // the processor's payments of the sale, any order

	// Desk is what the club's staff booked for the sale, minor units.
	Desk          []int64
	SentAfterDesk time.Duration // how long after staff the last request to settle the sale left
	// ByRule means that evidence decided the state. A rule decides within a minute of the attempt, and
	// cannot distinguish what staff do in that minute.
	ByRule bool

	State          string            // of the latest payment, as in the public API; empty: none that the gateway knows
	Method         string            // how that payment settles the sale without a processor; empty: by card
	ProcessorID    string            // of the payment that State is about; empty: unknown
	StateByPayment map[string]string // of earlier payments, by the processor's id; may be nil
	SettledBy      []string          // how the club system settled the sale without a payment; with Booked at most one

	// CapturedWhileHeld are payments whose money was taken while another payment was the probe of a brake that held.
	CapturedWhileHeld []string

	// CapturedTooLate are payments whose money was taken by a process that began to advance them when the hour after their
	// authorisation was over.
	CapturedTooLate []string

	// Restricted says that the club system refused each request to settle the sale for a restriction, and that every response arrived.
	Restricted bool

	SignedTwice []string // the mandates that one contact signed, if there are several
	Records     []Record // the payments that Redis has, any order
	// BlockedForGood are payments that are blocked as missing at the processor, which has them, and those that wait for
	// an operator although the gateway refuses each decision that it offers.
	BlockedForGood   []string
	CancelledAndOpen []string // payments that count as cancelled, and that the processor can still charge
	// ReservedForGood are the processor's payments that are authorised and neither taken nor cancelled, except those about
	// which an operator must decide.
	ReservedForGood []string
	// FalselyAccepted means that something in front of the club system accepted a request to settle the sale. A sale
	// that staff settle before it is verified looks like one that this request settled. So does one that the buyer settles
	// by another method after Redis fell back to before the payment.
	FalselyAccepted bool
	// VerificationLost means that Redis lost data, and that no processor helps to find a payment that is still to be verified.
	VerificationLost bool

	Responses       []Response
	StrangersServed []string // requests without the holder's token that were not refused
	// Versions of each record by its id, in the order in which they were committed. A Redis that lost
	// data begins a new list.
	Versions map[string][]int64
}

// Record is a payment in Redis, and what operators and the club system say of it.
type Record struct {
	ID      string
	State   flows.PaymentState
	Listing flows.PaymentState // the state or finding under which the operators' list shows it; empty: it does not
	Open    bool               // nothing has settled its sale
	// PaidTwice says that staff were paid too, and that the club system shows it: by a debt that the overpayment settled.
	PaidTwice bool
	// RefundedByHand says that staff refunded the recorded payment at the processor.
	RefundedByHand bool
}

// Unlisted reports whether a payment waits for an operator whose list does not show it.
func (r Record) Unlisted() bool {
	switch r.State {
	case flows.InDoubt, flows.Blocked:
		return r.Listing != r.State
	case flows.Recorded:
		return (r.Open || r.PaidTwice) && !slices.Contains(flows.Findings, r.Listing) || r.RefundedByHand && r.Listing != flows.Contradicted
	default:
		return false
	}
}

// CardPayment is a payment at the processor.
type CardPayment struct {
	ID         string
	Generation string // of the registration's payments, as its metadata says
	Captured   int64  // minor units
	Refunded   int64  // minor units, by Frontdesk
}

// Net is what the processor took and did not give back.
func (h CardPayment) Net() int64 { return h.Captured - h.Refunded }

// Response is what a gateway said to the buyer about the payment.
type Response struct {
	State string // of the payment; for a failed request, the problem's code
	Retry string // never, same_key, new, after
	// Charged says that money was taken and not given back, from before the request until after the response.
	Charged bool
	// Authorised says the same of money that the buyer authorised, whether it was taken or not.
	Authorised bool
}

// Attempted reports whether a payment's journal holds an attempt to record it that its own gateway did not
// release: only its lost response leaves room for what staff did within the same minute.
func Attempted(journal map[string]string) bool {
	for key, attempt := range journal {
		n, found := strings.CutPrefix(key, "fd_post_")
		if found && !strings.HasPrefix(attempt, "refund-") && journal["fd_release_"+n] != attempt {
			return true
		}
	}
	return false
}

// Violations judges one journey: every invariant that it breaks, with the details.
func (e Evidence) Violations() (found []Violation) {
	broken := func(invariant, format string, args ...any) {
		found = append(found, Violation{Invariant: invariant, Detail: fmt.Sprintf(format, args...), Registration: e.Registration})
	}
	if e.Contacts > 1 || e.Sales > 1 {
		broken(SecondContact, "%d contacts and %d sales", e.Contacts, e.Sales)
	}
	e.checkLedger(broken)
	if e.Restricted {
		e.checkRestricted(broken)
	}
	e.checkReportedState(broken)
	e.checkResponses(broken)
	return found
}

// checkLedger compares the club system with the processor; the gateway is not asked.
func (e Evidence) checkLedger(broken func(string, string, ...any)) {
	ours := len(e.Booked) + len(e.SettledBy)
	switch {
	case ours > 1:
		broken(AppliedTwice, "booked %v for %s, and settled as %v", e.Booked, e.Sale, e.SettledBy)
	case ours == 1 && len(e.Desk) > 0 && e.SentAfterDesk > SameMinute:
		broken(AppliedTwice, "booked %v for %s, or settled as %v, %s after staff had booked %v",
			e.Booked, e.Sale, e.SettledBy, e.SentAfterDesk, e.Desk)
	}
	keeping, generations := 0, map[string]string{}
	for _, held := range e.CardPayments {
		if other, double := generations[held.Generation]; double {
			broken(SecondPayment, "%s and %s of generation %s", other, held.ID, held.Generation)
		}
		generations[held.Generation] = held.ID
		if held.Net() > 0 {
			keeping++
		}
	}
	if keeping > 1 && !e.inDoubt() {
		broken(ChargedTwice, "%+v", e.CardPayments)
	}
	byAnother := len(e.SettledBy) > 0 || e.Method != "" && e.State != "cancelled" && len(e.Booked) > 0
	if keeping > 0 && byAnother && !e.FalselyAccepted && !e.inDoubt() {
		broken(SettledByAnotherMethod, "settled as %v, booked %v, and the processor holds %+v", e.SettledBy, e.Booked, e.CardPayments)
	}
	if keeping > 0 && len(e.Desk) > 0 && ours == 0 && !e.ByRule && !e.FalselyAccepted && !e.inDoubt() {
		broken(SettledAtDesk, "staff booked %v, and the processor holds %+v", e.Desk, e.CardPayments)
	}
	refunded := slices.ContainsFunc(e.CardPayments, func(h CardPayment) bool { return h.Refunded > 0 })
	if len(e.Booked) > 0 && refunded && keeping == 0 && e.Method == "" {
		broken(RefundedButApplied, "booked %v, the processor holds %+v", e.Booked, e.CardPayments)
	}
}

// checkRestricted judges a sale that the club system refuses for a restriction: money that was taken went back, once and by itself. It is
// taken again only for another cart, whose amount differs, because changes of the cart here cost something.
func (e Evidence) checkRestricted(broken func(string, string, ...any)) {
	if e.inDoubt() || e.State == "recorded" {
		broken(RestrictedInDoubt, "the gateway says %q, and of earlier payments %v", e.State, e.StateByPayment)
	}
	taken := map[int64]bool{} // amounts
	for _, held := range e.CardPayments {
		if taken[held.Captured] || held.Refunded > held.Captured {
			broken(RestrictedTakenTwice, "%+v", e.CardPayments)
			return
		}
		taken[held.Captured] = held.Captured > 0
	}
}

// checkReportedState compares the gateway's last response with both.
func (e Evidence) checkReportedState(broken func(string, string, ...any)) {
	switch e.State {
	case "recorded":
		e.checkRecorded(broken)
	case "refunded":
		if len(e.Booked) > 0 {
			broken(RefundedButApplied, "as the gateway says, booked %v", e.Booked)
		}
	}
	if len(e.CapturedWhileHeld) > 0 {
		broken(CapturedBehindBrake, "%v", e.CapturedWhileHeld)
	}
	if len(e.CapturedTooLate) > 0 {
		broken(CapturedTooLate, "%v", e.CapturedTooLate)
	}
	if len(e.SignedTwice) > 0 {
		broken(MandateSignedTwice, "%v", e.SignedTwice)
	}
	for _, r := range e.Records {
		if r.Unlisted() {
			broken(DoubtUnlisted, "%s is %s and listed as %q; its sale is open: %t", r.ID, r.State, r.Listing, r.Open)
		}
	}
	if len(e.BlockedForGood) > 0 {
		broken(BlockedForGood, "%v", e.BlockedForGood)
	}
	if len(e.CancelledAndOpen) > 0 {
		broken(CancelledAndOpen, "%v", e.CancelledAndOpen)
	}
	if len(e.ReservedForGood) > 0 {
		broken(ReservedForGood, "%v", e.ReservedForGood)
	}
	for _, held := range e.CardPayments {
		if held.Net() > 0 && !e.accountsFor(held) {
			broken(ChargedAndForgotten, "the processor keeps %d of %s, the gateway says %q about %q", held.Net(), held.ID, e.State, e.ProcessorID)
		}
	}
}

func (e Evidence) checkRecorded(broken func(string, string, ...any)) {
	explained := len(e.Desk) > 0 && e.ByRule ||
		e.FalselyAccepted && (len(e.Desk) > 0 || e.VerificationLost || e.listed(flows.RecordedUnsettled))
	switch ours := len(e.Booked) + len(e.SettledBy); {
	case ours == 0 && explained:
		return
	case ours != 1:
		broken(RecordedNotApplied, "booked %v for %s, and settled as %v", e.Booked, e.Sale, e.SettledBy)
		return
	}
	if len(e.SettledBy) > 0 {
		return // not by a payment
	}
	if e.Method != "" || len(e.CardPayments) == 0 {
		if e.Booked[0] != e.Due {
			broken(RecordedWrongAmount, "due %d, booked %d", e.Due, e.Booked[0])
		}
		return
	}
	kept := int64(0)
	for _, held := range e.CardPayments {
		kept += held.Net()
		if (e.ProcessorID == "" || held.ID == e.ProcessorID) && held.Net() > 0 && (held.Net() != e.Booked[0] || e.Booked[0] != e.Due) {
			broken(RecordedWrongAmount, "due %d, booked %d, kept %d", e.Due, e.Booked[0], held.Net())
		}
	}
	if kept == 0 {
		broken(RecordedWrongAmount, "due %d, booked %d, and the processor keeps nothing: %+v", e.Due, e.Booked[0], e.CardPayments)
	}
}

// listed reports whether operators find a payment under a finding.
func (e Evidence) listed(finding flows.PaymentState) bool {
	return slices.ContainsFunc(e.Records, func(r Record) bool { return r.Listing == finding })
}

// accountsFor reports whether the gateway's responses cover money that the processor holds.
func (e Evidence) accountsFor(held CardPayment) bool {
	covers := func(state string) bool { return state == "recorded" || state == "in_doubt" }
	if e.Method == "" && (e.ProcessorID == "" || e.ProcessorID == held.ID) {
		return covers(e.State)
	}
	return covers(e.StateByPayment[held.ID])
}

// inDoubt reports whether an operator has been called.
func (e Evidence) inDoubt() bool {
	return e.State == "in_doubt" || slices.Contains(slices.Collect(maps.Values(e.StateByPayment)), "in_doubt")
}

func (e Evidence) checkResponses(broken func(string, string, ...any)) {
	if len(e.StrangersServed) > 0 {
		broken(StrangerServed, "%v", e.StrangersServed)
	}
	for i, response := range e.Responses {
		if response.Charged && response.Retry != "never" {
			broken(RetryWhileCharged, "response %d: %s, retry %s", i+1, response.State, response.Retry)
			break
		}
		if response.Authorised && response.Retry == "new" {
			broken(RetryAfterAuthorising, "response %d: %s, retry %s", i+1, response.State, response.Retry)
			break
		}
	}
	for id, versions := range e.Versions {
		for i := 1; i < len(versions); i++ {
			if versions[i] <= versions[i-1] {
				broken(VersionShrank, "%s went through %v", id, versions)
				break
			}
		}
	}
}

// Canary holds personal data that is recognisable wherever it appears, different for each tag.
type Canary struct{ GivenName, FamilyName, Email, Mobile, Street string }

// NewCanary returns a person whose every detail carries the tag. The tag has at least six digits and
// nothing else, because a mobile number contains it.
func NewCanary(tag uint64) Canary {
	digits := fmt.Sprintf("%08d", tag%100_000_000)
	letters := strings.Map(func(r rune) rune { return 'a' + (r - '0') }, digits)
	return Canary{
		GivenName:  "Zyx" + letters,
		FamilyName: "Qvw" + letters,
		Email:      "zq" + letters + "@canary.example",
		Mobile:     "+336" + digits,
		Street:     digits + " rue Zq" + letters,
	}
}

// FoundIn returns the details that a text contains.
func (c Canary) FoundIn(text string) (found []string) {
	for _, detail := range []string{c.GivenName, c.FamilyName, c.Email, c.Mobile, c.Street} {
		if strings.Contains(text, detail) {
			found = append(found, detail)
		}
	}
	return found
}

// LeakViolation is the violation that personal data was found in a place.
func LeakViolation(place, registration string, found []string) Violation {
	return Violation{Invariant: PersonalDataInPlain, Detail: fmt.Sprintf("%v in %s", found, place), Registration: registration}
}
