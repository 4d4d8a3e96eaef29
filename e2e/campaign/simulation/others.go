package simulation

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// scheduleDesk has the club's staff settle the sale at some moment: while the buyer pays, while things
// fail, or while operators decide.
func (f *journey) scheduleDesk() {
	if f.plan.desk {
		f.after(f.between(0, oneOf(f, 40*time.Second, f.plan.faultWindow, operatorsLatest)), f.settleAtDesk)
	}
}

// settleAtDesk has staff take cash for the sale in the club system's own screens, if it is still open there.
func (f *journey) settleAtDesk() {
	if f.applied() {
		return
	}
	receipt, err := frontdesktest.PayAtDesk(context.Background(), f.clubClient(), deskScope, club.IRI(f.sale()))
	if err != nil {
		f.tracef("the desk: %v", err)
		return
	}
	f.desk, f.deskAt = append(f.desk, string(receipt.Payment)), f.Now()
	f.fault(deskSettled)
}

// sellOnCredit has staff sell the buyer something else on credit first.
func (f *journey) sellOnCredit() error {
	ctx, client, scope := context.Background(), f.clubClient(), deskScope
	cart, err := client.GetSale(ctx, scope, club.IRI(f.sale()))
	if err != nil {
		return fmt.Errorf("the sale was not read: %w", err)
	}
	sale, err := client.CreateSale(ctx, scope, club.NewSale{
		Contact:    cart.Contact,
		Club:       cart.Club,
		ClubCode:   cart.ClubCode,
		FamilyName: cart.FamilyName,
		GivenName:  cart.GivenName,
		Number:     cart.Number,
		Address:    cart.Address,
	})
	f.others = append(f.others, string(sale.IRI))
	if err == nil {
		err = client.AddArticle(ctx, scope, sale.IRI, club.NewArticle{Offer: "/demo/offers/2501"})
	}
	if err == nil {
		err = client.PostponeDue(ctx, scope, sale.IRI, f.Now().AddDate(0, 0, 14).Format(time.DateOnly), nil)
	}
	if err != nil {
		return fmt.Errorf("nothing was sold on credit: %w", err)
	}
	return nil
}

var deskScope = club.Scope{ClientToken: "demo", Club: "/demo/clubs/11", Node: "/demo/network_nodes/3"}

// engageBrake has other payments of the organisation end with an unknown outcome, in half of the journeys right after so many
// accepted ones that it takes one more. Another one then probes for a while, so this journey's payment must wait.
func (f *journey) engageBrake() error {
	ctx, now := context.Background(), f.Now()
	accepted, unknown := 0, protocol.MaxUnknown
	if f.chance(0.5) {
		unknown++
		accepted = unknown * protocol.AcceptedPerUnknown
	}
	results := slices.Concat(
		slices.Repeat([]flows.BrakeResult{flows.BrakeAccepted}, accepted),
		slices.Repeat([]flows.BrakeResult{flows.BrakeUnknown}, unknown))
	for n, result := range results {
		_, err := f.store.CountOutcome(ctx, flows.BrakeOutcome{
			Organisation:       "demo",
			Payment:            flows.NewPaymentID("another", n),
			Began:              now,
			Now:                now,
			Result:             result,
			MaxUnknown:         protocol.MaxUnknown,
			MaxUnknownInCrowd:  protocol.MaxUnknownInCrowd,
			AcceptedPerUnknown: protocol.AcceptedPerUnknown,
		})
		if err != nil {
			return fmt.Errorf("the brake did not count: %w", err)
		}
	}
	probe := flows.BrakeRequest{Organisation: "demo", Payment: "another-99", Now: now, Lease: f.plan.brakeFor}
	_, err := f.store.AskBrake(ctx, probe)
	f.heldUntil = now.Add(f.plan.brakeFor)
	f.fault(brakeEngaged)
	return err
}

// noteCaptures notes the payments that were captured although the brake held, unless Redis lost the brake. In some journeys
// Redis falls back then.
func (f *journey) noteCaptures() {
	for _, payment := range f.sandbox.Payments() {
		if payment.Captured > 0 && f.plan.fallsBackThen {
			f.plan.fallsBackThen = false
			f.after(0, f.fallBack) // before a gateway can tell Redis
		}
		if payment.Captured > 0 && f.Now().Before(f.heldUntil) && f.epochs == 0 && !slices.Contains(f.chargedHeld, payment.ID) {
			f.chargedHeld = append(f.chargedHeld, payment.ID)
		}
	}
}

// authorisedFor is how long after the buyer's authorisation a gateway may begin to take the money.
const authorisedFor = time.Hour

// noteLateCapture notes a request to take money that a task sends although its payment's time was over when the task began. A
// gateway cannot know the time any more once Redis has lost it.
func (f *journey) noteLateCapture(r *http.Request, t *task) {
	id, isCapture := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/sandbox/v1/payment_intents/"), "/capture")
	if !isCapture || f.epochs > 0 {
		return
	}
	if !slices.ContainsFunc(f.sandbox.Payments(), func(held sandbox.Payment) bool { return held.ID == id && held.State == cards.Authorised }) {
		return // a repetition takes nothing
	}
	for _, p := range f.storedPayments() {
		if p.ProcessorID == id && t.began.After(p.Since(flows.Authorised).Add(authorisedFor)) {
			f.chargedLate = append(f.chargedLate, id)
		}
	}
}

// scheduleStranger has a stranger with the registration's address request it repeatedly.
func (f *journey) scheduleStranger() {
	if !f.plan.stranger {
		return
	}
	for range 1 + f.rng.IntN(5) {
		f.spawn(f.between(0, f.plan.faultWindow), f.askAsStranger)
	}
}

// askAsStranger sends requests for what only the holder may have, with a token that was never issued.
func (f *journey) askAsStranger(ctx context.Context, t *task) {
	forged := "x" + f.token[1:]
	if forged == f.token {
		forged = "y" + f.token[1:]
	}
	what := oneOf(f, "pay", "abandon", "look")
	f.fault(strangerAsked)
	var err error
	switch what {
	case "pay":
		_, err = t.gateway.registrations.Pay(ctx, f.registration, forged, flows.StartPayment{Method: flows.ByCard})
	case "abandon":
		_, err = t.gateway.registrations.Abandon(ctx, f.registration, forged)
	default:
		_, err = t.gateway.registrations.Get(ctx, f.registration, forged)
	}
	f.tracef("%s: a stranger: %s: %v", t.gateway.name, what, err)
	if err == nil {
		f.served = append(f.served, what)
	}
}

// Operators look at payments in doubt as soon as they may decide, or well after.
const (
	operatorsEarliest = 15 * time.Minute
	operatorsLatest   = 50 * time.Minute
)

// operate has an operator decide on payments in doubt or blocked, by the club system's ledger at that
// moment: the one thing that an operator can see and the gateways cannot.
func (f *journey) operate() {
	for _, p := range f.storedPayments() {
		switch p.State {
		case flows.InDoubt:
			f.spawn(0, func(ctx context.Context, t *task) { f.decide(ctx, t, p) })
		case flows.Blocked:
			f.spawn(0, func(ctx context.Context, t *task) { f.refundAgain(ctx, t, p) })
		}
	}
}

func (f *journey) decide(ctx context.Context, t *task, stuck *flows.Payment) {
	holds := f.settledByUs()
	if stuck.HasProcessor() {
		holds = len(f.booked()) > 0 // else another method or staff settled the sale, and the card's money goes back
	}
	byOthers := len(f.desk) > 0 || !holds && f.applied()
	word := flows.Decision{Operator: "op", Reason: "I looked", Override: byOthers}
	var err error
	var what string
	if holds {
		what = opRecorded
		_, err = t.gateway.payments.ConfirmRecorded(ctx, stuck.ID, word)
	} else {
		then := payment.SendAgain
		what = opAgain
		switch {
		case stuck.HasProcessor() && (byOthers || f.chance(0.5)):
			then, what = payment.Refund, opRefund
		case !stuck.HasProcessor() && (byOthers || f.chance(0.5)):
			then, what = payment.Cancel, opGaveUp
		}
		_, err = t.gateway.payments.ConfirmNotRecorded(ctx, stuck.ID, then, word)
	}
	if t.dead.Load() {
		return
	}
	f.tracef("%s: %s %s: %v", t.gateway.name, what, stuck.ID, err)
	if err == nil {
		f.fault(what)
	}
	if err != nil && flows.CodeOf(err) == flows.TooEarly {
		f.after(f.between(time.Minute, operatorsEarliest), f.operate)
	}
}

func (f *journey) refundAgain(ctx context.Context, t *task, stuck *flows.Payment) {
	decision := flows.Decision{Operator: "op", Reason: "the balance suffices now"}
	_, err := t.gateway.payments.ConfirmNotRecorded(ctx, stuck.ID, payment.Refund, decision)
	if t.dead.Load() {
		return
	}
	f.tracef("%s: %s %s: %v", t.gateway.name, opRefundAgain, stuck.ID, err)
	if err == nil {
		f.fault(opRefundAgain)
	}
}

// cancelledAndOpen returns the payments that count as cancelled and that the processor can still charge.
func (f *journey) cancelledAndOpen() (ids []string) {
	for _, p := range f.storedPayments() {
		open := func(held sandbox.Payment) bool {
			return held.ID == p.ProcessorID && !slices.Contains([]cards.State{cards.Cancelled, cards.Captured, cards.Refunded}, held.State)
		}
		if p.State == flows.Cancelled && slices.ContainsFunc(f.sandbox.Payments(), open) {
			ids = append(ids, string(p.ID))
		}
	}
	return ids
}

// reservedForGood returns the processor's payments that stay authorised although no operator is asked about them.
func (f *journey) reservedForGood() (ids []string) {
	stored := f.storedPayments()
	for _, held := range f.sandbox.Payments() {
		asked := func(p *flows.Payment) bool {
			return p.ProcessorID == held.ID && (p.State == flows.Blocked || p.State == flows.InDoubt)
		}
		if held.State == cards.Authorised && !slices.ContainsFunc(stored, asked) {
			ids = append(ids, held.ID)
		}
	}
	return ids
}

// undecidable returns the payments that wait for an operator although the gateway refuses each decision that it offers.
// It decides on the others, so it comes last.
func (f *journey) undecidable() (ids []string) {
	for _, payment := range f.storedPayments() {
		if payment.State != flows.Blocked && payment.State != flows.InDoubt {
			continue
		}
		payments := f.gateways[0].payments
		if _, err := payments.Advance(context.Background(), payment.ID); err != nil {
			f.tracef("%s does not advance: %v", payment.ID, err)
		}
		detail, err := payments.Show(context.Background(), payment.ID)
		if err != nil || detail.State == payment.State && !f.decideAsOffered(detail) {
			ids = append(ids, string(payment.ID))
		}
	}
	return ids
}

// decideAsOffered has an operator run the commands that a payment's page offers, until one is accepted. A refused one is
// repeated with the override that the refusal names.
func (f *journey) decideAsOffered(detail payment.Detail) bool {
	ctx, payments := context.Background(), f.gateways[0].payments
	for _, command := range detail.Commands {
		for _, override := range []bool{strings.Contains(command, "--override"), true} {
			word := flows.Decision{Operator: "op", Reason: "the journey is over", Override: override}
			var err error
			switch {
			case strings.Contains(command, " confirm-recorded "):
				_, err = payments.ConfirmRecorded(ctx, detail.ID, word)
			case strings.Contains(command, "--send-again"):
				_, err = payments.ConfirmNotRecorded(ctx, detail.ID, payment.SendAgain, word)
			case strings.Contains(command, "--refund"):
				_, err = payments.ConfirmNotRecorded(ctx, detail.ID, payment.Refund, word)
			case strings.Contains(command, "--cancel"):
				_, err = payments.ConfirmNotRecorded(ctx, detail.ID, payment.Cancel, word)
			default:
				continue
			}
			if err == nil {
				return true
			}
			f.tracef("%s: %v", command, err)
		}
	}
	return false
}

const building = "building" // the state of a sale that nothing has settled

// sales returns all sales of the registration, the oldest first: one that the club system seems to have lost is replaced.
func (f *journey) sales() []clubsim.Sale {
	return slices.DeleteFunc(f.sim.Sales(), func(sale clubsim.Sale) bool { return slices.Contains(f.others, sale.ID) })
}

// sale returns the sale that the buyer sees or pays, and shows to staff: that of the latest payment at the processor, or
// else the registration's; if Redis has lost that, the latest.
func (f *journey) sale() string {
	if payments := f.sandbox.Payments(); len(payments) > 0 && payments[0].Metadata["fd_sale"] != "" {
		return payments[0].Metadata["fd_sale"]
	}
	if r, _, err := f.store.Registration(context.Background(), f.registration); err == nil && r.Sale != "" {
		return string(r.Sale)
	}
	sales := f.sales()
	return sales[len(sales)-1].ID
}

// saleOfInterest returns the sale that was settled; if none was, the latest.
func (f *journey) saleOfInterest() clubsim.Sale {
	sales := f.sales()
	settled := slices.IndexFunc(sales, func(sale clubsim.Sale) bool { return sale.State != building })
	if settled < 0 {
		settled = len(sales) - 1
	}
	return sales[settled]
}

// applied reports whether the club system has settled a sale of the registration, for any payer and by any method.
func (f *journey) applied() bool { return f.saleOfInterest().State != building || len(f.booked()) > 0 }

func (f *journey) settledByUs() bool {
	return len(f.booked())+len(f.settlements) > 0 || f.applied() && len(f.desk) == 0
}

// booked returns the payments that the club system booked for the registration's sales, except those of its staff.
func (f *journey) booked() []int64 { return f.amounts(false) }

func (f *journey) amounts(byStaff bool) (amounts []int64) {
	for _, entry := range f.sim.Ledger() {
		if !slices.Contains(f.others, entry.SaleID) && slices.Contains(f.desk, entry.ID) == byStaff {
			amounts = append(amounts, int64(entry.Amount))
		}
	}
	return amounts
}
