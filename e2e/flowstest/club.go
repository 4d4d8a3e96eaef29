package flowstest

import (
	"net/http"
	"path"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// oneAttempt shows faults instead of retrying them away. A slow response means a busy machine.
var oneAttempt = club.Limits{MaxAttempts: 1, ReadTimeout: time.Minute, AttemptTimeout: time.Minute, QueueTimeout: time.Minute}

func (w *World) clubClient(address string, limits club.Limits) *club.Client {
	saleState := club.SaleStateMember
	if w.Mute {
		saleState = club.SaleStateCheck
	}
	return club.New(club.Config{
		BaseURL:      "http://" + address + "/sim",
		ClientID:     clubsim.DemoClientID,
		ClientSecret: clubsim.DemoClientSecret,
		GatewayKey:   clubsim.DemoGatewayKey,
		SaleState:    saleState,
		LimitHeaders: true,
		Now:          w.Clock.Now,
		Limits:       limits,
	})
}

// Recording matches the call that records a payment in the club system.
var Recording = clubsim.FaultMatch{Method: "POST", Path: "/sales/*/payments"}

// Posted counts the calls that tried to record a payment.
func (w *World) Posted() (n int) {
	for _, request := range w.Sim.Requests() {
		if match, _ := path.Match("/sales/*/payments", request.Path); match && request.Method == http.MethodPost {
			n++
		}
	}
	return n
}

// Calls counts reads from the club system by a path such as /sales/*.
func (w *World) Calls(pattern string) (n int) {
	for _, request := range w.Sim.Requests() {
		if match, _ := path.Match(pattern, request.Path); match && request.Method == http.MethodGet {
			n++
		}
	}
	return n
}

// Lines returns the ledger's entries for a payment's sale.
func (w *World) Lines(payment *flows.Payment) (lines []clubsim.LedgerEntry) {
	for _, entry := range w.Sim.Ledger() {
		if entry.SaleID == string(payment.Sale) {
			lines = append(lines, entry)
		}
	}
	return lines
}

// PayAtDesk records a payment in cash in the club system, as staff do.
func (w *World) PayAtDesk(payment *flows.Payment) {
	w.Helper()
	Must(w, func() (club.Receipt, error) {
		return frontdesktest.PayAtDesk(w.Context(), w.Club, Bastille, payment.Sale)
	})
}

// RemoveSale makes the club system no longer know a sale.
func (w *World) RemoveSale(sale club.IRI) {
	w.Helper()
	var faults []clubsim.Fault
	for _, below := range []string{"", "/*"} {
		faults = append(faults, clubsim.Fault{
			Match: clubsim.FaultMatch{Path: "/sales/" + sale.ID() + below}, Kind: "error_before", Status: http.StatusNotFound,
		})
	}
	w.Fault(faults...)
}

// Persona returns a contact that the club system knows, with fresh tokens.
func (w *World) Persona(key string) clubsim.Persona {
	w.Helper()
	for _, p := range w.Sim.Personas() {
		if p.Key == key {
			return p
		}
	}
	w.Fatalf("no persona %s", key)
	return clubsim.Persona{}
}

// FoundByEmail lists the registrations that an erasure finds by a known contact's e-mail address at the club.
func (w *World) FoundByEmail(gateway *Gateway, known clubsim.Persona) []string {
	w.Helper()
	contact := Must(w, func() (club.Contact, error) {
		return w.Club.GetContact(w.Context(), Bastille, club.IRI(known.ContactID))
	})
	if contact.Email == "" || contact.Email == "ada@example.com" {
		w.Fatalf("%s has the e-mail address %q", known.Key, contact.Email)
	}
	names := NewKeyring(w, "one").PersonPseudonyms("demo", contact.Email, "")
	return Must(w, func() ([]string, error) { return gateway.Store.RegistrationsOfPerson(w.Context(), names...) })
}

// SimulatorsRule recognises a paid sale of the simulator.
func SimulatorsRule() *flows.Rule {
	return &flows.Rule{Conditions: []flows.Condition{{Signal: flows.SignalSaleState, Before: "building", After: "settled"}}}
}
