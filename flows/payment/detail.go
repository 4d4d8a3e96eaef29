package payment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// Detail is everything known about a payment, for an operator's decision.
type Detail struct {
	Summary
	Attribution *flows.Attribution `json:"attribution,omitempty"` // of the registration, as given at its start
	History     []flows.Transition `json:"history"`
	AtProcessor *AtProcessor       `json:"atProcessor,omitempty"` // nil without a processor, or if it could not be read; then Problem says why
	Problem     string             `json:"problem,omitempty"`
	Journal     []JournalEntry     `json:"journal"`
	Snapshot    *flows.Evidence    `json:"snapshot,omitempty"`
	Readings    []flows.Reading    `json:"readings"`
	NextReading *time.Time         `json:"nextReading,omitempty"`
	Notes       []flows.Note       `json:"notes"`
	Advice      []string           `json:"advice"`   // paragraphs
	Commands    []string           `json:"commands"` // that are possible now

	offers       []protocol.Offer
	latestUnread bool // the registration's latest payment could not be read
}

// AtProcessor is the payment as the processor has it.
type AtProcessor struct {
	State     cards.State `json:"state"`
	Captured  int64       `json:"captured"`  // minor units
	Refunded  int64       `json:"refunded"`  // minor units
	Refunding int64       `json:"refunding"` // minor units of pending refunds
	Disputed  bool        `json:"disputed,omitempty"`
}

// JournalEntry is an entry of the processor's journal, such as fd_post_1.
type JournalEntry struct {
	Key   string     `json:"key"`
	Value string     `json:"value"`
	At    *time.Time `json:"at,omitempty"` // nil if the value has no time
}

// Show collects what is known of a payment. A processor that cannot be asked is a Problem
// of the Detail, not an error.
func (m *Machine) Show(ctx context.Context, id flows.PaymentID) (Detail, error) {
	if registration, _ := id.Split(); registration == "" {
		return m.showUnverifiable(ctx, id)
	}
	payment, err := m.payment(ctx, id)
	if err != nil {
		return Detail{}, err
	}
	notes, err := m.cfg.Store.Notes(ctx, id)
	if err != nil {
		return Detail{}, flows.StorageFailed(err)
	}
	detail := Detail{
		Summary:     summary(payment),
		Attribution: payment.Attribution,
		History:     payment.History,
		Journal:     []JournalEntry{},
		Snapshot:    payment.Snapshot,
		Readings:    payment.Readings,
		Notes:       notes,
	}
	if len(detail.History) == 0 {
		detail.History = []flows.Transition{{State: payment.State, At: payment.UpdatedAt, Reason: payment.Reason}}
	}
	if detail.Readings == nil {
		detail.Readings = []flows.Reading{}
	}
	if due, more := protocol.NextReading(payment); more && payment.State == flows.InDoubt {
		detail.NextReading = &due
	}
	now := m.cfg.Now()
	facts := protocol.Facts{}
	if payment.ProcessorID != "" {
		facts.Remote = m.readRemote(ctx, payment, now)
		switch remote := facts.Remote; {
		case remote.Absent != "":
			detail.Problem = remote.Absent
		case remote.Err != nil:
			detail.Problem = "the processor could not be asked"
		default:
			detail.Problem = protocol.Differs(payment, remote)
			detail.AtProcessor = &AtProcessor{
				State:     remote.State,
				Captured:  remote.Captured,
				Refunded:  remote.Refunded,
				Refunding: remote.Refunding,
				Disputed:  remote.Disputed,
			}
			detail.Journal = journalOf(remote.Payment)
		}
	}
	if payment.State == flows.InDoubt {
		if facts.Latest, err = m.latest(ctx, payment); err != nil {
			detail.latestUnread = true
		}
	}
	detail.offers = protocol.Allowed(payment, facts, now)
	detail.advise(payment, facts, now)
	if n := len(payment.Readings); payment.State == flows.InDoubt && n > 0 {
		if rule := m.rule(ctx); rule.Matches(payment, payment.Readings[n-1].Evidence) {
			detail.say("The latest reading matches recorded payments (%s), but it is too long after the attempt to decide: staff may have settled "+
				"the sale since.", rule)
		}
	}
	return detail, nil
}

// journalOf lists what is journaled about claims and operators' decisions: by number, and under it as it happens. Number 0 has the
// acceptance of a payment that was recorded by hand before its first claim.
func journalOf(remote cards.Payment) []JournalEntry {
	entries := []JournalEntry{}
	for n := range protocol.HighestClaim + 1 {
		for _, kind := range []string{"post", "release", "done", "op"} {
			entry := JournalEntry{Key: protocol.EntryName(kind, n)}
			if entry.Value = remote.Metadata[entry.Key]; entry.Value == "" {
				continue
			}
			if at, ok := protocol.AttemptStart(entry.Value); ok {
				entry.At = &at
			}
			entries = append(entries, entry)
		}
	}
	return entries
}

// advise adds what the state means to an operator, and the commands that are possible.
func (d *Detail) advise(payment *flows.Payment, facts protocol.Facts, now time.Time) {
	remote := facts.Remote
	if remote == nil || remote.Absent != "" {
		remote = &protocol.Remote{}
	}
	switch payment.State {
	case flows.InDoubt:
		d.adviseDoubt(payment, facts, remote, now)
	case flows.Blocked:
		d.adviseBlocked(payment, remote)
	case flows.Recorded:
		d.adviseRecorded(payment)
	case flows.Cancelled:
		if payment.Method == flows.InPerson {
			d.say("It was given up, and the club system does not have it. The club must settle by hand what it took at the desk, or return it.")
		} else {
			d.say("Nothing was taken from the buyer. There is nothing to do.")
		}
	case flows.Refunded:
		d.say("The buyer was refunded. There is nothing to do.")
	case flows.Refunding:
		d.say("The refund was requested, and %s is pending at the processor. Frontdesk reads it every few minutes until "+
			"it ends.", flows.Price(remote.Refunding, payment.Currency))
	case flows.Priced, flows.Authorised:
		if payment.OnHold && payment.Method == flows.InPerson {
			d.say("The club system records no payment at present. The payment waits for half an hour at most and is then sent, because staff " +
				"have taken the money.")
			break
		}
		if payment.OnHold {
			d.say("The club system records no payment at present, so nothing was taken. " +
				"The payment continues when the club system records again. If it does not in time, the payment is cancelled.")
			break
		}
		fallthrough
	default:
		d.say("It is in progress and continues automatically; Frontdesk checks it again within minutes.")
	}
	for _, earlier := range payment.Repeats {
		d.say("The same buyer, or a similar one, began to pay for the same offer within a day before: payment %s. "+
			"If the buyer did not want both, undo one of them in the club system and return its money.", earlier)
	}
	if payment.EmailInUse {
		d.say("The buyer's contact lacks the e-mail address that the buyer entered, because another contact has it. "+
			"In the club system, open the contact of %s and look for another one with the same name or phone. "+
			"If both are one person, join them there.", d.sale())
	}
	if d.missing() && !payment.State.Final() && payment.State != flows.Blocked {
		d.say("At the processor: %s. Do the gateways have the key of the account in which it was made? "+
			"After half an hour the payment is blocked, until the processor has it again.", d.Problem)
	}
	for _, offer := range d.offers {
		d.allow(commandOf(offer))
	}
	d.allow("note", `"what you found"`)
}

// commandOf returns the command that makes a decision, and its arguments.
func commandOf(offer protocol.Offer) (command, argument string) {
	override := ""
	if offer.Override {
		override = " --override"
	}
	switch offer.Choice {
	case protocol.ConfirmRecorded:
		return "confirm-recorded", ""
	case protocol.SendAgain:
		return "confirm-not-recorded", "--send-again" + override
	case protocol.GiveBack:
		return "confirm-not-recorded", "--refund" + override
	}
	return "confirm-not-recorded", "--cancel" + override
}

// offered reports whether a decision is possible, with an override or without.
func (d *Detail) offered(choice protocol.Choice) bool {
	return slices.ContainsFunc(d.offers, func(o protocol.Offer) bool { return o.Choice == choice })
}

func (d *Detail) say(format string, of ...any) {
	d.Advice = append(d.Advice, fmt.Sprintf(format, of...))
}

func (d *Detail) allow(command, argument string) {
	d.Commands = append(d.Commands, strings.TrimSpace("frontdesk payments "+command+" "+string(d.ID)+" "+argument))
}

func (d *Detail) adviseRecorded(payment *flows.Payment) {
	switch payment.Finding() {
	case flows.Contradicted:
		d.say("The club system accepted the payment, and the processor contradicts that: %s. Frontdesk refunds no recorded payment: "+
			"a person refunded it there, or the buyer disputes it, or their bank returned a refund.", protocol.FindingReason(payment))
		d.say("In the club system, open %s. Make its books agree with the processor: undo the payment there if the money went back, "+
			"and end the membership if the club wants that. A dispute is answered at the processor. "+
			"Then confirm that the club system has it.", d.sale())
	case flows.RecordedUnsettled:
		d.say("The club system accepted the payment, but: %s. The response may have been another system's, or staff changed the sale. "+
			"Nothing is sent again. Frontdesk reads the sale at least every hour, and this ends when the sale is settled.", payment.SaleVerdict)
		d.say("In the club system, open %s and %s", d.sale(), whatToLookFor(payment))
		d.say("If the payment is on the person's account, settle the sale with it. If it is nowhere, record it there by hand, " +
			"or give the buyer the money back in the processor's pages; not both. Then confirm it here.")
	case flows.PaidTwice:
		d.say("The club system holds the payment, and something else seems to have paid the same sale: "+
			"the contact owed %s before and %s afterwards.",
			flows.Price(*payment.Snapshot.Debt, payment.Currency), flows.Price(*payment.DebtAfter, payment.Currency))
		d.say("In the club system, open the account of the contact of %s. If a member of staff took money for this sale too, "+
			"return one of the two payments, theirs at the desk or this one at the processor, and undo the same one in the club system. "+
			"If the contact paid another debt, nothing is wrong.", d.sale())
	default:
		d.say("The club system holds the payment. There is nothing to do.")
	}
}

func (d *Detail) adviseDoubt(payment *flows.Payment, facts protocol.Facts, remote *protocol.Remote, now time.Time) {
	taken := "The card payment was captured, but"
	if !payment.HasProcessor() {
		taken = "The sale was being settled without a card, but"
	}
	d.say("%s Frontdesk cannot tell whether the club system holds the payment. The buyer was asked not to pay again. Nothing is sent "+
		"again or refunded until you decide.", taken)
	d.say("In the club system, open %s and %s", d.sale(), whatToLookFor(payment))
	if d.latestUnread {
		d.say("It cannot be sent again: the registration cannot be read, so another payment may settle the same sale.")
	} else if rival := protocol.Rival(payment, facts.Latest.Payment); rival != nil {
		d.say("%s", rival.Operator)
	}
	switch {
	case payment.HasProcessor() && d.AtProcessor == nil:
		d.say("Nothing can be decided now: %s.", d.Problem)
		return
	case payment.HasProcessor() && protocol.Undecidable(payment, remote) != nil:
		d.say("%s", protocol.Undecidable(payment, remote).Operator)
		return
	case remote.State == cards.Refunded:
		d.say("The payment was refunded in full at the processor. If the club system holds it, undo it there, then decide here; " +
			"nothing more is refunded.")
	}
	if from := protocol.NotRecordedFrom(payment, facts.Remote); now.Before(from) {
		d.say("\"Not recorded\" can be decided from %s: until then, the request may still arrive.", from.UTC().Format(protocol.TimeFormat))
		return
	}
	if protocol.SeenSettled(payment) {
		d.say("The sale is settled. Only if something else certainly settled it, such as cash at the desk, is the payment not recorded.")
	}
}

// whatToLookFor describes what the club system shows of a recorded payment, since the payment was made:
// the history of a rebuilt one begins only after what was sent.
func whatToLookFor(payment *flows.Payment) string {
	price, from := flows.Price(payment.Amount, payment.Currency), payment.CreatedAt.UTC().Format(protocol.TimeFormat)
	switch payment.Method {
	case flows.Deferred:
		return fmt.Sprintf("see whether it was deferred to %s since %s, and whether the contact owes %s for it. A deferral makes no payment: "+
			"do not look for one.", payment.DueDate, from, price)
	case flows.Free:
		return fmt.Sprintf("see whether it was validated since %s, and whether its products are with the contact. "+
			"Nothing was due, so no payment exists.", from)
	default:
		return fmt.Sprintf("look for exactly one payment of %s %s, made since %s; one by any other means is not this payment. Look at the "+
			"person's account as well: a payment can be there without settling the sale.", price, by(payment), from)
	}
}

// by says how the club system shows that a payment was made.
func by(payment *flows.Payment) string {
	switch {
	case payment.HasProcessor():
		return "by card online (" + club.MeanCBWeb + ")"
	case payment.Desk == nil:
		return "at the desk"
	default:
		return "at the desk (" + payment.Desk.Mean + ")"
	}
}

func (d *Detail) adviseBlocked(payment *flows.Payment, remote *protocol.Remote) {
	d.say("Frontdesk has stopped working on this payment: %s. The buyer was asked not to pay again.", payment.Reason)
	switch {
	case !payment.HasProcessor():
		d.say("No card processor took part. In the club system, open %s and %s", d.sale(), whatToLookFor(payment))
		d.say("Something else may have settled the sale. If nothing has, settle it there by hand. Then tell the buyer, and end the payment here.")
		d.adviseEnd()
		return
	case payment.ProcessorID == "":
		d.say("As far as Frontdesk knows, the payment was never created at the processor. Search there for registration %s in the metadata; "+
			"if nothing is found, nothing was captured.", payment.Registration)
	case d.missing():
		d.say("At the processor: %s. Do the gateways have the key of the account in which %s was made? frontdesk doctor shows the account. "+
			"Once the processor has the payment again, Frontdesk continues it.", d.Problem, payment.ProcessorID)
	case d.AtProcessor == nil:
		d.say("At the processor: %s. Find %s there, and check whether money was captured.", d.Problem, payment.ProcessorID)
	default:
		differs := ""
		if d.Problem != "" {
			differs = " Also now " + d.Problem + "."
		}
		d.say("At the processor, payment %s is %s: %s captured, %s refunded, where %s was agreed.%s", payment.ProcessorID, remote.State,
			flows.Price(remote.Captured, remote.Currency), flows.Price(remote.Refunded, remote.Currency),
			flows.Price(payment.Amount, payment.Currency), differs)
	}
	if payment.Reason == protocol.HeldAfterAll && remote.State == cards.Captured {
		d.say("It was cancelled while the processor did not show it, such as with another account's key. " +
			"The buyer has read that nothing was charged.")
	}
	if slices.Contains(d.offers, protocol.Offer{Choice: protocol.GiveBack}) {
		d.adviseRefund(remote)
		return
	}
	d.say("In the club system, check whether %s is settled, and by what.", d.sale())
	d.say("If the money was kept and the sale is not settled: either record the payment by hand in the club system, or refund it at the " +
		"processor; not both. If the sale is settled and no money was kept: the club must collect it or undo the sale. Then tell the buyer, " +
		"and end the payment here.")
	d.adviseEnd()
	if d.offered(protocol.GiveBack) {
		d.say("Only if the processor will never have it again, and the buyer certainly has the money back, end it as refunded.")
	}
}

// adviseRefund says when a blocked payment is to be refunded.
func (d *Detail) adviseRefund(remote *protocol.Remote) {
	byBank := "Answer the dispute at the processor. If you lost or accepted it, the bank has given the money back: " +
		"end the payment as refunded, with --override. If you won it, request the refund."
	switch {
	case remote.State == cards.Captured && remote.OtherMethod == "" && !remote.Journal.RefundClaimed():
		d.say("In the club system, check whether %s is settled, and by what. If it is open and the buyer still wants the offer, "+
			"record the payment there by hand, then confirm that it is recorded. Otherwise request the refund.", d.sale())
		if remote.Disputed {
			d.say("The buyer demanded the money back from their bank. %s", byBank)
		}
	case remote.State == cards.Refunded:
		d.say("If the club system holds the payment, undo it there. Then end the payment here; nothing more is refunded.")
	case remote.Disputed:
		d.say("The club system does not hold the payment, and the buyer demanded the money back from their bank. %s", byBank)
	default:
		d.say("The club system does not hold the payment, so the buyer must be refunded. Once the processor's balance and the key's " +
			"permissions allow it, request the refund.")
	}
}

func (d *Detail) missing() bool {
	return d.Problem == protocol.UnknownThere || d.Problem == protocol.ForeignThere
}

// adviseEnd says when a blocked payment that was settled by hand is ended as not recorded, if that is possible.
func (d *Detail) adviseEnd() {
	if d.offered(protocol.CallOff) {
		d.say("Without a payment at the club and without money kept, end it as not recorded; if something else settled the sale, add --override.")
	}
}

func (d *Detail) sale() string {
	if d.ContactNumber == "" {
		return "sale " + string(d.Sale)
	}
	return "sale " + string(d.Sale) + " of contact number " + d.ContactNumber
}
