package ops_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/statements"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mail/sink"
)

// TestMemberStatesDuringOutage: while the club system is down, a logged-in member who gives name and address can state what a
// stranger can.
func TestMemberStatesDuringOutage(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	member := client.As("flexible")
	env.SetFaults(t, clubsim.Fault{Match: clubsim.FaultMatch{Path: "/contacts/*"}, Kind: "error_before", Status: 503})
	const body = `{"name":"Ada Martin","email":"ada@example.com","contract":"M-1008"}`
	for _, kind := range []string{"withdrawals", "cancellations"} {
		client.Do("POST", "/v1/"+kind, body, frontdesktest.Key("")).Into(http.StatusCreated, nil)
		if response := member.Do("POST", "/v1/"+kind, body, frontdesktest.Key("")); response.Status != http.StatusCreated {
			t.Errorf("%s of a logged-in member: %d %s", kind, response.Status, response.Body)
		}
	}
}

// TestStrangerSuppressesNoAcknowledgement: however often a stranger states something for somebody's address, the acknowledgement of what
// that person states with a login is mailed.
func TestStrangerSuppressesNoAcknowledgement(t *testing.T) {
	t.Parallel()
	env, mails := frontdesktest.NewEnv(t), frontdesktest.NewMailServer(t, sink.Config{})
	gateway, client := env.Gateway(t, mails.Environment()...)
	const victim = "victim@example.com"
	for n := range 10 {
		declare(client, "withdrawal", `{"name":"Nobody `+strconv.Itoa(n)+`","email":"`+victim+`"}`)
	}
	frontdesktest.Eventually(t, "the stranger's are mailed", func() bool { return len(mails.Taken()) == 10 })
	member := client.As("flexible")
	var statement api.Statement
	member.Do("POST", "/v1/withdrawals", `{"email":"`+victim+`"}`, frontdesktest.Key("")).Into(http.StatusCreated, &statement)
	member.Do("POST", "/v1/withdrawals/"+statement.Id+"/confirm", nil).Into(http.StatusOK, nil)
	frontdesktest.Eventually(t, "it is followed up", func() bool {
		return len(mails.Taken()) == 11 || strings.Contains(gateway.Log(), "acknowledgement not mailed")
	})
	if len(mails.Taken()) != 11 {
		t.Error("the acknowledgement of an identified member's withdrawal is not mailed")
	}
}

// TestCancellationProlongsNothing: a pass that expires is not cancelled for a later day.
func TestCancellationProlongsNothing(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	frontdesktest.Must(t, env.Upstreams.Sim.Configure(func(s *clubsim.Settings) { s.OnlineCancellation = true }))
	_, client := env.Gateway(t)
	member := client.As("customer")
	var list api.MembershipList
	member.Do("GET", "/v1/me/memberships", nil).Into(http.StatusOK, &list)
	natural := frontdesktest.Value(list.Items[0].EarliestEnd)
	var statement api.Statement
	member.Do("POST", "/v1/cancellations", `{"endDate":"2035-12-31","membership":"`+list.Items[0].Id+`"}`, frontdesktest.Key("")).
		Into(http.StatusCreated, &statement)
	var acknowledgement api.Acknowledgement
	member.Do("POST", "/v1/cancellations/"+statement.Id+"/confirm", nil).Into(http.StatusOK, &acknowledgement)
	ended := env.Upstreams.Sim.Cancellations()
	if len(ended) > 0 && ended[0].Date > natural || frontdesktest.Value(acknowledgement.EndDate) > natural {
		t.Errorf("it expires on %s; sent %+v, acknowledged %s", natural, ended, frontdesktest.Value(acknowledgement.EndDate))
	}
}

// TestNobodyIsNotifiedWithoutMail: without a mail server, operators read that they must send the texts themselves.
func TestNobodyIsNotifiedWithoutMail(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	gateway, client := env.Gateway(t)
	id := flows.StatementID(declare(client, "cancellation", `{"name":"Ada Martin","email":"ada@example.com"}`).Id)
	var shown statements.Detail
	show := func() {
		frontdesktest.Must(t, json.Unmarshal([]byte(mustRunStatements(t, gateway.OpsAddress(), "--json", "show", id)), &shown))
	}
	frontdesktest.Eventually(t, "it is followed up", func() bool {
		show()
		return frontdesktest.RedisClient(t, env.Redis).ZScore(t.Context(), "fd:{statements}:due", id).Err() != nil
	})
	show()
	if shown.Notified && len(shown.Warnings) == 0 {
		t.Errorf("nothing can be mailed, and the statement is shown as notified, without a warning")
	}
	mustRunStatements(t, gateway.OpsAddress(), "done", id, "--end-date", "2031-01-31")
	if show(); len(shown.Warnings) == 0 {
		t.Error("the end is recorded without the warning that it cannot be mailed")
	}
}

// TestUnreadableStatementIsListed: a statement that this gateway cannot read is listed, exported and shown with why. Nothing can be
// recorded about it, which operators read as well.
func TestUnreadableStatementIsListed(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	gateway, client := env.Gateway(t)
	for _, name := range []string{"Ada", "Grace"} {
		declare(client, "withdrawal", `{"name":"`+name+`","email":"`+name+`@example.com"}`)
	}
	waiting := listStatements(t, gateway.OpsAddress()).Items
	if len(waiting) != 2 {
		t.Fatalf("waiting: %+v", waiting)
	}
	redis := frontdesktest.RedisClient(t, env.Redis)
	frontdesktest.Must(t, redis.HSet(t.Context(), "fd:{statements}:statement:"+waiting[0].ID, "body", "sealed by an unknown key").Err())
	for _, words := range [][]string{{"list"}, {"export"}} {
		said, ok := runStatements(t, gateway.OpsAddress(), words...)
		if !ok || !strings.Contains(said, waiting[1].Name) {
			t.Errorf("statements %s says: %s", words[0], said)
		}
	}
	const why = "altered in Redis"
	received := waiting[0].ReceivedAt.UTC().Format("2006-01-02 15:04:05Z")
	expectAll(t, mustRunStatements(t, gateway.OpsAddress(), "show", waiting[0].ID), waiting[0].ID, "unreadable", received, why)
	for _, words := range [][]string{{"done", waiting[0].ID, "--reference", "R1"}, {"note", waiting[0].ID, "called"}} {
		if said, ok := runStatements(t, gateway.OpsAddress(), words...); ok || !strings.Contains(said, "cannot read this statement") ||
			!strings.Contains(said, why) {
			t.Errorf("statements %s says: %s", words[0], said)
		}
	}
}

// TestOtherLastDay: where the club system ends a membership on another day than the one that was sent, that day is acknowledged.
func TestOtherLastDay(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	frontdesktest.Must(t, env.Upstreams.Sim.Configure(func(s *clubsim.Settings) { s.OnlineCancellation = true }))
	target, err := url.Parse(env.Upstreams.URL)
	frontdesktest.Must(t, err)
	var asked, real atomic.Pointer[string]
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(response *http.Response) error {
			body, err := io.ReadAll(response.Body)
			if from, to := asked.Load(), real.Load(); from != nil {
				body = bytes.ReplaceAll(body, []byte(`"validThrough":"`+*from), []byte(`"validThrough":"`+*to))
			}
			response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			response.Header.Set("Content-Length", strconv.Itoa(len(body)))
			return err
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	_, client := env.Gateway(t, "FRONTDESK_CLUB_URL="+server.URL+"/sim")
	var statement api.Statement
	member := client.As("flexible")
	member.Do("POST", "/v1/cancellations", `{}`, frontdesktest.Key("")).Into(http.StatusCreated, &statement)
	last := "2027-12-31"
	asked.Store(statement.EndDate)
	real.Store(&last)
	var acknowledgement api.Acknowledgement
	client.Do("POST", "/v1/cancellations/"+statement.Id+"/confirm", nil).Into(http.StatusOK, &acknowledgement)
	var list api.MembershipList
	member.Do("GET", "/v1/me/memberships", nil).Into(http.StatusOK, &list)
	if shown := frontdesktest.Value(list.Items[0].EndDate); frontdesktest.Value(acknowledgement.EndDate) != shown {
		t.Errorf("acknowledged to end on %s; the club system has answered and shows %s", frontdesktest.Value(acknowledgement.EndDate), shown)
	}
}

// TestEndIsToldAndCorrected: a cancellation is not done without the end that its acknowledgement promises, nor with one before its receipt,
// unless the operator says why the contract has none. A corrected end goes out as a further mail, which says what it replaces.
func TestEndIsToldAndCorrected(t *testing.T) {
	t.Parallel()
	env, mails := frontdesktest.NewEnv(t), frontdesktest.NewMailServer(t, sink.Config{})
	gateway, client := env.Gateway(t, mails.Environment()...)
	at := gateway.OpsAddress()
	id := flows.StatementID(declare(client, "cancellation", `{"name":"Ada Martin","email":"ada@example.com"}`).Id)
	for _, words := range [][]string{{"--reference", "letter 4711"}, {"--end-date", "2013-01-31"},
		{"--end-date", "2031-01-31", "--no-end-date", "it is not hers"}} {
		if said, ok := runStatements(t, at, append([]string{"done", id}, words...)...); ok {
			t.Errorf("%v: %s", words, said)
		}
	}
	for n, day := range []string{"2031-01-31", "2032-01-31"} {
		mustRunStatements(t, at, "done", id, "--end-date", day)
		frontdesktest.Eventually(t, "the end is mailed", func() bool { return len(mails.Taken()) == n+2 })
	}
	expectAll(t, mails.Taken()[2].Text, "31 January 2032", "replaces", "31 January 2031")
	expectAll(t, mustRunStatements(t, at, "show", id), "The end 2031-01-31 was corrected to 2032-01-31.")
	other := flows.StatementID(declare(client, "cancellation", `{"name":"Grace","email":"grace@example.com"}`).Id)
	expectAll(t, mustRunStatements(t, at, "done", other, "--no-end-date", "another club's"), "The contract does not end: another club's")
}
