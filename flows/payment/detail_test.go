package payment_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

func (w *testWorld) shown(g *testGateway, p *flows.Payment) payment.Detail {
	w.Helper()
	return must(w, func() (payment.Detail, error) { return g.Show(w.Context(), p.ID) })
}

// offers reports whether a command is offered.
func offers(d payment.Detail, words string) bool {
	return slices.Contains(d.Commands, "frontdesk payments "+words)
}

func TestShowDoubt(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Doubtful(gateway, "error_before")
	id := string(payment.ID)
	detail := world.shown(gateway, payment)
	if advice := strings.Join(detail.Advice, "\n"); !strings.Contains(advice, "exactly one payment of 149.00 EUR by card online (CBWeb)") {
		t.Errorf("cash at the desk may be taken for it:\n%s", advice)
	}
	if detail.State != flows.InDoubt || detail.ContactNumber == "" || detail.AtProcessor.State != cards.Captured ||
		detail.AtProcessor.Captured != payment.Amount ||
		detail.Problem != "" {
		t.Errorf("shown: %+v", detail)
	}
	if len(detail.Journal) != 1 || detail.Journal[0].Key != "fd_post_1" || detail.Journal[0].At == nil ||
		detail.Journal[0].At.UnixMilli() != world.Clock.Now().UnixMilli() {
		t.Errorf("the journal is %+v", detail.Journal)
	}
	if detail.Snapshot == nil || len(detail.Readings) != 0 || detail.NextReading == nil ||
		!detail.NextReading.Equal(payment.DoubtSince.Add(30*time.Second)) {
		t.Errorf("the evidence is %+v, %+v, next %v", detail.Snapshot, detail.Readings, detail.NextReading)
	}
	if !offers(detail, "confirm-recorded "+id) || offers(detail, "confirm-not-recorded "+id+" --refund") {
		t.Errorf("offered: %v", detail.Commands)
	}
	world.Clock.Advance(16 * time.Minute)
	detail = world.shown(gateway, payment)
	for _, words := range []string{
		"confirm-recorded " + id, "confirm-not-recorded " + id + " --send-again",
		"confirm-not-recorded " + id + " --refund", "note " + id + ` "what you found"`,
	} {
		if !offers(detail, words) {
			t.Errorf("%s is not among %v", words, detail.Commands)
		}
	}
	text := string(must(t, func() ([]byte, error) { return json.Marshal(detail) }))
	for _, personal := range []string{"Ada", "Martin", "ada@example.com", "33612345678"} {
		if strings.Contains(text, personal) {
			t.Errorf("%s is shown: %s", personal, text)
		}
	}
}

// TestShowRebuiltDoubt: operators look for a booking since the payment was made, not since it was
// rebuilt.
func TestShowRebuiltDoubt(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Doubtful(gateway, "drop_after")
	made := payment.CreatedAt
	world.Clock.Advance(3 * time.Hour)
	world.Wipe()
	world.rebuild(gateway)
	payment = world.Stored(gateway, payment.ID)
	since := "made since " + made.UTC().Format("2006-01-02 15:04:05Z")
	if advice := strings.Join(world.shown(gateway, payment).Advice, "\n"); payment.State != flows.InDoubt || !strings.Contains(advice, since) {
		t.Errorf("%q is missing in the advice on a payment that is %s:\n%s", since, payment.State, advice)
	}
}

// TestShowSaysWhatToCheck: a deferral and a validation leave no payment in the club system, so operators are
// not asked to look for one.
func TestShowSaysWhatToCheck(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	for method, words := range map[flows.Method][]string{
		flows.Deferred: {
			"was deferred to " + world.settlementCases()[flows.Deferred].start.DueDate,
			"the contact owes 149.00 EUR", "makes no payment",
		},
		flows.Free:     {"was validated", "its products are with the contact", "no payment exists"},
		flows.InPerson: {"exactly one payment of 149.00 EUR at the desk (cash)"},
	} {
		world.Fault(clubsim.Fault{Match: world.settlementCases()[method].request(), Kind: "error_after", Status: 500, Times: new(1)})
		payment := must(t, func() (*flows.Payment, error) { return world.settles(gateway, method) })
		for _, state := range []flows.PaymentState{flows.InDoubt, flows.Blocked} {
			if state != payment.State {
				world.Put(gateway, payment.ID, state)
			}
			detail := world.shown(gateway, payment)
			advice := strings.Join(detail.Advice, "\n")
			for _, part := range append(words, string(payment.Sale), detail.ContactNumber) {
				if detail.State != state || part == "" || !strings.Contains(advice, part) {
					t.Errorf("%s, %s: %q is missing in\n%s", method, detail.State, part, advice)
				}
			}
			if strings.Contains(advice, "exactly one payment") != (method == flows.InPerson) || strings.Contains(advice, "At the processor") {
				t.Errorf("%s, %s: the advice sends to what is not there:\n%s", method, detail.State, advice)
			}
		}
	}
}

func TestShowBlocked(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Doubtful(gateway, "error_before")
	world.tamper(payment)
	payment = world.Advance(gateway, payment)
	detail := world.shown(gateway, payment)
	advice := strings.Join(detail.Advice, "\n")
	for _, part := range []string{
		payment.Reason, payment.ProcessorID + " is captured: 149.00 EUR captured, 0.00 EUR refunded",
		string(payment.Sale), detail.ContactNumber, "not both",
	} {
		if payment.State != flows.Blocked || part == "" || !strings.Contains(advice, part) {
			t.Errorf("%q is missing in the advice on a payment that is %s:\n%s", part, payment.State, advice)
		}
	}
	if len(detail.Commands) != 2 || !offers(detail, "confirm-recorded "+string(payment.ID)) ||
		!strings.Contains(detail.Commands[1], "payments note") {
		t.Errorf("offered: %v", detail.Commands)
	}
	world.resetProcessor()
	if detail = world.shown(gateway, payment); detail.AtProcessor != nil || detail.Problem == "" {
		t.Errorf("the processor forgot it: %+v", detail)
	}
}

// TestShowEveryState: show works for a payment in any state.
func TestShowEveryState(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Started(gateway)
	for _, state := range flows.PaymentStates {
		world.Put(gateway, payment.ID, state)
		d := world.shown(gateway, payment)
		if decides := strings.Contains(strings.Join(d.Commands, "\n"), "confirm"); len(d.Advice) == 0 || decides && state != flows.InDoubt {
			t.Errorf("%s: %v %v", state, d.Advice, d.Commands)
		}
	}
	world.FailCalls(getCall, 1)
	if d := world.shown(gateway, payment); d.AtProcessor != nil || d.Problem == "" {
		t.Errorf("the processor was down: %+v", d)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	list := func(in payment.ListOptions) (states string) {
		listed := must(t, func() (payment.Page, error) { return gateway.List(t.Context(), in) })
		for _, item := range listed.Items {
			states += string(item.State) + " "
		}
		return strings.TrimSpace(states)
	}
	if got := list(payment.ListOptions{All: true}); got != "" {
		t.Errorf("listed: %s", got)
	}
	world.Advance(gateway, world.Authorised(gateway))
	world.Clock.Advance(time.Second)
	blocked := world.Authorised(gateway)
	world.tamper(blocked)
	world.Advance(gateway, blocked)
	world.Clock.Advance(time.Second)
	world.Doubtful(gateway, "error_before")
	world.Clock.Advance(time.Second)
	world.Started(gateway)
	for want, in := range map[string]payment.ListOptions{
		"blocked in_doubt":                 {},
		"blocked in_doubt intent recorded": {All: true},
		"recorded":                         {State: flows.Recorded},
		"intent":                           {State: flows.Intent},
	} {
		if got := list(in); got != want {
			t.Errorf("%+v: listed %s", in, got)
		}
	}
	if _, err := gateway.List(t.Context(), payment.ListOptions{State: "lost"}); flows.CodeOf(err) != flows.InvalidRequest {
		t.Errorf("an unknown state: %v", err)
	}
}

// TestListAfterLoss: until Redis has been compared with the processor, a listing is marked incomplete.
func TestListAfterLoss(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	world.Doubtful(gateway, "drop_after")
	world.Wipe()
	list := func() payment.Page {
		return must(t, func() (payment.Page, error) { return gateway.List(t.Context(), payment.ListOptions{}) })
	}
	if listed := list(); len(listed.Items) != 0 || !listed.Incomplete {
		t.Errorf("before the comparison: %+v", listed)
	}
	world.rebuild(gateway)
	if listed := list(); len(listed.Items) != 1 || listed.Incomplete {
		t.Errorf("after it: %+v", listed)
	}
}

// TestDoubtAmongThousands: payments that wait for an operator are found by state, however many others are
// open, even if a record is unreadable or was never listed.
func TestDoubtAmongThousands(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	for i := range 2500 { // due before the others
		waiting := &flows.Payment{
			ID:           flows.NewPaymentID(fmt.Sprint("waiting", i), 1),
			State:        flows.Intent,
			Method:       flows.ByCard,
			Registration: fmt.Sprint("waiting", i),
			Generation:   1,
			UpdatedAt:    world.Clock.Now(),
			CreatedAt:    world.Clock.Now(),
		}
		if err := gateway.Store.Rebuild(t.Context(), &flows.Registration{ID: waiting.Registration, Generation: 1}, waiting, 0); err != nil {
			t.Fatal(err)
		}
	}
	doubt := world.Doubtful(gateway, "error_before")
	world.Clock.Advance(time.Second)
	damaged := world.Started(gateway)
	world.Redis.HSet(t.Context(), redisKey(damaged), "state", "recorded")
	if _, err := gateway.Advance(t.Context(), damaged.ID); err == nil {
		t.Error("a damaged record was read")
	}
	for _, open := range []int{2500, 0} { // with the lists, then without them after a poll, as an older version leaves it
		page := must(t, func() (payment.Page, error) { return gateway.List(t.Context(), payment.ListOptions{}) })
		if len(page.Items) != 2 || page.Items[0].ID != doubt.ID || page.Items[1].ID != damaged.ID || page.More {
			t.Errorf("listed: %+v", page)
		}
		counts := must(t, func() (map[flows.PaymentState]store.StateCount, error) { return gateway.Counts(t.Context()) })
		if in := counts[flows.InDoubt]; in.Payments != 1 || !in.Oldest.Equal(doubt.InDoubtSince().Truncate(time.Millisecond)) ||
			counts[flows.Blocked].Payments != 1 || counts[flows.Intent].Payments != open {
			t.Errorf("counted: %+v", counts)
		}
		page = must(t, func() (payment.Page, error) { return gateway.List(t.Context(), payment.ListOptions{All: true}) })
		if page.More != (open > 0) || !slices.ContainsFunc(page.Items, func(s payment.Summary) bool { return s.ID == doubt.ID }) {
			t.Errorf("%d payments are listed, more: %t", len(page.Items), page.More)
		}
		world.Redis.Del(t.Context(), "fd:{fd:payments:open}:states")
		world.Clock.Advance(time.Minute)
		world.Advance(gateway, doubt)
		gateway.Advance(t.Context(), damaged.ID) // fails as before
	}
}
