package registration_test

import (
	"path"
	"strings"
	"testing"

	"frontdesk/flows"
)

// proofOf returns the proof in the address of a payment's card page.
func (w *world) proofOf(g *gateway, id flows.PaymentID) string {
	w.Helper()
	address := g.Registrations.CardPageURL(id)
	if before := "https://club.example/pay/" + string(id) + "/"; !strings.HasPrefix(address, before) {
		w.Fatalf("the card page is at %s", address)
	}
	return path.Base(address)
}

// cardPage reads a payment as its card page does.
func (w *world) cardPage(g *gateway, id flows.PaymentID, proof string) flows.ShownPayment {
	w.Helper()
	return must(w, func() (flows.ShownPayment, error) { return g.Registrations.CardPage(w.Context(), id, proof) })
}

// TestCardPageNeedsItsProof: each payment has an address of its own, which only a configured seal key makes.
func TestCardPageNeedsItsProof(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p, other := w.Started(g), w.Started(g)
	proof := w.proofOf(g, p.ID)
	if shown := w.cardPage(g, p.ID, proof); shown.ID != p.ID || shown.ReturnURL != "https://club.example/?registration="+p.Registration {
		t.Errorf("the page shows %+v", shown)
	}
	flipped := "A" + proof[1:]
	if flipped == proof {
		flipped = "B" + proof[1:]
	}
	reads := w.Reads.Load()
	elsewhere := w.Gateway(gatewayOptions{Keys: newKeyring(t, "two")})
	for name, wrong := range map[string]string{
		"empty": "", "cut off": proof[:42], "longer": proof + "A", "padded": proof + "=", "flipped": flipped,
		"another spelling": proof[:42] + "_", "not base64": strings.Repeat("!", 43),
		"of another payment": w.proofOf(g, other.ID), "of another key": w.proofOf(elsewhere, p.ID),
	} {
		if _, err := g.Registrations.CardPage(t.Context(), p.ID, wrong); wrong == proof || flows.CodeOf(err) != flows.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w.Reads.Load() != reads {
		t.Error("the processor was asked about a payment without its proof")
	}
	next := flows.NewPaymentID(p.Registration, 2)
	if _, err := g.Registrations.CardPage(t.Context(), next, w.proofOf(g, next)); flows.CodeOf(err) == "" {
		t.Error("a payment that does not exist has a page")
	}
	during, after := w.Gateway(gatewayOptions{Keys: newKeyring(t, "two", "one")}), elsewhere
	if shown := w.cardPage(during, p.ID, proof); shown.ID != p.ID || w.proofOf(during, p.ID) == proof {
		t.Errorf("during a rotation the page shows %+v", shown)
	}
	if _, err := after.Registrations.CardPage(t.Context(), p.ID, proof); flows.CodeOf(err) != flows.NotFound {
		t.Errorf("after the former key was removed: %v", err)
	}
}

// TestCardPageFollowsThePayment: the page polls the processor when the webhook is lost. The page of an earlier payment stays as it ended.
func TestCardPageFollowsThePayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	first := w.Abandoned(g)
	second := must(t, func() (*flows.Payment, error) { return g.Pay(t.Context(), first.Registration) })
	w.Confirm(second, declinedCard)
	if shown := w.cardPage(g, second.ID, w.proofOf(g, second.ID)); shown.View.State != "declined" {
		t.Errorf("a declined payment is %s", shown.View.State)
	}
	w.Confirm(second, goodCard)
	if shown := w.cardPage(g, second.ID, w.proofOf(g, second.ID)).View; shown.State != "processing" || shown.ClientSecret != "" {
		t.Errorf("an authorised payment is shown as %+v", shown)
	}
	w.Settle(g, second)
	if shown := w.cardPage(g, second.ID, w.proofOf(g, second.ID)); shown.View.State != "recorded" {
		t.Errorf("a recorded payment is %s", shown.View.State)
	}
	if shown := w.cardPage(g, first.ID, w.proofOf(g, first.ID)).View; shown.State != "cancelled" || shown.Retry != "never" {
		t.Errorf("the earlier payment is shown as %+v", shown)
	}
}

// TestCardPageAfterRedisForgot: the processor proves the payment, and the catalogue names the club.
func TestCardPageAfterRedisForgot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	name := p.Description
	w.Wipe()
	shown := w.cardPage(g, p.ID, w.proofOf(g, p.ID))
	if shown.ID != p.ID || !shown.Rebuilt || shown.Amount != quarterPassPrice || name == "" || shown.Description != name ||
		shown.ReturnURL == "" {
		t.Errorf("the page shows %+v", shown)
	}
	w.Wipe()
	unknown := flows.NewPaymentID("00000000-0000-4000-8000-000000000000", 1)
	if _, err := g.Registrations.CardPage(t.Context(), unknown, w.proofOf(g, unknown)); flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("while no further rebuild may begin: %v", err)
	}
}

// TestCardPageOfAnErasedRegistration: nothing of an erased registration is shown.
func TestCardPageOfAnErasedRegistration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Abandoned(g)
	r, _, err := g.Store.Registration(t.Context(), p.Registration)
	if err != nil {
		t.Fatal(err)
	}
	r.Erased = true
	if err := g.Store.SaveRegistration(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Registrations.CardPage(t.Context(), p.ID, w.proofOf(g, p.ID)); flows.CodeOf(err) != flows.NotFound {
		t.Errorf("the page of an erased registration: %v", err)
	}
}
