package registration_test

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"

	"frontdesk/e2e/flowstest"
	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/upstream/clubsim"
)

// buyer is one registration of a person, in a tab or after the app was installed again.
type buyer struct{ id, token string }

// buys starts a registration with an offer.
func (w *world) buys(g *gateway, person flows.Person, offer string) buyer {
	w.Helper()
	start := w.Clock.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	view, token, err := g.Registrations.Start(w.Context(), registration.StartRequest{
		ClientToken: "demo",
		ClubID:      "11",
		Channel:     "web",
		Person:      &person,
		Items:       []flows.NewItem{{OfferID: offer, StartDate: start}},
	})
	if err != nil {
		w.Fatal(err)
	}
	return buyer{view.ID, token}
}

func (w *world) payAs(g *gateway, b buyer, in flows.StartPayment) (*flows.Payment, error) {
	return g.PayWith(w.Context(), b.id, b.token, in)
}

var byCard = flows.StartPayment{Method: flows.ByCard}

// recordedFor makes a buyer pay by card until the club system has booked it.
func (w *world) recordedFor(g *gateway, b buyer) *flows.Payment {
	w.Helper()
	payment := must(w, func() (*flows.Payment, error) { return w.payAs(g, b, byCard) })
	w.Confirm(payment, goodCard)
	payment = w.Advance(g, payment)
	if payment.State != flows.Recorded {
		w.Fatalf("%s (%s)", payment.State, payment.Reason)
	}
	return payment
}

// TestTwice: the gateway asks before it takes money from the same person for the same offer again. Without a yes nothing
// reaches the processor. With it, each payment shows staff the other.
func TestTwice(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway(gatewayOptions{AsksRepeats: true})
	first := world.recordedFor(gateway, world.buys(gateway, visitor, "201"))
	again := visitor
	again.GivenName, again.Email = " "+strings.ToUpper(again.GivenName), strings.ToUpper(again.Email) // typed in a hurry
	second := world.buys(gateway, again, "201")
	for _, in := range []flows.StartPayment{
		byCard,
		{Method: flows.Deferred, DueDate: world.Clock.Now().AddDate(0, 0, 20).Format(time.DateOnly)},
	} {
		if _, err := world.payAs(gateway, second, in); flows.CodeOf(err) != flows.DuplicatePurchase {
			t.Errorf("again by %s: %v", in.Method, err)
		}
	}
	if held, booked := len(world.HeldAll()), len(world.Sim.Ledger()); held != 1 || booked != 1 {
		t.Errorf("without a yes the processor has %d payments, the ledger %d", held, booked)
	}
	yes := byCard
	yes.Again = true
	payment := must(t, func() (*flows.Payment, error) { return world.payAs(gateway, second, yes) })
	world.Confirm(payment, goodCard)
	payment = world.Advance(gateway, payment)
	if held, booked := len(world.HeldAll()), len(world.Sim.Ledger()); payment.State != flows.Recorded || held != 2 || booked != 2 {
		t.Errorf("%s: the processor has %d payments, the ledger %d", payment.State, held, booked)
	}
	if !slices.Equal(payment.Repeats, []flows.PaymentID{first.ID}) {
		t.Errorf("the payment repeats %v, not %s", payment.Repeats, first.ID)
	}
	notes := must(t, func() ([]flows.Note, error) { return gateway.Store.Notes(t.Context(), first.ID) })
	if len(notes) != 1 || !strings.Contains(notes[0].Text, string(payment.ID)) {
		t.Errorf("the first payment's notes are %+v", notes)
	}
	for key, value := range world.everything() {
		if strings.Contains(strings.ToLower(key+value), strings.ToLower(visitor.FamilyName)) {
			t.Errorf("%s can be read: %q", key, value)
		}
	}
}

// TestTwiceTypedAnotherWay: a buyer whose name or e-mail address is typed another way is the same person.
func TestTwiceTypedAnotherWay(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*flows.Person){
		"decomposed letters": func(p *flows.Person) {
			p.GivenName, p.FamilyName = norm.NFD.String(p.GivenName), norm.NFD.String(p.FamilyName)
		},
		"wide letters":            func(p *flows.Person) { p.GivenName = width.Widen.String(p.GivenName) },
		"zero width space":        func(p *flows.Person) { p.GivenName += "\u200b" },
		"soft hyphen":             func(p *flows.Person) { p.FamilyName = p.FamilyName[:1] + "\u00ad" + p.FamilyName[1:] },
		"variation selector":      func(p *flows.Person) { p.FamilyName += "\ufe0f" },
		"invisible letter":        func(p *flows.Person) { p.GivenName = "\u3164" + p.GivenName },
		"two spaces":              func(p *flows.Person) { p.GivenName = strings.ReplaceAll(p.GivenName, " ", "  ") },
		"no-break space":          func(p *flows.Person) { p.GivenName = strings.ReplaceAll(p.GivenName, " ", "\u00a0") },
		"invisible in the e-mail": func(p *flows.Person) { p.Email = p.Email[:1] + "\ufe0f\u200b" + p.Email[1:] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway(gatewayOptions{AsksRepeats: true})
			person := visitor
			person.GivenName, person.FamilyName = "Ren\u00e9e Claire", "L\u00e9vy"
			world.recordedFor(gateway, world.buys(gateway, person, "201"))
			again := person
			change(&again)
			if again == person {
				t.Fatal("nothing is typed another way")
			}
			if _, err := world.payAs(gateway, world.buys(gateway, again, "201"), byCard); flows.CodeOf(err) != flows.DuplicatePurchase {
				t.Errorf("again as %q %q, %q: %v", again.GivenName, again.FamilyName, again.Email, err)
			}
			if held := len(world.HeldAll()); held != 1 {
				t.Errorf("the processor has %d payments", held)
			}
		})
	}
}

// TestPairIsShown: whatever the buyer pays with, operators find the earlier payment where they list and look at the new one,
// and a note where they look at the earlier one. Staff at the desk are not asked.
func TestPairIsShown(t *testing.T) {
	t.Parallel()
	for method, start := range map[flows.Method]flows.StartPayment{
		flows.ByCard:   {Method: flows.ByCard, Again: true},
		flows.Deferred: {Method: flows.Deferred, Again: true},
		flows.InPerson: {Method: flows.InPerson, Staff: true, Desk: &flows.Desk{Mean: "cash"}},
	} {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway(gatewayOptions{AsksRepeats: true})
			first := world.recordedFor(gateway, world.buys(gateway, visitor, "201"))
			if method == flows.Deferred {
				start.DueDate = world.Clock.Now().AddDate(0, 0, 20).Format(time.DateOnly)
			}
			paid := must(t, func() (*flows.Payment, error) {
				return world.payAs(gateway, world.buys(gateway, visitor, "201"), start)
			})
			page := must(t, func() (payment.Page, error) { return gateway.List(t.Context(), payment.ListOptions{All: true}) })
			for _, listed := range page.Items {
				want := []flows.PaymentID{first.ID}
				if listed.ID == first.ID {
					want = nil
				}
				if !slices.Equal(listed.Repeats, want) {
					t.Errorf("%s is listed with the earlier payments %v", listed.ID, listed.Repeats)
				}
			}
			if len(page.Items) != 2 {
				t.Errorf("listed: %+v", page.Items)
			}
			later := must(t, func() (payment.Detail, error) { return gateway.Show(t.Context(), paid.ID) })
			if !slices.Equal(later.Repeats, []flows.PaymentID{first.ID}) || !strings.Contains(strings.Join(later.Advice, "\n"), string(first.ID)) {
				t.Errorf("the new payment shows %v and says %q", later.Repeats, later.Advice)
			}
			earlier := must(t, func() (payment.Detail, error) { return gateway.Show(t.Context(), first.ID) })
			if len(earlier.Notes) != 1 || !strings.Contains(earlier.Notes[0].Text, string(paid.ID)) {
				t.Errorf("the earlier payment has the notes %+v", earlier.Notes)
			}
		})
	}
}

// TestAlikeBuyer: a stranger with only the e-mail address or only the phone of a buyer does not learn of the purchase.
// Staff see that the payments may belong together.
func TestAlikeBuyer(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*flows.Person){
		"another e-mail address": func(p *flows.Person) { p.Email = "another@example.com" },
		"another phone":          func(p *flows.Person) { p.Mobile = "+33611223344" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway(gatewayOptions{AsksRepeats: true})
			first := world.recordedFor(gateway, world.buys(gateway, visitor, "201"))
			alike := visitor
			change(&alike)
			p, err := world.payAs(gateway, world.buys(gateway, alike, "201"), byCard)
			if err != nil || !slices.Equal(p.Repeats, []flows.PaymentID{first.ID}) {
				t.Fatalf("%v; staff see %+v", err, p)
			}
			notes := must(t, func() ([]flows.Note, error) { return gateway.Store.Notes(t.Context(), first.ID) })
			if len(notes) != 1 || !strings.Contains(notes[0].Text, string(p.ID)) {
				t.Errorf("the first payment's notes are %+v", notes)
			}
			if _, err := world.payAs(gateway, world.buys(gateway, visitor, "201"), byCard); flows.CodeOf(err) != flows.DuplicatePurchase {
				t.Errorf("the buyer is not asked: %v", err)
			}
		})
	}
}

// TestTwiceAtOnce: of two tabs that pay at the same moment, exactly one continues without a question.
func TestTwiceAtOnce(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway(gatewayOptions{AsksRepeats: true})
	tabs := []buyer{world.buys(g, visitor, "201"), world.buys(g, visitor, "201"), world.buys(g, visitor, "201")}
	codes := make([]error, len(tabs))
	var all sync.WaitGroup
	for i, tab := range tabs {
		all.Go(func() { _, codes[i] = world.payAs(g, tab, byCard) })
	}
	all.Wait()
	asked, went := 0, 0
	for _, err := range codes {
		switch {
		case err == nil:
			went++
		case flows.CodeOf(err) == flows.DuplicatePurchase: // not paid yet
			asked++
		default:
			t.Error(err)
		}
	}
	if went != 1 || asked != len(tabs)-1 || len(world.HeldAll()) != 1 {
		t.Errorf("%d continued, %d were asked, the processor has %d payments", went, asked, len(world.HeldAll()))
	}
}

// TestNotTwice: buyers who have not just bought the same are not asked.
func TestNotTwice(t *testing.T) {
	t.Parallel()
	sister := visitor
	sister.GivenName, sister.BirthDate = "Grace", "1992-12-09" // with the same e-mail address and phone
	for name, test := range map[string]struct {
		off    bool
		before func(*world, *gateway, *flows.Payment)
		person flows.Person
		offer  string
	}{
		"not asked for":     {off: true},
		"a day later":       {before: func(w *world, _ *gateway, _ *flows.Payment) { w.Clock.Advance(24*time.Hour + time.Minute) }},
		"another person":    {person: sister},
		"another offer":     {offer: "2501"},
		"the first expired": {before: func(w *world, g *gateway, p *flows.Payment) { w.Clock.Advance(31 * time.Minute); w.Advance(g, p) }},
		"the first refunded": {before: func(w *world, g *gateway, p *flows.Payment) {
			w.Fault(clubsim.Fault{Match: flowstest.Recording, Kind: "error_before", Status: 422})
			w.Confirm(p, goodCard)
			w.Settle(g, p)
			w.Fault()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway(gatewayOptions{AsksRepeats: !test.off})
			first := must(t, func() (*flows.Payment, error) {
				return world.payAs(gateway, world.buys(gateway, visitor, "201"), byCard)
			})
			if test.before != nil {
				test.before(world, gateway, first)
			}
			if test.person == (flows.Person{}) {
				test.person = visitor
			}
			payment, err := world.payAs(gateway, world.buys(gateway, test.person, cmp.Or(test.offer, "201")), byCard)
			if err != nil || len(payment.Repeats) != 0 {
				t.Errorf("asked although the first payment is %s: %v", world.Stored(gateway, first.ID).State, err)
			}
		})
	}
}

// TestOwnPaymentAgain: a buyer who cancels the payment and pays again in the same registration is not asked.
func TestOwnPaymentAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway(gatewayOptions{AsksRepeats: true})
	b := w.buys(g, visitor, "201")
	must(t, func() (*flows.Payment, error) { return w.payAs(g, b, byCard) })
	must(t, func() (flows.View, error) { return g.Registrations.CancelPayment(t.Context(), b.id, b.token) })
	if p, err := w.payAs(g, b, byCard); err != nil || p.Generation != 2 || len(p.Repeats) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestTwiceAfterRotation: a buyer is asked by whatever seal keys the gateways have: the earlier payment can be one that
// only another key finds, or that cannot be read at all. A yes is enough to pay.
func TestTwiceAfterRotation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, after []string }{
		"new key in front":           {[]string{"old", "new"}, []string{"new", "old"}},
		"gateway restarted later":    {[]string{"new", "old"}, []string{"old", "new"}},
		"sealed with a key it lacks": {[]string{"new", "old"}, []string{"old"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			earlier := world.Gateway(gatewayOptions{AsksRepeats: true, Keys: newKeyring(t, test.before...)})
			first := world.recordedFor(earlier, world.buys(earlier, visitor, "201"))
			gateway := world.Gateway(gatewayOptions{AsksRepeats: true, Keys: newKeyring(t, test.after...)})
			second := world.buys(gateway, visitor, "201")
			if _, err := world.payAs(gateway, second, byCard); flows.CodeOf(err) != flows.DuplicatePurchase {
				t.Fatalf("not asked: %v", err)
			}
			yes := byCard
			yes.Again = true
			if p, err := world.payAs(gateway, second, yes); err != nil || !slices.Equal(p.Repeats, []flows.PaymentID{first.ID}) {
				t.Errorf("after a yes: %v", err)
			}
		})
	}
}

// TestTwiceKeepsNotes: a buyer who repeats a purchase again and again pushes out nothing that operators wrote about the
// first payment.
func TestTwiceKeepsNotes(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway(gatewayOptions{AsksRepeats: true})
	first := world.recordedFor(gateway, world.buys(gateway, visitor, "201"))
	const written = "the club's manager has called the buyer"
	if err := gateway.Store.AddNote(t.Context(), first.ID, flows.Note{At: world.Clock.Now(), Operator: "ada", Text: written}); err != nil {
		t.Fatal(err)
	}
	yes := byCard
	yes.Again = true
	second := world.buys(gateway, visitor, "201")
	for range 3 {
		p := must(t, func() (*flows.Payment, error) { return world.payAs(gateway, second, yes) })
		if !slices.Equal(p.Repeats, []flows.PaymentID{first.ID}) {
			t.Fatalf("the payment repeats %v", p.Repeats)
		}
		must(t, func() (flows.View, error) {
			return gateway.Registrations.CancelPayment(t.Context(), second.id, second.token)
		})
	}
	notes := must(t, func() ([]flows.Note, error) { return gateway.Store.Notes(t.Context(), first.ID) })
	if len(notes) != 2 || notes[0].Text != written {
		t.Errorf("the first payment's notes are %+v", notes)
	}
}
