package rig

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontdesk/e2e/campaign"
	"frontdesk/upstream/cards/sandbox"
)

// The invariants that only a look at all journeys together can hold.
const (
	// SecondPayment: pressing again, at whichever gateway, finds the payment that there is.
	SecondPayment = "the processor holds several payments of one sale and generation"
	// BookedWithoutPayment: what the club system booked belongs to a payment of the processor.
	BookedWithoutPayment = "the club system booked a sale for which the processor holds no payment"
	// AuditFailed: the club system's own audit has something to say.
	AuditFailed = "the club system's audit finds fault"
)

// canaryDomain is in the address of every buyer, see campaign.NewCanary.
const canaryDomain = "@canary.example"

// accounts are the accounts of everybody, by registration or by sale.
type accounts struct {
	booked       map[string][]int64           // minor units, by sale
	cardPayments map[string][]sandbox.Payment // by registration, the latest generation last
	states       map[string]string            // in Redis, see Rig.states
}

// Check holds the club system's ledger, the processor's list, the gateways' words and
// what the buyers were told against each other. Journeys has to hold all there were.
func (r *Harness) Check(ctx context.Context, journeys []*Journey) ([]campaign.Violation, error) {
	b, err := r.collectAccounts(ctx)
	if err != nil {
		return nil, err
	}
	found, err := r.checkAcrossJourneys(ctx, b)
	if err != nil {
		return nil, err
	}
	for _, j := range journeys {
		if j.Registration == "" {
			continue
		}
		for _, v := range j.evidence(b).Violations() {
			v.Trace = j.traced(b)
			found = append(found, v)
		}
	}
	return found, nil
}

func (r *Harness) collectAccounts(ctx context.Context) (accounts, error) {
	b := accounts{booked: map[string][]int64{}, cardPayments: map[string][]sandbox.Payment{}}
	ledger, err := r.Upstreams.Ledger(ctx)
	if err != nil {
		return b, err
	}
	for _, entry := range ledger {
		b.booked[entry.SaleID] = append(b.booked[entry.SaleID], int64(entry.Amount))
	}
	held, err := r.Upstreams.Payments(ctx)
	if err != nil {
		return b, err
	}
	for _, p := range slices.Backward(held) {
		of := p.Metadata["fd_registration"]
		if p.Metadata["fd_environment"] != "test" {
			continue // somebody else's
		}
		b.cardPayments[of] = append(b.cardPayments[of], p)
	}
	b.states, err = r.paymentStates(ctx)
	return b, err
}

// Booked tells of which registrations the club system has booked the sale.
func (r *Harness) Booked(ctx context.Context) (map[string]bool, error) {
	ledger, err := r.Upstreams.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	sales := map[string]bool{}
	for _, entry := range ledger {
		sales[entry.SaleID] = true
	}
	held, err := r.Upstreams.Payments(ctx)
	booked := map[string]bool{}
	for _, p := range held {
		booked[p.Metadata["fd_registration"]] = sales[p.Metadata["fd_sale"]]
	}
	return booked, err
}

// checkAcrossJourneys finds what belongs to no single journey.
func (r *Harness) checkAcrossJourneys(ctx context.Context, b accounts) (found []campaign.Violation, err error) {
	paid := map[string]bool{}
	for registration, held := range b.cardPayments {
		generations := map[string]string{}
		for _, p := range held {
			paid[p.Metadata["fd_sale"]] = true
			generation := p.Metadata["fd_generation"]
			if other, double := generations[generation]; double {
				found = append(found, campaign.Violation{Invariant: SecondPayment, Registration: registration,
					Detail: fmt.Sprintf("%s and %s of generation %s", other, p.ID, generation)})
			}
			generations[generation] = p.ID
		}
	}
	for sale, amounts := range b.booked {
		if !paid[sale] {
			found = append(found, campaign.Violation{Invariant: BookedWithoutPayment, Detail: fmt.Sprintf("%s with %v", sale, amounts)})
		}
	}
	for _, g := range r.Gateways {
		if strings.Contains(g.Log(), canaryDomain) {
			found = append(found, campaign.LeakViolation("a gateway's log", "", []string{"an address " + canaryDomain}))
		}
	}
	audit, err := r.Upstreams.Audit(ctx)
	if err == nil && !audit.OK {
		found = append(found, campaign.Violation{Invariant: AuditFailed, Detail: fmt.Sprintf("%+v", audit)})
	}
	return found, err
}

// evidence is all that is known of one journey.
func (j *Journey) evidence(b accounts) campaign.Evidence {
	e := campaign.Evidence{Registration: j.Registration, Due: j.Due, State: j.State, Responses: j.responses, QuietFor: campaign.QuietPeriod, StateByPayment: map[string]string{}}
	for _, p := range b.cardPayments[j.Registration] {
		e.Sale = p.Metadata["fd_sale"]
		e.CardPayments = append(e.CardPayments, campaign.CardPayment{ID: p.ID, Captured: p.Captured, Refunded: p.Refunded})
		e.StateByPayment[p.ID] = publicState(b.states[paymentName(j.Registration, p.Metadata["fd_generation"])])
		e.ProcessorID = p.ID
	}
	e.Booked = b.booked[e.Sale]
	if j.Forgotten || e.State == "" {
		e.State = e.StateByPayment[e.ProcessorID]
	}
	return e
}

// publicState puts a state that Redis holds into the words of the public API, as far as an
// end is concerned.
func publicState(state string) string {
	if state == "blocked" {
		return "in_doubt"
	}
	return state
}

// traced is what there is to tell about a journey.
func (j *Journey) traced(b accounts) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := slices.Clone(j.trace)
	for _, p := range b.cardPayments[j.Registration] {
		generation := p.Metadata["fd_generation"]
		lines = append(lines, fmt.Sprintf("the processor holds %s: %s, captured %d, refunded %d; Redis says %q", p.ID, p.State, p.Captured, p.Refunded,
			b.states[paymentName(j.Registration, generation)]))
		for _, key := range slices.Sorted(maps.Keys(p.Metadata)) {
			lines = append(lines, "  "+key+" "+p.Metadata[key])
		}
	}
	return lines
}
