package registration_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/registration"
)

// TestPhases checks what a visitor sees of the registration, and may do, in each state of its payment.
func TestPhases(t *testing.T) {
	t.Parallel()
	again := []string{"pay", "check", "add_item", "clear_items", "person", "prospect", "consents", "abandon"}
	for state, want := range map[flows.PaymentState]struct {
		phase   flows.RegistrationState
		step    flows.Step
		actions []string
	}{
		flows.Priced:     {flows.Paying, flows.StepWaiting, []string{"pay", "cancel_payment", "abandon"}},
		flows.Intent:     {flows.Paying, flows.StepAtProcessor, []string{"cancel_payment", "abandon"}},
		flows.Authorised: {flows.Paying, flows.StepWaiting, nil},
		flows.Capturing:  {flows.Paying, flows.StepWaiting, nil},
		flows.Captured:   {flows.Paying, flows.StepWaiting, nil},
		flows.Sending:    {flows.Paying, flows.StepWaiting, nil},
		flows.Recorded:   {flows.Completed, flows.StepDone, nil},
		flows.Cancelling: {flows.Paying, flows.StepWaiting, nil},
		flows.Cancelled:  {flows.Open, flows.StepReady, again},
		flows.RefundDue:  {flows.Paying, flows.StepWaiting, nil},
		flows.Refunding:  {flows.Paying, flows.StepWaiting, nil},
		flows.Refunded:   {flows.Open, flows.StepReady, again},
		flows.InDoubt:    {flows.Attention, flows.StepWithStaff, nil},
		flows.Blocked:    {flows.Attention, flows.StepWithStaff, nil},
	} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			gateway := w.Gateway()
			payment := w.Started(gateway)
			w.Put(gateway, payment.ID, state)
			view := must(t, func() (flows.View, error) {
				return gateway.Registrations.Get(t.Context(), payment.Registration, holderToken)
			})
			if view.Phase != want.phase || view.Step() != want.step || !slices.Equal(view.Actions, want.actions) || view.Message == "" {
				t.Errorf("the visitor sees %s, %s (%s) and may %v; want %+v", view.Phase, view.Step(), view.Message, view.Actions, want)
			}
			if frozen := view.Phase != flows.Open; frozen {
				_, err := gateway.Registrations.ClearItems(t.Context(), payment.Registration, holderToken)
				if code := flows.CodeOf(err); code != flows.CartFrozen && code != flows.RegistrationClosed {
					t.Errorf("the cart could be changed: %v", err)
				}
			}
		})
	}
}

// TestContactIsReadSeldom: after the payment, a visitor who polls triggers a read of the contact only once in a while.
func TestContactIsReadSeldom(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	payment = world.Advance(gateway, payment)
	if payment.State != flows.Recorded {
		t.Fatalf("%s (%s)", payment.State, payment.Reason)
	}
	first := must(t, func() (bool, error) {
		return gateway.Store.Once(t.Context(), "contact:"+payment.Registration, time.Hour)
	})
	if !first {
		t.Fatal("the contact was read before the visitor returned")
	}
	before := world.Calls("/contacts/*")
	get := func() flows.View {
		return must(t, func() (flows.View, error) {
			return gateway.Registrations.Get(t.Context(), payment.Registration, holderToken)
		})
	}
	if view := get(); view.Contact.Status != "temp" || world.Calls("/contacts/*") != before {
		t.Errorf("a moment later: %s after %d reads", view.Contact.Status, world.Calls("/contacts/*")-before)
	}
	for _, key := range world.Redis.Keys(t.Context(), "fd:once:*").Val() {
		world.Redis.Del(t.Context(), key)
	}
	world.Clock.Advance(5 * time.Second) // most visitors have left by then
	if view := get(); view.Contact.Status != "customer" || world.Calls("/contacts/*") != before+1 {
		t.Errorf("later: %s after %d reads", view.Contact.Status, world.Calls("/contacts/*")-before)
	}
}

// TestStart creates nothing that it cannot finish, and reports what is wrong with the request.
func TestStart(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	start := func(in registration.StartRequest) error {
		in.ClientToken, in.Channel = "demo", "web"
		_, _, err := g.Registrations.Start(t.Context(), in)
		return err
	}
	for name, test := range map[string]struct {
		in       registration.StartRequest
		code     flows.Code
		pointers string
	}{
		"no such club":          {registration.StartRequest{ClubID: "99"}, flows.InvalidRequest, "/clubId"},
		"items without a buyer": {registration.StartRequest{ClubID: "11", Items: []flows.NewItem{badge}}, flows.InvalidRequest, "/person"},
		"no such offer, and no date": {registration.StartRequest{ClubID: "11", Person: &visitor,
			Items: []flows.NewItem{badge, {OfferID: "99999"}, {OfferID: "201"}}}, flows.OfferNotAvailable, "/items/1/offerId /items/2/startDate"},
	} {
		err := start(test.in)
		var failure *flows.Error
		if !errors.As(err, &failure) || failure.Code != test.code {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var pointers []string
		for _, field := range failure.Fields {
			pointers = append(pointers, field.Pointer)
		}
		if got := strings.Join(pointers, " "); got != test.pointers {
			t.Errorf("%s: the fields are %s", name, got)
		}
	}
	for _, request := range world.Sim.Requests() {
		if request.Method == "POST" && !strings.Contains(request.Path, "token") {
			t.Errorf("a request that was refused made %s", request.Path)
		}
	}
	remembered := func(key string) bool { return strings.HasSuffix(key, ":copy") } // the catalogue is shared by all visitors
	if keys := slices.DeleteFunc(world.Redis.Keys(t.Context(), "fd:*").Val(), remembered); len(keys) != 0 {
		t.Errorf("Redis holds %v", keys)
	}
	if err := start(registration.StartRequest{ClubID: "11"}); err != nil {
		t.Errorf("a visitor who gives nothing yet: %v", err)
	}
}

// TestPersonInIndex: a registration is found by the latest details only, however often they change, and the same
// details again change nothing.
func TestPersonInIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gateway := w.Gateway()
	view, token := w.Visited(gateway)
	put := func(person flows.Person) flows.View {
		return must(t, func() (flows.View, error) {
			return gateway.Registrations.PutPerson(t.Context(), view.ID, token, person)
		})
	}
	if same := put(visitor); same.Contact.IRI != view.Contact.IRI || same.Sale != view.Sale {
		t.Errorf("the same details lead to %s with %s", same.Contact.IRI, same.Sale)
	}
	other := visitor
	for i := range 3 {
		other.Email, other.Mobile = fmt.Sprintf("visitor%d@example.com", i), fmt.Sprintf("+3369876540%d", i)
		put(other)
	}
	registration, _, err := gateway.Store.Registration(t.Context(), view.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := newKeyring(t, "one").PersonPseudonyms("demo", other.Email, other.Mobile)
	slices.Sort(want)
	if len(want) != 2 || !slices.Equal(registration.PersonPseudonyms, want) {
		t.Errorf("the record has %v, want %v", registration.PersonPseudonyms, want)
	}
}
