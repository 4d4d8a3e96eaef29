package ops_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/statements"
	"frontdesk/upstream/mail/sink"
)

// runStatements runs frontdesk statements as an operator does.
func runStatements(t *testing.T, at string, words ...string) (said string, ok bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), frontdesktest.Binary(t), append([]string{"statements"}, words...)...)
	cmd.Env = []string{"FRONTDESK_OPS_ADDR=" + at}
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func mustRunStatements(t *testing.T, at string, words ...string) string {
	t.Helper()
	said, ok := runStatements(t, at, words...)
	if !ok {
		t.Fatalf("statements %s: %s", strings.Join(words, " "), said)
	}
	return said
}

// declare states and confirms.
func declare(client *frontdesktest.Client, kind, body string) (acknowledgement api.Acknowledgement) {
	var statement api.Statement
	client.Do("POST", "/v1/"+kind+"s", body, frontdesktest.Key("")).Into(http.StatusCreated, &statement)
	client.Do("POST", "/v1/"+kind+"s/"+statement.Id+"/confirm", nil).Into(http.StatusOK, &acknowledgement)
	return acknowledgement
}

// listStatements lists the statements, once their contracts were searched for.
func listStatements(t *testing.T, at string, words ...string) (page statements.Page) {
	t.Helper()
	text := mustRunStatements(t, at, append([]string{"--json", "list"}, words...)...)
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return page
}

// TestStatementsAtTheTerminal: operators see each statement with its deadline, whether it arrived within the period of a contract that was
// found, and what is at stake; they record once what was done.
func TestStatementsAtTheTerminal(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client, at := frontdesktest.NewClient(t, mock.URL), mock.OpsAddress()
	expectAll(t, mustRunStatements(t, at, "list"), "No statement waits for an operator.")
	bought := client.Register()
	client.Confirm(client.Pay(bought.Id), frontdesktest.ApprovedCard)
	paid := client.Await(bought.Id, api.Completed)
	person := frontdesktest.Person()
	client.Token = ""
	const unconfirmed = `{"name":"Not Confirmed","email":"later@example.com"}`
	client.Do("POST", "/v1/withdrawals", unconfirmed, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	acknowledged := declare(client, "withdrawal", `{"name":"Ada Martin","email":"`+strings.ToUpper(person.Email)+`"}`)
	declare(client, "withdrawal", `{"name":"=cmd|' /C calc'!A0","email":"nemo@example.net"}`)
	declare(client, "cancellation", `{"name":"Grace","email":"grace@example.net","type":"extraordinary","reason":"I move."}`)

	var of map[string]statements.Summary
	frontdesktest.Eventually(t, "the contract is found", func() bool {
		of = map[string]statements.Summary{}
		for _, item := range listStatements(t, at).Items {
			of[item.Email] = item
		}
		return of[strings.ToUpper(person.Email)].Period == flows.WithinPeriod
	})
	ada, nemo, grace := of[strings.ToUpper(person.Email)], of["nemo@example.net"], of["grace@example.net"]
	if len(of) != 3 || ada.AtStake == nil || ada.AtStake.Amount != paid.Payment.Total.Amount || nemo.AtStake != nil ||
		nemo.Period != flows.PeriodUnknown || grace.Type != "extraordinary" || grace.Period != "" {
		t.Errorf("the operator sees %+v", of)
	}
	if left := ada.Deadline.Sub(ada.ReceivedAt); left != flows.RefundWithin || grace.Deadline.Sub(grace.ReceivedAt) != flows.AnswerWithin {
		t.Errorf("the deadlines are %s and %s", ada.Deadline, grace.Deadline)
	}
	if first := listStatements(t, at).Items[0]; first.ID != grace.ID {
		t.Errorf("first is %+v, not the earliest deadline", first)
	}
	if only := listStatements(t, at, "--kind", "cancellation").Items; len(only) != 1 || only[0].ID != grace.ID {
		t.Errorf("the cancellations are %+v", only)
	}
	if acknowledged.Reference != ada.ID || !strings.Contains(acknowledged.Text, "Reference: "+ada.ID) {
		t.Errorf("Ada has the reference %s, and the operator %s", acknowledged.Reference, ada.ID)
	}
	expectAll(t, mustRunStatements(t, at, "show", acknowledged.Id), ada.ID, "Ada Martin") // by what only its person has
	last := *paid.Order.Essentials.Items[0].Withdrawal.Until                              // the day at the club that the buyer was shown
	expectAll(t, mustRunStatements(t, at, "show", ada.ID), "withdrawal until the end of "+last, bought.Id, "Ada Martin",
		"frontdesk statements done "+ada.ID)
	expectAll(t, mustRunStatements(t, at, "note", acknowledged.Id, "called her"), "called her", "demo")
	expectAll(t, mustRunStatements(t, at, "done", ada.ID, "--reference", "refund 4711"), "done", "refund 4711", "called her")
	for _, wrong := range []struct {
		words []string
		said  string
	}{
		{[]string{"done", ada.ID}, "demo has recorded this statement as done"},
		{[]string{"done", nemo.ID, "--end-date", "2031-01-31"}, "only of a cancellation"},
		{[]string{"done", grace.ID, "--end-date", "soon"}, "must be a day"},
		{[]string{"done", "nothing"}, "No received statement has this reference"},
		{[]string{"note", ada.ID, ""}, "must be one line"},
		{[]string{"list", "--kind", "complaint"}, "must be withdrawal or cancellation"},
		{[]string{"list", "--since", "yesterday"}, "must be a time"},
		{[]string{"list", "--operator-token", "guessed"}, "The operator's token is not known here"},
		{[]string{"export", "--format", "xml"}, "must be csv or jsonl"},
	} {
		if said, ok := runStatements(t, at, wrong.words...); ok || !strings.Contains(said, wrong.said) {
			t.Errorf("statements %s: %t, %s", strings.Join(wrong.words, " "), ok, said)
		}
	}
	expectAll(t, mustRunStatements(t, at, "done", grace.ID, "--end-date", "2031-01-31"), "2031-01-31")
	if open := listStatements(t, at).Items; len(open) != 1 || open[0].ID != nemo.ID {
		t.Errorf("open are %+v", open)
	}
	expectExports(t, at)
}

// expectExports checks what spreadsheets get: three statements, two of them withdrawals, and nothing that they would execute.
func expectExports(t *testing.T, at string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(mustRunStatements(t, at, "export"))).ReadAll()
	if err != nil || len(rows) != 4 || rows[0][0] != "id" {
		t.Fatalf("exported: %v, %v", rows, err)
	}
	for _, row := range rows[1:] {
		if strings.HasPrefix(row[9], "=") {
			t.Errorf("a spreadsheet would execute %q", row[9])
		}
	}
	if lines := strings.Count(mustRunStatements(t, at, "export", "--format", "jsonl", "--kind", "withdrawal"), "\n"); lines != 2 {
		t.Errorf("%d lines were exported", lines)
	}
	later := mustRunStatements(t, at, "export", "--since", time.Now().Add(time.Hour).Format(time.RFC3339))
	if strings.Count(later, "\n") != 1 {
		t.Errorf("exported as of later: %s", later)
	}
}

// TestStatementSurvivesKill kills gateways right after the confirmations of statements. The next gateway has each statement, with the same
// acknowledgement, and sends the mails that were not sent: one Message-ID for each, however often it is confirmed.
func TestStatementSurvivesKill(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	mails := frontdesktest.NewMailServer(t, sink.Config{})
	acknowledged := map[string]string{} // by the path that confirms
	for range 4 {
		doomed, client := env.Gateway(t, mails.Environment()...)
		for range 3 {
			var statement api.Statement
			body := `{"name":"Ada Martin","email":"ada` + strconv.Itoa(len(acknowledged)) + `@example.com"}`
			client.Do("POST", "/v1/withdrawals", body, frontdesktest.Key("")).Into(http.StatusCreated, &statement)
			path := "/v1/withdrawals/" + statement.Id + "/confirm"
			acknowledged[path] = string(client.Do("POST", path, nil).Body)
		}
		doomed.Kill()
	}
	_, client := env.Gateway(t, mails.Environment()...)
	for path, before := range acknowledged {
		if now := client.Do("POST", path, nil); string(now.Body) != before {
			t.Errorf("after the kill it is %s, not %s", now.Body, before)
		}
	}
	ids := map[string]map[string]bool{}
	frontdesktest.Eventually(t, "each person has the acknowledgement", func() bool {
		for _, mail := range mails.Taken() {
			if ids[mail.To] == nil {
				ids[mail.To] = map[string]bool{}
			}
			ids[mail.To][mail.MessageID] = true
		}
		return len(ids) == len(acknowledged)
	})
	for to, of := range ids {
		if len(of) != 1 {
			t.Errorf("%s has mails with the ids %v", to, of)
		}
	}
	for _, mail := range mails.Taken() {
		same := false
		for _, before := range acknowledged {
			var acknowledgement api.Acknowledgement
			_ = json.Unmarshal([]byte(before), &acknowledgement)
			same = same || strings.TrimSpace(strings.ReplaceAll(mail.Text, "\r\n", "\n")) == acknowledgement.Text
		}
		if !same || mail.Subject != "Your withdrawal has been received" {
			t.Errorf("the mail %q says\n%s", mail.Subject, mail.Text)
		}
	}
}

// TestAcknowledgementSurvivesKill kills a gateway that has received a statement: before the mail with the acknowledgement is queued, and
// between the mail and the event. The next gateway sends both, and the acknowledgement stays the same.
func TestAcknowledgementSurvivesKill(t *testing.T) {
	t.Parallel()
	for name, job := range map[string]string{"before the mail is queued": "mail:send", "before the event is queued": "webhook:deliver"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := frontdesktest.NewEnv(t)
			mails, to := frontdesktest.NewMailServer(t, sink.Config{}), newSubscriber(t, "crm", http.StatusNoContent)
			environment := append(mails.Environment(), subscribe(t, to.config("cancellation.*")))
			doomed, client, cut := gatewayUntil(t, env, job, environment...)
			var statement api.Statement
			client.Do("POST", "/v1/cancellations", `{"name":"Ada Martin","email":"ada@example.com"}`, frontdesktest.Key("")).
				Into(http.StatusCreated, &statement)
			path := "/v1/cancellations/" + statement.Id + "/confirm"
			before := client.Do("POST", path, nil)
			before.Into(http.StatusOK, nil)
			cut()
			doomed.Kill()
			if len(to.ids()) > 0 || job == "mail:send" && len(mails.Taken()) > 0 {
				t.Fatalf("before the kill, there are the mails %v and the events %v", mails.Taken(), to.ids())
			}
			_, client = env.Gateway(t, environment...)
			if again := client.Do("POST", path, nil); string(again.Body) != string(before.Body) {
				t.Errorf("after the kill it is %s, not %s", again.Body, before.Body)
			}
			followUp(t, env)
			frontdesktest.Eventually(t, "both are sent", func() bool { return len(mails.Taken()) > 0 && len(to.ids()) > 0 })
			event := to.deliveries()[0]
			if len(to.ids()) != 1 || event.Type != flows.CancellationReceived || event.Data["statementId"] != flows.StatementID(statement.Id) {
				t.Errorf("the event is %+v", to.deliveries())
			}
			var acknowledgement api.Acknowledgement
			before.Into(http.StatusOK, &acknowledgement)
			for _, mail := range mails.Taken() {
				if sameLines(mail.Text) != acknowledgement.Text || mail.MessageID != mails.Taken()[0].MessageID {
					t.Errorf("the mail %s says\n%s", mail.MessageID, mail.Text)
				}
			}
		})
	}
}

// gatewayUntil starts a gateway that loses Redis as soon as it queues a job of a kind. cut waits for that.
func gatewayUntil(
	t *testing.T, env frontdesktest.Env, job string, environment ...string,
) (doomed *frontdesktest.Process, client *frontdesktest.Client, cut func()) {
	t.Helper()
	wire := frontdesktest.NewMessageProxy(t, frontdesktest.Fault{Message: 1, Of: job, Permanent: true})
	near := "redis://" + wire.Forward(strings.TrimPrefix(env.Redis, "redis://"))
	doomed, client = env.Gateway(t, append(environment, "FRONTDESK_REDIS_URL="+near)...)
	return doomed, client, func() {
		t.Helper()
		frontdesktest.Eventually(t, "the gateway queues "+job, wire.Triggered)
	}
}

// followUp makes the statements due whose follow-up a gateway had taken: a minute passes.
func followUp(t *testing.T, env frontdesktest.Env) {
	t.Helper()
	const due = "fd:{statements}:due"
	client := frontdesktest.RedisClient(t, env.Redis)
	for _, id := range client.ZRange(t.Context(), due, 0, -1).Val() {
		client.ZAddXX(t.Context(), due, redis.Z{Score: 1, Member: id})
	}
}
