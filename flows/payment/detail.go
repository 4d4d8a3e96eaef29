package payment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// Summary is a payment in one line, for operators.
type Summary struct {
	ID            flows.PaymentID    `json:"id"`
	State         flows.PaymentState `json:"state"`
	Reason        string             `json:"reason"`
	Since         time.Time          `json:"since"` // when it came to where it stands
	Method        flows.Method       `json:"method"`
	Amount        int64              `json:"amount"` // minor units
	Currency      string             `json:"currency"`
	Sale          club.IRI           `json:"sale"`
	Club          club.IRI           `json:"club"`
	ContactNumber string             `json:"contactNumber,omitempty"` // of the buyer at the club; not of payments that ended
	Processor     string             `json:"processor,omitempty"`
	ProcessorID   string             `json:"processorId,omitempty"`
	Claim         int                `json:"claim"`
	Version       int64              `json:"version"`
	CreatedAt     time.Time          `json:"createdAt"`
}

func summary(p *flows.Payment) Summary {
	s := Summary{
		ID: p.ID, State: p.State, Reason: p.Reason, Since: p.UpdatedAt, Method: p.Method, Amount: p.Amount, Currency: p.Currency, Sale: p.Sale, Club: p.Club,
		Processor: p.Processor, ProcessorID: p.ProcessorID, Claim: p.Claim, Version: p.Version, CreatedAt: p.CreatedAt,
	}
	if p.Payer != nil {
		s.ContactNumber = p.Payer.Number
	}
	return s
}

// Detail is all that is known of a payment, for an operator who has to decide.
type Detail struct {
	Summary
	History     []flows.Transition `json:"history"`
	AtProcessor *AtProcessor       `json:"atProcessor,omitempty"` // nil when it could not be read; Problem says why
	Problem     string             `json:"problem,omitempty"`
	Journal     []JournalEntry     `json:"journal"`
	Snapshot    *flows.Evidence    `json:"snapshot,omitempty"`
	Readings    []flows.Reading    `json:"readings"`
	NextReading *time.Time         `json:"nextReading,omitempty"`
	Notes       []flows.Note       `json:"notes"`
	Advice      []string           `json:"advice"`   // what it means and what to look at, a paragraph each
	Commands    []string           `json:"commands"` // what may be done now
}

// AtProcessor is where the money stands.
type AtProcessor struct {
	State    cards.State `json:"state"`
	Captured int64       `json:"captured"` // minor units
	Refunded int64       `json:"refunded"` // minor units
}

// JournalEntry is an entry of the processor's journal, such as fd_post_1.
type JournalEntry struct {
	Key   string     `json:"key"`
	Value string     `json:"value"`
	At    *time.Time `json:"at,omitempty"` // where the value tells
}

// ListOptions asks for payments.
type ListOptions struct {
	State flows.PaymentState // one state; empty: see All
	All   bool               // every state; else those in doubt and blocked, which wait for a person
}

// The bounds of a listing: what a person can look through, and what Redis is asked for it.
const (
	maxListed  = 200
	maxScanned = 2000
)

// Page are payments, and whether there may be more of them.
type Page struct {
	Items []Summary `json:"items"`
	More  bool      `json:"more"`
}

// List lists payments, the longest waiting first; those that ended come last, the
// latest first.
func (m *Machine) List(ctx context.Context, in ListOptions) (Page, error) {
	if in.State != "" && !slices.Contains(flows.PaymentStates, in.State) {
		return Page{}, &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/state", Message: "There is no such state."}}}
	}
	open, err := m.cfg.Store.OpenPayments(ctx, maxScanned)
	if err != nil {
		return Page{}, flows.StorageFailed(err)
	}
	listed := Page{Items: []Summary{}, More: len(open) == maxScanned}
	for _, id := range open {
		if err := m.list(ctx, in, id, &listed); err != nil {
			return Page{}, err
		}
	}
	slices.SortStableFunc(listed.Items, func(a, b Summary) int { return a.Since.Compare(b.Since) })
	for _, state := range []flows.PaymentState{flows.Recorded, flows.Cancelled, flows.Refunded} {
		if !in.matches(state) {
			continue
		}
		finished, err := m.cfg.Store.FinishedPayments(ctx, state, maxListed)
		if err != nil {
			return Page{}, flows.StorageFailed(err)
		}
		for _, id := range finished {
			if err := m.list(ctx, in, id, &listed); err != nil {
				return Page{}, err
			}
		}
	}
	return listed, nil
}

// list adds a payment, if it is one that was asked for.
func (m *Machine) list(ctx context.Context, in ListOptions, id flows.PaymentID, to *Page) error {
	if len(to.Items) >= maxListed {
		to.More = true
		return nil
	}
	p, err := m.cfg.Store.Payment(ctx, id)
	switch {
	case errors.Is(err, flows.ErrNotFound):
		return nil // kept for its time, or never completed
	case err != nil:
		return flows.StorageFailed(err)
	}
	twice := slices.ContainsFunc(to.Items, func(s Summary) bool { return s.ID == id })
	if in.matches(p.State) && !twice {
		to.Items = append(to.Items, summary(p))
	}
	return nil
}

func (in ListOptions) matches(state flows.PaymentState) bool {
	switch {
	case in.State != "":
		return state == in.State
	case in.All:
		return true
	default:
		return state == flows.InDoubt || state == flows.Blocked
	}
}

// Show collects what is known of a payment. A processor that cannot be asked is
// said so, and no error.
func (m *Machine) Show(ctx context.Context, id flows.PaymentID) (Detail, error) {
	p, err := m.payment(ctx, id)
	if err != nil {
		return Detail{}, err
	}
	notes, err := m.cfg.Store.Notes(ctx, id)
	if err != nil {
		return Detail{}, flows.StorageFailed(err)
	}
	d := Detail{Summary: summary(p), History: p.History, Journal: []JournalEntry{}, Snapshot: p.Snapshot, Readings: p.Readings, Notes: notes}
	if len(d.History) == 0 {
		d.History = []flows.Transition{{State: p.State, At: p.UpdatedAt, Reason: p.Reason}}
	}
	if d.Readings == nil {
		d.Readings = []flows.Reading{}
	}
	if due, more := nextReading(p); more && p.State == flows.InDoubt {
		d.NextReading = &due
	}
	var remote cards.Payment
	if p.ProcessorID != "" {
		remote, err = m.cfg.Cards.Get(ctx, p.ProcessorID)
		switch {
		case errors.Is(err, cards.ErrNotFound):
			d.Problem = "the processor does not know the payment"
		case err != nil:
			d.Problem = "the processor could not be asked"
		default:
			d.Problem = m.compare(p, remote)
			d.AtProcessor = &AtProcessor{State: remote.State, Captured: remote.Captured, Refunded: remote.Refunded}
			d.Journal = journalOf(remote)
		}
	}
	d.advise(p, remote, m.cfg.Now())
	return d, nil
}

// journalOf lists what was journalled about claims and decisions.
func journalOf(remote cards.Payment) []JournalEntry {
	entries := []JournalEntry{}
	for _, key := range slices.Sorted(maps.Keys(remote.Metadata)) {
		_, _, numbered := cutNumber(key)
		if !numbered {
			continue
		}
		entry := JournalEntry{Key: key, Value: remote.Metadata[key]}
		if at, ok := attemptStart(entry.Value); ok {
			entry.At = &at
		}
		entries = append(entries, entry)
	}
	slices.SortStableFunc(entries, func(a, b JournalEntry) int {
		_, i, _ := cutNumber(a.Key)
		_, j, _ := cutNumber(b.Key)
		return i - j
	})
	return entries
}

// cutNumber takes a journal key apart: fd_post_1 is "post" and 1.
func cutNumber(key string) (what string, n int, ok bool) {
	for _, what := range []string{"post", "release", "done", "op"} {
		var n int
		if _, err := fmt.Sscanf(key, "fd_"+what+"_%d", &n); err == nil && key == claimKey(what, n) {
			return what, n, true
		}
	}
	return "", 0, false
}

// advise says what the state means to an operator, and what may be done now.
func (d *Detail) advise(p *flows.Payment, remote cards.Payment, now time.Time) {
	command := func(words ...string) {
		d.Commands = append(d.Commands, "frontdesk payments "+strings.Join(words, " "))
	}
	id := string(p.ID)
	defer func() { command("note", id, `"what you found"`) }()
	switch p.State {
	case flows.InDoubt:
		d.adviseDoubt(p, remote, now, command)
	case flows.Blocked:
		d.adviseBlocked(p, remote)
	case flows.Recorded:
		d.Advice = append(d.Advice, "The club system holds the payment. There is nothing to do.")
	case flows.Cancelled:
		d.Advice = append(d.Advice, "Nothing was taken from the buyer. There is nothing to do.")
	case flows.Refunded:
		d.Advice = append(d.Advice, "The buyer's money went back. There is nothing to do.")
	default:
		d.Advice = append(d.Advice, "It is on its way and goes on by itself; Frontdesk looks at it again within minutes at most.")
	}
}

func (d *Detail) adviseDoubt(p *flows.Payment, remote cards.Payment, now time.Time, command func(...string)) {
	id := string(p.ID)
	taken := "The buyer's money is taken, and"
	if !p.HasProcessor() {
		taken = "The sale was to be settled without a card, and"
	}
	d.Advice = append(d.Advice,
		taken+" whether the club system knows of it cannot be seen from here. The buyer was told not to pay again. Nothing is sent again and nothing is refunded unless you say so.",
		fmt.Sprintf("In the club system, open sale %s%s and %s", p.Sale, ofContactNumber(d.ContactNumber), whatToLookFor(p, d.History[0].At)))
	switch {
	case p.HasProcessor() && d.AtProcessor == nil, d.Problem != "":
		d.Advice = append(d.Advice, "Nothing can be decided now: "+d.Problem+".")
		return
	case refundClaimed(remote):
		d.Advice = append(d.Advice, "A refund was begun: nothing can be decided here any more. See at the processor whether the money went back, and finish it there.")
		return
	case p.HasProcessor() && !holdsWholeAmount(remote):
		d.Advice = append(d.Advice, "The processor no longer holds the whole amount: settle the money there.")
		return
	}
	command("confirm-recorded", id)
	if at := earliest(p, remote); now.Before(at) {
		d.Advice = append(d.Advice, fmt.Sprintf("That it was not recorded can be said from %s: until then, what was sent may still arrive.", at.UTC().Format(timeFormat)))
		return
	}
	claim := p.Claim
	if n, _ := lastClaim(remote); n > claim {
		claim = n
	}
	if claim < maxClaims {
		command("confirm-not-recorded", id, "--send-again")
	}
	if p.HasProcessor() {
		command("confirm-not-recorded", id, "--refund")
	} else {
		command("confirm-not-recorded", id, "--cancel")
	}
}

// whatToLookFor says what the club system shows of a payment that it recorded.
func whatToLookFor(p *flows.Payment, since time.Time) string {
	price, from := Price(p.Amount, p.Currency), since.UTC().Format(timeFormat)
	switch p.Method {
	case flows.Deferred:
		return fmt.Sprintf("see whether it was deferred to %s since %s, and whether the contact owes %s for it. A deferral makes no payment: do not look for one.", p.DueDate, from, price)
	case flows.Free:
		return fmt.Sprintf("see whether it was validated since %s, and whether its products are with the contact. Nothing was due, so there is no payment.", from)
	default:
		return fmt.Sprintf("look for exactly one payment of %s made since %s. Look at the person's account as well: a payment may lie there without settling the sale.", price, from)
	}
}

// timeFormat is how operators read an instant, here and in what the command prints.
const timeFormat = "2006-01-02 15:04:05Z"

// earliest is when it may be said that a payment was not recorded.
func earliest(p *flows.Payment, remote cards.Payment) time.Time {
	return latestAttempt(p, remote).Add(decideAfter)
}

func (d *Detail) adviseBlocked(p *flows.Payment, remote cards.Payment) {
	d.Advice = append(d.Advice, "Something does not match, so no machine touches this payment any more: "+p.Reason+". The buyer was told not to pay again.")
	if !p.HasProcessor() {
		d.Advice = append(d.Advice,
			fmt.Sprintf("No card processor took part. In the club system, open sale %s%s and %s", p.Sale, ofContactNumber(d.ContactNumber), whatToLookFor(p, p.CreatedAt)),
			"Another hand may have settled the sale in another way. If nothing has settled it, settle it there by hand. Then tell the buyer, and leave a note here.")
		return
	}
	switch {
	case p.ProcessorID == "":
		d.Advice = append(d.Advice, "The payment was never made at the processor as far as is known here. Search there for registration "+p.Registration+" in the metadata; if nothing is found, nothing was taken.")
	case d.AtProcessor == nil:
		d.Advice = append(d.Advice, "At the processor: "+d.Problem+". Find "+p.ProcessorID+" there, and see whether money was taken.")
	default:
		text := fmt.Sprintf("At the processor, payment %s is %s: %s taken, %s given back, where %s was agreed.", p.ProcessorID, remote.State,
			Price(remote.Captured, remote.Currency), Price(remote.Refunded, remote.Currency), Price(p.Amount, p.Currency))
		if d.Problem != "" {
			text += " Also now " + d.Problem + "."
		}
		d.Advice = append(d.Advice, text)
	}
	d.Advice = append(d.Advice,
		fmt.Sprintf("In the club system, look whether sale %s%s is settled, and by what.", p.Sale, ofContactNumber(d.ContactNumber)),
		"If money is kept and the sale is not settled: either record the payment by hand in the club system, or give the money back at the processor; not both. If the sale is settled and no money is kept: the club has to collect it or undo the sale. Then tell the buyer, and leave a note here.")
}

func ofContactNumber(number string) string {
	if number == "" {
		return ""
	}
	return " of contact number " + number
}

// Price is an amount of minor units for people; every currency that clubs take has
// two digits of cents.
func Price(amount int64, currency string) string {
	sign := ""
	if amount < 0 {
		sign, amount = "-", -amount
	}
	return fmt.Sprintf("%s%d.%02d %s", sign, amount/100, amount%100, currency)
}
