package ops_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mail/sink"
)

// endMembership is the club system's operation that ends a membership online.
var endMembership = frontdesktest.Operation{Name: "end of a membership", Method: http.MethodPost,
	Path: "/sim/*/subscriptions/*/online_cancellation"}

// TestOnlineCancellationSurvivesKill kills a gateway between its claim and the club system's response. The club system is not asked again:
// the cancellation is in doubt, operators see that, and end it. The person learns by mail what becomes of it.
func TestOnlineCancellationSurvivesKill(t *testing.T) {
	t.Parallel()
	for name, phase := range map[string]frontdesktest.Phase{
		"before the request arrives": frontdesktest.BeforeRequest, "after the membership has ended": frontdesktest.AfterEffect,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, mails := frontdesktest.NewEnv(t), frontdesktest.NewMailServer(t, sink.Config{})
			frontdesktest.Must(t, env.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.OnlineCancellation = true }))
			ended := 0
			if phase == frontdesktest.AfterEffect {
				ended = 1
			}
			statement := killWhileCancelling(t, env, phase)
			next, client := env.Gateway(t, mails.Environment()...)
			frontdesktest.AgeCancellation(t, env.Redis, statement.Id, 2*time.Minute)
			frontdesktest.Eventually(t, "it is in doubt", func() bool {
				open := listStatements(t, next.OpsAddress()).Items
				return len(open) == 1 && open[0].Online != nil && open[0].Online.State == flows.OnlineInDoubt
			})
			path := "/v1/cancellations/" + statement.Id + "/confirm"
			var acknowledgement api.Acknowledgement
			first := client.Do("POST", path, nil)
			first.Into(http.StatusOK, &acknowledgement)
			if acknowledgement.EndDate != nil || !strings.Contains(acknowledgement.Text, "follows by email") {
				t.Errorf("in doubt, it is acknowledged as %+v", acknowledgement)
			}
			expectAll(t, mustRunStatements(t, next.OpsAddress(), "list"), "received (in_doubt)")
			expectAttempts(t, env, ended)
			decision, want := "not-cancelled", 1
			if ended > 0 {
				decision, want = "cancelled", 2
			}
			mustRunStatements(t, next.OpsAddress(), decision, flows.StatementID(statement.Id))
			frontdesktest.Eventually(t, "the person is told", func() bool { return len(mails.Taken()) >= want })
			for _, mail := range mails.Taken() {
				isEnd := mail.Subject == "When your contract ends" && ended > 0
				if !isEnd && sameLines(mail.Text) != acknowledgement.Text || len(mails.Taken()) != want {
					t.Errorf("of %d mails, one says\n%s", len(mails.Taken()), mail.Text)
				}
			}
			if again := client.Do("POST", path, nil); string(again.Body) != string(first.Body) {
				t.Errorf("once it was decided, the acknowledgement is %s, not %s", again.Body, first.Body)
			}
			expectAttempts(t, env, ended)
		})
	}
}

// killWhileCancelling has a member confirm a cancellation at a gateway that is killed in a phase of its request to the club system.
func killWhileCancelling(t *testing.T, env frontdesktest.Env, phase frontdesktest.Phase) (statement api.Statement) {
	t.Helper()
	upstreams := env.Upstreams.Proxy()
	t.Cleanup(upstreams.Close)
	doomed, client := env.Gateway(t, "FRONTDESK_CLUB_URL="+upstreams.URL+"/sim")
	reached, killed := make(chan struct{}), make(chan struct{})
	upstreams.Add(&frontdesktest.Breakpoint{Operation: endMembership, Phase: phase, OnHit: func() {
		close(reached)
		<-killed
	}})
	client.As("flexible").Do("POST", "/v1/cancellations", `{}`, frontdesktest.Key("")).Into(http.StatusCreated, &statement)
	if statement.EndDate == nil {
		t.Fatalf("it is not planned online: %+v", statement)
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = client.Try("POST", "/v1/cancellations/"+statement.Id+"/confirm", nil) // its response is lost
	}()
	select {
	case <-reached:
	case <-answered:
		t.Error("it is confirmed without a request to the club system")
	}
	doomed.Kill()
	close(killed)
	<-answered
	return statement
}

// expectAttempts expects the requests that the club system got, and the memberships that it has ended: each once.
func expectAttempts(t *testing.T, env frontdesktest.Env, want int) {
	t.Helper()
	sent := 0
	for _, request := range env.Upstreams.Sim.Requests() {
		if request.Operation == "cancelSubscription" {
			sent++
		}
	}
	if ended := env.Upstreams.Sim.Cancellations(); sent != want || len(ended) != want || want > 0 && ended[0].Repeated != 0 {
		t.Errorf("%d requests arrived, want %d; the club system has %+v", sent, want, ended)
	}
}
