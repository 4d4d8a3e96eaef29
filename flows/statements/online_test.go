package statements_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/e2e/flowstest"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/statements"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// leaver is a member whose minimum term has ended.
const leaver = "flexible"

var cancellation = clubsim.FaultMatch{Method: http.MethodPost, Path: "/subscriptions/*/online_cancellation"}

func online(world *flowstest.World, change func(*clubsim.Settings)) {
	world.Helper()
	if err := world.Sim.Configure(change); err != nil {
		world.Fatal(err)
	}
}

// onlineDesk is a desk at clubs whose members can cancel online.
func onlineDesk(t *testing.T) (*flowstest.World, *desk) {
	t.Helper()
	world := flowstest.NewWorld(t)
	online(world, func(s *clubsim.Settings) { s.OnlineCancellation = true })
	return world, newDesk(world, flowstest.NewKeyring(t, "one"))
}

// identityOf is a persona whom the login of its club has identified.
func identityOf(persona clubsim.Persona) flows.ContactIdentity {
	return flows.ContactIdentity{ClientToken: "demo", ContactID: club.IRI(persona.ContactID).ID(), ClubID: club.IRI(persona.ClubID).ID()}
}

// cancel states a cancellation of a member identified by the club's login.
func (d *desk) cancel(persona, membership, wanted string) (*flows.Statement, string) {
	d.world.Helper()
	identity := identityOf(d.world.Persona(persona))
	statement, secret, err := d.State(d.world.Context(), statements.Request{
		Kind: flows.Cancellation, ClientToken: "demo", Membership: membership,
		Contact:  &identity,
		Declared: flows.Declaration{Language: "en", EndDate: wanted},
	})
	if err != nil {
		d.world.Fatal(err)
	}
	return statement, secret
}

// TestCancelledOnline: the club system ends a membership at most once, whatever it responds. What is not certainly done waits for an
// operator.
func TestCancelledOnline(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind  string // of the fault
		how   func(*clubsim.Settings)
		want  flows.OnlineState
		ended int // memberships in the club system
		sent  int // requests that end one
	}{
		"accepted":                     {"", nil, flows.OnlineCarriedOut, 1, 1},
		"accepted with an empty body":  {"", func(s *clubsim.Settings) { s.WriteBodies = false }, flows.OnlineCarriedOut, 1, 1},
		"done, then an error":          {"error_after", nil, flows.OnlineInDoubt, 1, 1},
		"done, then cut":               {"drop_after", nil, flows.OnlineInDoubt, 1, 1},
		"done, with a garbled record":  {"malformed", nil, flows.OnlineCarriedOut, 1, 1},
		"an error":                     {"error_before", nil, flows.OnlineInDoubt, 0, 1},
		"a firewall's page":            {"foreign_page", nil, flows.OnlineInDoubt, 0, 1},
		"a firewall's JSON":            {"foreign_json", nil, flows.OnlineInDoubt, 0, 1},
		"a firewall's empty response":  {"empty_success", nil, flows.OnlineInDoubt, 0, 1},
		"the club has switched it off": {"", func(s *clubsim.Settings) { s.OnlineCancellation = false }, flows.OnlineRefused, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world, d := onlineDesk(t)
			stated, secret := d.cancel(leaver, "", "")
			if stated.Online == nil || stated.Online.State != flows.OnlinePlanned || len(world.Sim.Cancellations()) != 0 {
				t.Fatalf("stated: %+v", stated.Online)
			}
			if test.how != nil {
				online(world, test.how)
			}
			if test.kind != "" {
				world.Fault(clubsim.Fault{Match: cancellation, Kind: test.kind})
			}
			confirmed := d.confirm(flows.Cancellation, secret)
			if confirmed.Online.State != test.want || confirmed.ReceivedAt.IsZero() {
				t.Fatalf("confirmed: %s, %+v", confirmed.State, confirmed.Online)
			}
			isDone := test.want == flows.OnlineCarriedOut
			if isDone != (confirmed.State == flows.Done) || isDone != (confirmed.AcknowledgedEnd == stated.Online.Date) {
				t.Errorf("confirmed: %s, ends %q", confirmed.State, confirmed.AcknowledgedEnd)
			}
			if heading, rest, _ := strings.Cut(confirmed.Text, "\n\n"); isDone != strings.HasPrefix(heading, "Your cancellation is done: ") ||
				isDone != strings.Contains(rest, "Your cancellation has been carried out. Your contract ends on ") {
				t.Errorf("acknowledged as\n%s", confirmed.Text)
			}
			world.Fault()
			d.followUp()
			if again := d.confirm(flows.Cancellation, secret); again.Text != confirmed.Text || again.Online.State != test.want {
				t.Errorf("confirmed again: %+v\n%s", again.Online, again.Text)
			}
			expectEnded(world, test.ended, stated.Online.Date)
			if sent := sentTo(world); sent != test.sent {
				t.Errorf("%d requests, want %d", sent, test.sent)
			}
		})
	}
}

// sentTo counts the requests that end a membership.
func sentTo(world *flowstest.World) (sent int) {
	for _, request := range world.Sim.Requests() {
		if request.Operation == "cancelSubscription" {
			sent++
		}
	}
	return sent
}

// TestCancellationsOfOneMembership: whatever a member states and confirms, on however many devices, a membership is ended by one
// request. While that is in doubt, nothing else is sent until an operator has found that it was not carried out.
func TestCancellationsOfOneMembership(t *testing.T) {
	t.Parallel()
	world, d := onlineDesk(t)
	_, first := d.cancel(leaver, "", "")
	_, earlier := d.cancel(leaver, "", "")
	world.Fault(clubsim.Fault{Match: cancellation, Kind: "error_before"})
	doubted := d.confirm(flows.Cancellation, first)
	world.Fault()
	_, later := d.cancel(leaver, "", "")
	for _, secret := range []string{earlier, later} {
		received := d.confirm(flows.Cancellation, secret)
		isPlanned := received.Online != nil // before the doubt
		if isPlanned != (secret == earlier) || isPlanned && received.Online.State != flows.OnlineRefused ||
			received.State != flows.Received || received.AcknowledgedEnd != "" {
			t.Errorf("during the doubt, another one is %s, %+v", received.State, received.Online)
		}
	}
	if sent := sentTo(world); sent != 1 {
		t.Errorf("%d requests were sent", sent)
	}
	if _, err := d.EndDoubt(world.Context(), doubted.ID, "eve", false); err != nil {
		t.Fatal(err)
	}
	secrets := make([]string, 4)
	for i := range secrets {
		_, secrets[i] = d.cancel(leaver, "", "")
	}
	var running sync.WaitGroup
	states := make([]flows.OnlineState, len(secrets))
	for i, secret := range secrets {
		running.Go(func() {
			if received, err := d.Confirm(world.Context(), "demo", flows.Cancellation, secret); err == nil {
				states[i] = received.Online.State
			}
		})
	}
	running.Wait()
	slices.Sort(states)
	want := []flows.OnlineState{flows.OnlineCarriedOut, flows.OnlineRefused, flows.OnlineRefused, flows.OnlineRefused}
	if !slices.Equal(states, want) || sentTo(world) != 2 {
		t.Errorf("after the doubt, they are %v, by %d requests", states, sentTo(world))
	}
}

// TestRedisForgetsCancellation: a cancellation whose receipt Redis has lost is confirmed again, and the membership is not ended again.
func TestRedisForgetsCancellation(t *testing.T) {
	t.Parallel()
	world, d := onlineDesk(t)
	_, secret := d.cancel(leaver, "", "")
	key := "fd:{statements}:statement:" + flows.StatementID(secret)
	before := flowstest.Must(t, func() (string, error) { return world.Redis.Dump(t.Context(), key).Result() })
	d.confirm(flows.Cancellation, secret)
	for _, lost := range world.Redis.Keys(t.Context(), "fd:{statements}:leaving:*").Val() {
		world.Redis.Del(t.Context(), lost)
	}
	if err := world.Redis.RestoreReplace(t.Context(), key, time.Hour, before).Err(); err != nil {
		t.Fatal(err)
	}
	if again := d.confirm(flows.Cancellation, secret); again.ReceivedAt.IsZero() || sentTo(world) != 1 {
		t.Errorf("confirmed again, it is %s, %+v, by %d requests", again.State, again.Online, sentTo(world))
	}
}

func expectEnded(world *flowstest.World, want int, date string) {
	world.Helper()
	ended := world.Sim.Cancellations()
	if len(ended) != want || want > 0 && (ended[0].Date != date || ended[0].Repeated != 0) {
		world.Errorf("the club system has %+v, want %d on %s", ended, want, date)
	}
}

// TestGatewayDiesWhileCancelling: a gateway that dies between its claim and the outcome leaves a doubt, which is not sent again and an
// operator ends.
func TestGatewayDiesWhileCancelling(t *testing.T) {
	t.Parallel()
	for name, isDone := range map[string]bool{"before the request arrives": false, "after the club system has done it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := flowstest.NewWorld(t)
			online(world, func(s *clubsim.Settings) { s.OnlineCancellation = true })
			keys := flowstest.NewKeyring(t, "one")
			dead, alive := newDesk(world, keys), newDesk(world, keys)
			stated, secret := dead.cancel(leaver, "", "")
			reached, release := make(chan struct{}), make(chan struct{})
			block := func() { close(reached); <-release }
			const call = flowstest.Call("POST /sim/demo/subscriptions/*/online_cancellation")
			if isDone {
				world.InjectFault(call, nil, block)
			} else {
				world.InjectFault(call, block, nil)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = dead.Confirm(world.Context(), "demo", flows.Cancellation, secret) // its response is lost
			}()
			frontdesktest.Receive(t, reached, "the cancellation is being sent")
			world.Clock.Advance(2 * time.Minute)
			alive.followUp()
			again := alive.confirm(flows.Cancellation, secret)
			if again.Online.State != flows.OnlineInDoubt || again.State != flows.Received || again.AcknowledgedEnd != "" || again.Text == "" {
				t.Errorf("after the death: %s, %+v", again.State, again.Online)
			}
			page, err := alive.List(world.Context(), statements.ListOptions{})
			if err != nil || len(page.Items) != 1 || page.Items[0].Online.State != flows.OnlineInDoubt {
				t.Fatalf("the queue is %+v, %v", page, err)
			}
			expectDoubts(alive, 1)
			if _, err := alive.Done(world.Context(), again.ID, statements.Completion{Operator: "eve"}); flows.CodeOf(err) != flows.NotDecidable {
				t.Errorf("done in doubt: %v", err)
			}
			detail, err := alive.EndDoubt(world.Context(), again.ID, "eve", isDone)
			if err != nil || (detail.State == flows.Done) != isDone || isDone && detail.EndDate != stated.Online.Date {
				t.Errorf("the operator ended it as %+v, %v", detail.Summary, err)
			}
			if _, err := alive.EndDoubt(world.Context(), again.ID, "eve", isDone); flows.CodeOf(err) != flows.NotDecidable {
				t.Errorf("ended again: %v", err)
			}
			expectDoubts(alive, 0)
			want := 0
			if isDone {
				want = 1
			}
			expectEnded(world, want, stated.Online.Date)
			close(release)
			frontdesktest.Receive(t, ended, "the dead gateway's call ends")
		})
	}
}

func expectDoubts(d *desk, want int64) {
	d.world.Helper()
	counts, err := d.Counts(d.world.Context())
	if err != nil || counts.InDoubt != want {
		d.world.Errorf("%d are in doubt, %v", counts.InDoubt, err)
	}
}

// TestPlannedCancellations: only an ordinary cancellation of an identified contact is planned, for the day that the person is shown.
func TestPlannedCancellations(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	d := newDesk(world, flowstest.NewKeyring(t, "one"))
	if stated, _ := d.cancel(leaver, "", ""); stated.Online != nil {
		t.Errorf("without online cancellation: %+v", stated.Online)
	}
	online(world, func(s *clubsim.Settings) { s.OnlineCancellation = true })
	later := world.Clock.Now().AddDate(0, 6, 0).Format(time.DateOnly)
	if stated, _ := d.cancel(leaver, "", later); stated.Online == nil || stated.Online.Date != later {
		t.Errorf("for a later day: %+v", stated.Online)
	}
	soon := world.Clock.Now().AddDate(0, 0, 3).Format(time.DateOnly)
	if stated, _ := d.cancel("committed", "", soon); stated.Online == nil || stated.Online.Date < later {
		t.Errorf("for a day within the minimum term: %+v", stated.Online)
	}
	secret := d.state(flows.Cancellation, "ada@example.com")
	if received := d.confirm(flows.Cancellation, secret); received.Online != nil || received.State != flows.Received {
		t.Errorf("of a stranger: %+v", received)
	}
}
