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
	return must(w, func() (flows.ShownPayment, error) {
		shown, _, err := g.Registrations.CardPage(w.Context(), id, proof)
		return shown, err
	})
}

// TestCardPageNeedsItsProof: each payment has an address of its own, which only a configured seal key makes.
func TestCardPageNeedsItsProof(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment, other := world.Started(gateway), world.Started(gateway)
	proof := world.proofOf(gateway, payment.ID)
	shown := world.cardPage(gateway, payment.ID, proof)
	if shown.ID != payment.ID || shown.ReturnURL != "https://club.example/?registration="+payment.Registration {
		t.Errorf("the page shows %+v", shown)
	}
	flipped := "A" + proof[1:]
	if flipped == proof {
		flipped = "B" + proof[1:]
	}
	reads := world.Reads.Load()
	elsewhere := world.Gateway(gatewayOptions{Keys: newKeyring(t, "two")})
	for name, wrong := range map[string]string{
		"empty": "", "cut off": proof[:42], "longer": proof + "A", "padded": proof + "=", "flipped": flipped,
		"another spelling": proof[:42] + "_", "not base64": strings.Repeat("!", 43),
		"of another payment": world.proofOf(gateway, other.ID), "of another key": world.proofOf(elsewhere, payment.ID),
	} {
		if _, _, err := gateway.Registrations.CardPage(t.Context(), payment.ID, wrong); wrong == proof || flows.CodeOf(err) != flows.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	if world.Reads.Load() != reads {
		t.Error("the processor was asked about a payment without its proof")
	}
	next := flows.NewPaymentID(payment.Registration, 2)
	if _, _, err := gateway.Registrations.CardPage(t.Context(), next, world.proofOf(gateway, next)); flows.CodeOf(err) == "" {
		t.Error("a payment that does not exist has a page")
	}
	during, after := world.Gateway(gatewayOptions{Keys: newKeyring(t, "two", "one")}), elsewhere
	if shown := world.cardPage(during, payment.ID, proof); shown.ID != payment.ID || world.proofOf(during, payment.ID) == proof {
		t.Errorf("during a rotation the page shows %+v", shown)
	}
	if _, _, err := after.Registrations.CardPage(t.Context(), payment.ID, proof); flows.CodeOf(err) != flows.NotFound {
		t.Errorf("after the former key was removed: %v", err)
	}
}

// TestCardPageFollowsThePayment: the page polls the processor when the webhook is lost. The page of an earlier payment stays as it ended.
func TestCardPageFollowsThePayment(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	first := world.Abandoned(gateway)
	second := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), first.Registration) })
	world.Confirm(second, declinedCard)
	if shown := world.cardPage(gateway, second.ID, world.proofOf(gateway, second.ID)); shown.View.State != "declined" {
		t.Errorf("a declined payment is %s", shown.View.State)
	}
	world.Confirm(second, goodCard)
	if shown := world.cardPage(gateway, second.ID, world.proofOf(gateway, second.ID)).View; shown.State != "processing" ||
		shown.ClientSecret != "" {
		t.Errorf("an authorised payment is shown as %+v", shown)
	}
	world.Settle(gateway, second)
	if shown := world.cardPage(gateway, second.ID, world.proofOf(gateway, second.ID)); shown.View.State != "recorded" {
		t.Errorf("a recorded payment is %s", shown.View.State)
	}
	if shown := world.cardPage(gateway, first.ID, world.proofOf(gateway, first.ID)).View; shown.State != "cancelled" ||
		shown.Retry != "never" {
		t.Errorf("the earlier payment is shown as %+v", shown)
	}
}

// TestCardPageAfterRedisForgot: the processor proves the payment, and the catalogue names the club.
func TestCardPageAfterRedisForgot(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	p := world.Authorised(gateway)
	name := p.Description
	world.Wipe()
	shown := world.cardPage(gateway, p.ID, world.proofOf(gateway, p.ID))
	if shown.ID != p.ID || !shown.Rebuilt || shown.Amount != quarterPassPrice || name == "" || shown.Description != name ||
		shown.ReturnURL == "" {
		t.Errorf("the page shows %+v", shown)
	}
	world.Wipe()
	unknown := flows.NewPaymentID("00000000-0000-4000-8000-000000000000", 1)
	_, _, err := gateway.Registrations.CardPage(t.Context(), unknown, world.proofOf(gateway, unknown))
	if flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("while no further rebuild may begin: %v", err)
	}
}

// TestCardPageOfAnErasedRegistration: nothing of an erased registration is shown.
func TestCardPageOfAnErasedRegistration(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Abandoned(gateway)
	r, _, err := gateway.Store.Registration(t.Context(), payment.Registration)
	if err != nil {
		t.Fatal(err)
	}
	r.Erased = true
	if err := gateway.Store.SaveRegistration(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	_, _, err = gateway.Registrations.CardPage(t.Context(), payment.ID, world.proofOf(gateway, payment.ID))
	if flows.CodeOf(err) != flows.NotFound {
		t.Errorf("the page of an erased registration: %v", err)
	}
}
