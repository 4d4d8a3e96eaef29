package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"frontdesk/e2e/campaign"
	"frontdesk/flows"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
)

// The invariants that need all journeys together.
const (
	BookedWithoutPayment = "the club system booked a sale for which the processor holds no payment"
	AuditFailed          = "the club system's audit reports an error"
)

const canaryDomain = "@canary.example" // in the address of every buyer, see campaign.NewCanary

// accounts are everyone's records when all journeys are over.
type accounts struct {
	ledger       []clubsim.LedgerEntry        // the club system's, oldest first
	cardPayments map[string][]sandbox.Payment // by registration, the latest generation last
	records      map[string]campaign.Record   // in Redis, see Harness.records
	contacts     map[string]int               // in the club system, by given name
}

// Check compares the club system's ledger, the processor's payments, the gateways' states and what
// the buyers saw. Journeys must be complete.
func (h *Harness) Check(journeys []*Journey) []campaign.Violation {
	a := h.collectAccounts()
	found := h.checkAcrossJourneys(a)
	for _, j := range journeys {
		for _, v := range j.evidence(a).Violations() {
			v.Trace = j.traced(a)
			found = append(found, v)
		}
	}
	return found
}

func (h *Harness) collectAccounts() accounts {
	accounts := accounts{
		ledger:       h.Upstreams.Sim.Ledger(),
		cardPayments: map[string][]sandbox.Payment{},
		records:      h.records(),
		contacts:     map[string]int{},
	}
	for _, contact := range h.Upstreams.Sim.Contacts() {
		accounts.contacts[contact.GivenName]++
	}
	for _, p := range slices.Backward(h.Upstreams.Cards.Payments()) {
		if p.Metadata["fd_environment"] == "test" { // others are not ours
			registration := p.Metadata["fd_registration"]
			accounts.cardPayments[registration] = append(accounts.cardPayments[registration], p)
		}
	}
	return accounts
}

// Sale returns the IRI of a registration's sale; empty before its payment has begun.
func (h *Harness) Sale(registration string) string {
	for _, p := range h.Upstreams.Cards.Payments() {
		if p.Metadata["fd_registration"] == registration {
			return p.Metadata["fd_sale"]
		}
	}
	return ""
}

// Booked reports whether the club system has booked a payment that a gateway sent for a sale.
func (h *Harness) Booked(sale string) bool {
	return slices.ContainsFunc(h.Upstreams.Sim.Ledger(), func(e clubsim.LedgerEntry) bool { return e.SaleID == sale && e.Mean != deskMean })
}

// checkAcrossJourneys finds violations that belong to no single journey.
func (h *Harness) checkAcrossJourneys(accounts accounts) (found []campaign.Violation) {
	paid := map[string]bool{}
	for _, held := range accounts.cardPayments {
		for _, p := range held {
			paid[p.Metadata["fd_sale"]] = true
		}
	}
	byStaff := map[string]bool{}
	for _, entry := range accounts.ledger {
		if entry.Mean == deskMean {
			byStaff[entry.SaleID] = true
		} else if !paid[entry.SaleID] {
			found = append(found, campaign.Violation{Invariant: BookedWithoutPayment, Detail: fmt.Sprintf("%s with %d", entry.SaleID, entry.Amount)})
		}
	}
	for _, g := range h.Gateways {
		if strings.Contains(g.Log(), canaryDomain) {
			found = append(found, campaign.LeakViolation("a gateway's log", "", []string{"an address " + canaryDomain}))
		}
	}
	audit := h.Upstreams.Sim.Audit()
	// A sale that staff settled too is judged by its journey, which knows the order.
	twice := slices.DeleteFunc(audit.SalesPaidTwice, func(p clubsim.PaidTwice) bool { return byStaff[p.SaleID] })
	idle := slices.DeleteFunc(audit.PaymentsSettlingNothing, func(p clubsim.UnallocatedPayment) bool { return byStaff[p.SaleID] })
	if len(twice)+len(idle)+len(audit.UndeliverableSMS)+len(audit.Unbalanced) > 0 {
		found = append(found, campaign.Violation{Invariant: AuditFailed, Detail: fmt.Sprintf("%+v", audit)})
	}
	return found
}

func (j *Journey) evidence(accounts accounts) campaign.Evidence {
	evidence := campaign.Evidence{
		Registration:    j.Registration(),
		Due:             j.Due,
		State:           j.State,
		Responses:       j.responses,
		StrangersServed: j.served,
		StateByPayment:  map[string]string{},
	}
	if !j.again {
		evidence.Contacts = accounts.contacts[j.name]
	}
	for _, payment := range accounts.cardPayments[j.Registration()] {
		evidence.Sale = payment.Metadata["fd_sale"]
		evidence.CardPayments = append(evidence.CardPayments, campaign.CardPayment{
			ID:         payment.ID,
			Generation: payment.Metadata["fd_generation"],
			Captured:   payment.Captured,
			Refunded:   payment.Refunded,
		})
		if record, known := accounts.records[paymentKey(payment)]; known {
			evidence.Records = append(evidence.Records, record)
			evidence.StateByPayment[payment.ID] = string(record.State)
			if record.State == flows.Blocked { // the public API has the same word for both
				evidence.StateByPayment[payment.ID] = string(flows.InDoubt)
			}
		}
		evidence.ProcessorID = payment.ID
		// The rule's decisions are sealed in Redis; it needs an attempt to decide on.
		evidence.ByRule = evidence.ByRule || campaign.Attempted(payment.Metadata)
	}
	var deskAt time.Time
	for _, entry := range accounts.ledger {
		if entry.SaleID != evidence.Sale {
			continue
		}
		if entry.Mean == deskMean {
			evidence.Desk, deskAt = append(evidence.Desk, int64(entry.Amount)), entry.At
			continue
		}
		evidence.Booked = append(evidence.Booked, int64(entry.Amount))
		if len(evidence.Desk) > 0 {
			evidence.SentAfterDesk = entry.At.Sub(deskAt) // the last of ours after the last of theirs
		}
	}
	_, evidence.FalselyAccepted = j.harness.accepted.Load("/sim" + evidence.Sale + "/payments")
	if j.Forgotten || evidence.State == "" {
		evidence.State = evidence.StateByPayment[evidence.ProcessorID]
	}
	return evidence
}

// traced returns a journey's trace, with its payments at the processor.
func (j *Journey) traced(accounts accounts) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := slices.Clone(j.trace)
	for _, p := range accounts.cardPayments[j.Registration()] {
		lines = append(lines, fmt.Sprintf("the processor holds %s: %s, captured %d, refunded %d; Redis says %+v",
			p.ID, p.State, p.Captured, p.Refunded, accounts.records[paymentKey(p)]))
		for _, key := range slices.Sorted(maps.Keys(p.Metadata)) {
			lines = append(lines, "  "+key+" "+p.Metadata[key])
		}
	}
	return lines
}
