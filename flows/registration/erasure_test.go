package registration_test

import (
	"slices"
	"strings"
	"testing"

	"frontdesk/flows"
	"frontdesk/flows/registration"
)

// TestErasureThatFails: Redis fails at each part of an erasure. The report lists what was erased, and a run that failed can
// be repeated.
func TestErasureThatFails(t *testing.T) {
	t.Parallel()
	const index, transfer = "fd:contact:", "fd:transfer:"
	for name, test := range map[string]struct {
		refused []string // keys
		fails   bool     // the first run
	}{
		"the index":        {[]string{index}, false},
		"the transfer":     {[]string{transfer}, true},
		"all of the above": {[]string{index, transfer}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			instance := world.Gateway()
			must(t, func() (*flows.Transfer, error) {
				return instance.Registrations.Transfers.Start(t.Context(), former, "13")
			})
			payment := world.Authorised(instance)
			world.ExpectSound(world.Advance(instance, payment))
			record, _, err := instance.Store.Registration(t.Context(), payment.Registration)
			if err != nil {
				t.Fatal(err)
			}
			record.Contact.IRI = "/demo/contacts/1004"
			if err := instance.Store.AmendRegistration(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			refused := test.refused
			erase := func() (registration.ErasureReport, error) {
				gateway := world.Gateway(gatewayOptions{RefusedKeys: refused})
				return gateway.Registrations.Erase(t.Context(), registration.ErasureRequest{ClientToken: "demo", Registration: record.ID}, "ada")
			}
			report, err := erase()
			if failed := err != nil; failed != test.fails {
				t.Fatalf("the first run: %v", err)
			}
			if test.fails {
				refused = slices.DeleteFunc(refused, func(key string) bool { return key == transfer })
				report = must(t, erase)
			}
			if len(report.Erased) != 2 || report.Erased[0].Registration != "" || report.Erased[1].Registration != record.ID {
				t.Errorf("erased: %+v", report.Erased)
			}
			if kept := report.Kept[0]; kept.Payment != payment.ID || !strings.Contains(kept.What, "operators wrote") {
				t.Errorf("kept: %+v", report.Kept)
			}
			if again := must(t, erase); len(again.Erased) != 0 {
				t.Errorf("erased again: %+v", again.Erased)
			}
			logged := strings.Contains(world.Journal.String(), "erased registration still in an index")
			if logged != slices.Contains(test.refused, index) {
				t.Errorf("a failing index was logged: %t", logged)
			}
		})
	}
}

// TestErasureOfStrangers: people whose numbers end alike, in other countries or in the same one, keep their data. A person
// is found however their number and address were typed.
func TestErasureOfStrangers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gateway := w.Gateway()
	start := func(mobile, email string) string {
		t.Helper()
		person := visitor
		person.Mobile, person.Email = mobile, email
		view, _, err := gateway.Registrations.Start(t.Context(),
			registration.StartRequest{ClientToken: "demo", ClubID: "11", Channel: "web", Person: &person})
		if err != nil {
			t.Fatal(err)
		}
		return view.ID
	}
	for _, test := range []struct {
		request registration.ErasureRequest
		person  [2]string // mobile and e-mail address, as the visitor typed them
		other   [2]string
	}{
		{
			registration.ErasureRequest{Mobile: "0033 6 12 34 56 78"},
			[2]string{"+33612345678", "a1@example.com"}, [2]string{"+32612345678", "b1@example.com"},
		},
		{
			registration.ErasureRequest{Mobile: "+49 (0)151 12345678"},
			[2]string{"+4915112345678", "a2@example.com"}, [2]string{"+4917112345678", "b2@example.com"},
		},
		{
			registration.ErasureRequest{Mobile: "+1 (212) 555-0123"},
			[2]string{"+12125550123", "a3@example.com"}, [2]string{"+13125550123", "b3@example.com"},
		},
		{
			registration.ErasureRequest{Email: "Zoe\u0301@B\u00fccher.example"},
			[2]string{"+33612345671", "zo\u00e9@xn--bcher-kva.example"}, [2]string{"+33612345672", "zoe@b\u00fccher.example"},
		},
		{
			registration.ErasureRequest{Email: "eve\u200b@example.com "},
			[2]string{"+33612345673", "Eve@EXAMPLE.com"}, [2]string{"+33612345674", "eva@example.com"},
		},
	} {
		own, stranger := start(test.person[0], test.person[1]), start(test.other[0], test.other[1])
		test.request.ClientToken = "demo"
		report := must(t, func() (registration.ErasureReport, error) {
			return gateway.Registrations.Erase(t.Context(), test.request, "ada")
		})
		for id, want := range map[string]bool{own: true, stranger: false} {
			if r, _, err := gateway.Store.Registration(t.Context(), id); err != nil || r.Erased != want {
				t.Errorf("%+v: erased %t, not %t (%v): %+v", test.request, r.Erased, want, err, report.Erased)
			}
		}
	}
	national := registration.ErasureRequest{ClientToken: "demo", Mobile: "06 12 34 56 78"}
	if _, err := gateway.Registrations.Erase(t.Context(), national, "ada"); flows.CodeOf(err) != flows.InvalidRequest {
		t.Errorf("a number without its country: %v", err)
	}
}
