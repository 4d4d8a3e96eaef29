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

func (w *world) shown(g *gateway, p *flows.Payment) payment.Detail {
	w.Helper()
	return must(w, func() (payment.Detail, error) { return g.Show(w.Context(), p.ID) })
}

// offers reports whether a command is offered.
func offers(d payment.Detail, words string) bool {
	return slices.Contains(d.Commands, "frontdesk payments "+words)
}

func TestShowDoubt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Doubtful(g, "error_before")
	id := string(p.ID)
	d := w.shown(g, p)
	if advice := strings.Join(d.Advice, "\n"); !strings.Contains(advice, "exactly one payment of 149.00 EUR by card online (CBWeb)") {
		t.Errorf("cash at the desk may be taken for it:\n%s", advice)
	}
	if d.State != flows.InDoubt || d.ContactNumber == "" || d.AtProcessor.State != cards.Captured || d.AtProcessor.Captured != p.Amount ||
		d.Problem != "" {
		t.Errorf("shown: %+v", d)
	}
	if len(d.Journal) != 1 || d.Journal[0].Key != "fd_post_1" || d.Journal[0].At == nil ||
		d.Journal[0].At.UnixMilli() != w.Clock.Now().UnixMilli() {
		t.Errorf("the journal is %+v", d.Journal)
	}
	if d.Snapshot == nil || len(d.Readings) != 0 || d.NextReading == nil || !d.NextReading.Equal(p.DoubtSince.Add(30*time.Second)) {
		t.Errorf("the evidence is %+v, %+v, next %v", d.Snapshot, d.Readings, d.NextReading)
	}
	if !offers(d, "confirm-recorded "+id) || offers(d, "confirm-not-recorded "+id+" --refund") {
		t.Errorf("offered: %v", d.Commands)
	}
	w.Clock.Advance(16 * time.Minute)
	d = w.shown(g, p)
	for _, words := range []string{
		"confirm-recorded " + id, "confirm-not-recorded " + id + " --send-again",
		"confirm-not-recorded " + id + " --refund", "note " + id + ` "what you found"`,
	} {
		if !offers(d, words) {
			t.Errorf("%s is not among %v", words, d.Commands)
		}
	}
	text := string(must(t, func() ([]byte, error) { return json.Marshal(d) }))
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
	w := newWorld(t)
	g := w.Gateway()
	p := w.Doubtful(g, "drop_after")
	made := p.CreatedAt
	w.Clock.Advance(3 * time.Hour)
	w.Wipe()
	w.rebuild(g)
	p = w.Stored(g, p.ID)
	since := "made since " + made.UTC().Format("2006-01-02 15:04:05Z")
	if advice := strings.Join(w.shown(g, p).Advice, "\n"); p.State != flows.InDoubt || !strings.Contains(advice, since) {
		t.Errorf("%q is missing in the advice on a payment that is %s:\n%s", since, p.State, advice)
	}
}

// TestShowSaysWhatToCheck: a deferral and a validation leave no payment in the club system, so operators are
// not asked to look for one.
func TestShowSaysWhatToCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	for method, words := range map[flows.Method][]string{
		flows.Deferred: {
			"was deferred to " + w.settlementCases()[flows.Deferred].start.DueDate,
			"the contact owes 149.00 EUR", "makes no payment",
		},
		flows.Free:     {"was validated", "its products are with the contact", "no payment exists"},
		flows.InPerson: {"exactly one payment of 149.00 EUR at the desk (cash)"},
	} {
		w.Fault(clubsim.Fault{Match: w.settlementCases()[method].request(), Kind: "error_after", Status: 500, Times: new(1)})
		p := must(t, func() (*flows.Payment, error) { return w.settles(g, method) })
		for _, state := range []flows.PaymentState{flows.InDoubt, flows.Blocked} {
			if state != p.State {
				w.Put(g, p.ID, state)
			}
			d := w.shown(g, p)
			advice := strings.Join(d.Advice, "\n")
			for _, part := range append(words, string(p.Sale), d.ContactNumber) {
				if d.State != state || part == "" || !strings.Contains(advice, part) {
					t.Errorf("%s, %s: %q is missing in\n%s", method, d.State, part, advice)
				}
			}
			if strings.Contains(advice, "exactly one payment") != (method == flows.InPerson) || strings.Contains(advice, "At the processor") {
				t.Errorf("%s, %s: the advice sends to what is not there:\n%s", method, d.State, advice)
			}
		}
	}
}

func TestShowBlocked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Doubtful(g, "error_before")
	w.tamper(p)
	p = w.Advance(g, p)
	d := w.shown(g, p)
	advice := strings.Join(d.Advice, "\n")
	for _, part := range []string{
		p.Reason, p.ProcessorID + " is captured: 149.00 EUR captured, 0.00 EUR refunded",
		string(p.Sale), d.ContactNumber, "not both",
	} {
		if p.State != flows.Blocked || part == "" || !strings.Contains(advice, part) {
			t.Errorf("%q is missing in the advice on a payment that is %s:\n%s", part, p.State, advice)
		}
	}
	if len(d.Commands) != 2 || !offers(d, "confirm-recorded "+string(p.ID)) || !strings.Contains(d.Commands[1], "payments note") {
		t.Errorf("offered: %v", d.Commands)
	}
	w.resetProcessor()
	if d = w.shown(g, p); d.AtProcessor != nil || d.Problem == "" {
		t.Errorf("the processor forgot it: %+v", d)
	}
}

// TestShowEveryState: show works for a payment in any state.
func TestShowEveryState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Started(g)
	for _, state := range flows.PaymentStates {
		w.Put(g, p.ID, state)
		d := w.shown(g, p)
		if decides := strings.Contains(strings.Join(d.Commands, "\n"), "confirm"); len(d.Advice) == 0 || decides && state != flows.InDoubt {
			t.Errorf("%s: %v %v", state, d.Advice, d.Commands)
		}
	}
	w.FailCalls(getCall, 1)
	if d := w.shown(g, p); d.AtProcessor != nil || d.Problem == "" {
		t.Errorf("the processor was down: %+v", d)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	list := func(in payment.ListOptions) (states string) {
		listed := must(t, func() (payment.Page, error) { return g.List(t.Context(), in) })
		for _, item := range listed.Items {
			states += string(item.State) + " "
		}
		return strings.TrimSpace(states)
	}
	if got := list(payment.ListOptions{All: true}); got != "" {
		t.Errorf("listed: %s", got)
	}
	w.Advance(g, w.Authorised(g))
	w.Clock.Advance(time.Second)
	blocked := w.Authorised(g)
	w.tamper(blocked)
	w.Advance(g, blocked)
	w.Clock.Advance(time.Second)
	w.Doubtful(g, "error_before")
	w.Clock.Advance(time.Second)
	w.Started(g)
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
	if _, err := g.List(t.Context(), payment.ListOptions{State: "lost"}); flows.CodeOf(err) != flows.InvalidRequest {
		t.Errorf("an unknown state: %v", err)
	}
}

// TestListAfterLoss: until Redis has been compared with the processor, a listing is marked incomplete.
func TestListAfterLoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	w.Doubtful(g, "drop_after")
	w.Wipe()
	list := func() payment.Page {
		return must(t, func() (payment.Page, error) { return g.List(t.Context(), payment.ListOptions{}) })
	}
	if listed := list(); len(listed.Items) != 0 || !listed.Incomplete {
		t.Errorf("before the comparison: %+v", listed)
	}
	w.rebuild(g)
	if listed := list(); len(listed.Items) != 1 || listed.Incomplete {
		t.Errorf("after it: %+v", listed)
	}
}

// TestDoubtAmongThousands: payments that wait for an operator are found by state, however many others are
// open, even if a record is unreadable or was never listed.
func TestDoubtAmongThousands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	for i := range 2500 { // due before the others
		p := &flows.Payment{
			ID: flows.NewPaymentID(fmt.Sprint("waiting", i), 1), State: flows.Intent, Method: flows.ByCard,
			Registration: fmt.Sprint("waiting", i), Generation: 1, UpdatedAt: w.Clock.Now(), CreatedAt: w.Clock.Now(),
		}
		if err := g.Store.Rebuild(t.Context(), &flows.Registration{ID: p.Registration, Generation: 1}, p, 0); err != nil {
			t.Fatal(err)
		}
	}
	doubt := w.Doubtful(g, "error_before")
	w.Clock.Advance(time.Second)
	damaged := w.Started(g)
	w.Redis.HSet(t.Context(), redisKey(damaged), "state", "recorded")
	if _, err := g.Advance(t.Context(), damaged.ID); err == nil {
		t.Error("a damaged record was read")
	}
	for _, open := range []int{2500, 0} { // with the lists, then without them after a poll, as an older version leaves it
		page := must(t, func() (payment.Page, error) { return g.List(t.Context(), payment.ListOptions{}) })
		if len(page.Items) != 2 || page.Items[0].ID != doubt.ID || page.Items[1].ID != damaged.ID || page.More {
			t.Errorf("listed: %+v", page)
		}
		counts := must(t, func() (map[flows.PaymentState]store.StateCount, error) { return g.Counts(t.Context()) })
		if in := counts[flows.InDoubt]; in.Payments != 1 || !in.Oldest.Equal(doubt.InDoubtSince().Truncate(time.Millisecond)) ||
			counts[flows.Blocked].Payments != 1 || counts[flows.Intent].Payments != open {
			t.Errorf("counted: %+v", counts)
		}
		page = must(t, func() (payment.Page, error) { return g.List(t.Context(), payment.ListOptions{All: true}) })
		if page.More != (open > 0) || !slices.ContainsFunc(page.Items, func(s payment.Summary) bool { return s.ID == doubt.ID }) {
			t.Errorf("%d payments are listed, more: %t", len(page.Items), page.More)
		}
		w.Redis.Del(t.Context(), "fd:{fd:payments:open}:states")
		w.Clock.Advance(time.Minute)
		w.Advance(g, doubt)
		g.Advance(t.Context(), damaged.ID) // fails as before
	}
}
