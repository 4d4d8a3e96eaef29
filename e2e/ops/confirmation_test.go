package ops_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mail/sink"
)

// TestConfirmationsSurviveKill kills a gateway while registrations are completed. Another one has each confirmation mailed to the address
// that the visitor entered: the page as the API shows it. All mails of one registration are the same mail.
func TestConfirmationsSurviveKill(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	server, to := frontdesktest.NewMailServer(t, sink.Config{}), newSubscriber(t, "crm", 204)
	environment := append(server.Environment(), subscribe(t, to.config("registration.completed")))
	doomed, client := env.Gateway(t, environment...)
	tokens := map[string]string{}
	for range 4 {
		registration := client.Register()
		client.Confirm(client.Pay(registration.Id), "4242424242424242")
		tokens[registration.Id] = client.Token
	}
	frontdesktest.Eventually(t, "a payment is recorded", func() bool { return len(env.Upstreams.Sim.Ledger()) > 0 })
	doomed.Kill()
	next, client := env.Gateway(t, environment...)
	verify := newVerifier(t, env)
	mailed := func() map[string]sink.Mail {
		byID := map[string]sink.Mail{}
		for _, mail := range server.Taken() {
			byID[mail.MessageID] = mail
		}
		return byID
	}
	frontdesktest.Eventually(t, "each confirmation is mailed and published", func() bool {
		verify()
		return len(mailed()) >= len(tokens) && len(to.ids()) >= len(tokens)
	})
	if len(mailed()) != len(tokens) {
		t.Errorf("%d mails for %d registrations", len(mailed()), len(tokens))
	}
	pages := map[string]bool{}
	for _, mail := range mailed() {
		if mail.To != string(frontdesktest.Person().Email) || !strings.Contains(mail.Subject, "Confirmation") {
			t.Errorf("to %s: %s", mail.To, mail.Subject)
		}
		pages[sameLines(mail.HTML)] = true
	}
	for id, token := range tokens {
		client.Token = token
		page := client.Do("GET", "/v1/registrations/"+id+"/confirmation", nil, [2]string{"Accept", "text/html"})
		if page.Status != http.StatusOK || !pages[sameLines(string(page.Body))] {
			t.Errorf("the page of %s was not mailed: %d", id, page.Status)
		}
		var document, published map[string]any
		client.Do("GET", "/v1/registrations/"+id+"/confirmation", nil).Into(http.StatusOK, &document)
		for _, delivery := range to.deliveries() {
			if delivery.Data["registrationId"] == id {
				published, _ = delivery.Data["confirmation"].(map[string]any)
			}
		}
		if published["sha256"] != document["sha256"] || document["sha256"] == nil {
			t.Errorf("of %s, %v is published", id, published)
		}
		kept := mustCommand(t, next.OpsAddress(), "confirmation", "show", id, "--html")
		if sameLines(kept) != sameLines(string(page.Body)) {
			t.Errorf("operators get %s", kept)
		}
	}
	said, ok := command(t, next.OpsAddress(), "confirmation", "show", "3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11")
	if ok || !strings.Contains(said, "no confirmation") {
		t.Errorf("without one: %s", said)
	}
}

// sameLines is a text without the line breaks at its end, and with those of a mail in one form.
func sameLines(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }

// TestLostConfirmation: when Redis has lost everything, the registration comes back from the card processor, which does not know what was
// ordered. Its confirmation is not invented.
func TestLostConfirmation(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	client.Confirm(client.Pay(registration.Id), "4242424242424242")
	client.Await(registration.Id, api.Completed)
	path := "/v1/registrations/" + registration.Id + "/confirmation"
	var document json.RawMessage
	client.Do("GET", path, nil).Into(http.StatusOK, &document)
	frontdesktest.FlushRedis(t, env.Redis)
	client.Await(registration.Id, api.Completed)
	if problem := client.Do("GET", path, nil).Problem(api.NoConfirmation); problem.Status != http.StatusConflict || problem.Detail == nil {
		t.Errorf("%+v", problem)
	}
}

// TestRebuiltConfirmationIsListed: Redis is lost between capture and record, and the payment is rebuilt and recorded. Nothing can be
// confirmed, so operators see it, once, until they say that the buyer has a confirmation.
func TestRebuiltConfirmationIsListed(t *testing.T) {
	t.Parallel()
	env, mails := frontdesktest.NewEnv(t), frontdesktest.NewMailServer(t, sink.Config{})
	doomed, client := env.Gateway(t, mails.Environment()...)
	registration := client.Register()
	payment := client.Pay(registration.Id)
	env.SetFaults(t, clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "error_before", Status: 401})
	client.Confirm(payment, frontdesktest.ApprovedCard)
	frontdesktest.Eventually(t, "a claim is given up", func() bool { return env.Upstreams.Cards.Payments()[0].Metadata["fd_release_1"] != "" })
	doomed.Kill()
	env.SetFaults(t)
	env.Redis = frontdesktest.NewRedis(t)
	gateway, again := env.Gateway(t, mails.Environment()...)
	at, records := gateway.OpsAddress(), frontdesktest.RedisClient(t, env.Redis)
	again.Token = client.Token
	again.AwaitPayment(registration.Id, api.Recorded)
	frontdesktest.Eventually(t, "it is listed", func() bool {
		return records.ZAddXX(t.Context(), "fd:unmailed", redis.Z{Score: 1, Member: registration.Id}).Err() == nil &&
			strings.Contains(mustCommand(t, at, "confirmation", "list"), "Redis lost what was ordered")
	})
	for _, word := range []string{"show", "send"} {
		if said, ok := command(t, at, "confirmation", word, registration.Id); ok || !strings.Contains(said, "Redis lost it") {
			t.Errorf("%s: %s", word, said)
		}
	}
	expectAll(t, mustCommand(t, at, "confirmation", "done", registration.Id), "not listed any more")
	verify := newVerifier(t, env)
	frontdesktest.Eventually(t, "the payment is verified", func() bool {
		verify()
		return records.ZCard(t.Context(), "fd:{fd:payments:open}:unverified").Val() == 0
	})
	expectAll(t, mustCommand(t, at, "confirmation", "list"), "Every confirmation was mailed.")
	if len(mails.Taken()) != 0 || records.Exists(t.Context(), "fd:held").Val() != 0 {
		t.Errorf("%d mails were sent, and these are held: %v", len(mails.Taken()), records.HGetAll(t.Context(), "fd:held").Val())
	}
}

// TestUnmailedConfirmation: operators see the confirmations that were not mailed, because the club system does not give the member's
// e-mail address or has none. They mail them, or record that the buyer has them on paper.
func TestUnmailedConfirmation(t *testing.T) {
	t.Parallel()
	env, server := frontdesktest.NewEnv(t), frontdesktest.NewMailServer(t, sink.Config{})
	gateway, client := env.Gateway(t, server.Environment()...)
	records := frontdesktest.RedisClient(t, env.Redis)
	at := gateway.OpsAddress()
	expectAll(t, mustCommand(t, at, "confirmation", "list"), "Every confirmation was mailed.")
	contacts := clubsim.FaultMatch{Method: http.MethodGet, Path: "/contacts/*"}
	unread := clubsim.Fault{Match: contacts, Kind: "error_before", Status: http.StatusInternalServerError}
	gone := clubsim.Fault{Match: contacts, Kind: "error_before", Status: http.StatusNotFound}
	unmailed := func() string {
		t.Helper()
		env.SetFaults(t)
		member, club := client.As("customer"), "11"
		registration := member.RegisterWith(club, nil,
			api.NewItem{OfferId: client.CardOffer(club).Id, StartDate: new(frontdesktest.Day(1))})
		payment := member.Pay(registration.Id)
		env.SetFaults(t, unread)
		member.Confirm(payment, frontdesktest.ApprovedCard)
		frontdesktest.Eventually(t, "it is to be mailed", func() bool {
			return records.ZScore(t.Context(), "fd:unmailed", registration.Id).Err() == nil
		})
		if said := mustCommand(t, at, "confirmation", "list"); strings.Contains(said, registration.Id) {
			t.Errorf("at once, it counts as not mailed:\n%s", said)
		}
		frontdesktest.Must(t, records.ZAddXX(t.Context(), "fd:unmailed", redis.Z{Score: 1, Member: registration.Id}).Err())
		expectAll(t, mustCommand(t, at, "confirmation", "list"), registration.Id, "none entered", "11-")
		return registration.Id
	}
	first := unmailed()
	if said, ok := command(t, at, "confirmation", "send", first); ok || !strings.Contains(said, "could not be read") {
		t.Errorf("while the contact cannot be read: %s", said)
	}
	env.SetFaults(t, gone)
	if said, ok := command(t, at, "confirmation", "send", first); ok || !strings.Contains(said, "show "+first+" --html") {
		t.Errorf("without an address: %s", said)
	}
	frontdesktest.Eventually(t, "metrics count it", func() bool {
		return strings.Contains(string(client.Do("GET", "http://"+at+"/metrics", nil).Body), "frontdesk_confirmations_unmailed 1")
	})
	env.SetFaults(t)
	expectAll(t, mustCommand(t, at, "confirmation", "send", first), "frontdesk mail show confirmation-"+first)
	frontdesktest.Eventually(t, "it is mailed", func() bool { return len(server.Taken()) == 1 })
	page := mustCommand(t, at, "confirmation", "show", first, "--html")
	if mail := server.Taken()[0]; sameLines(mail.HTML) != sameLines(page) || len(mail.Attachments) == 0 {
		t.Errorf("to %s, with %d documents: %s", mail.To, len(mail.Attachments), mail.Text)
	}
	expectAll(t, mustCommand(t, at, "confirmation", "list"), "Every confirmation was mailed.")

	second := unmailed()
	expectAll(t, mustCommand(t, at, "confirmation", "done", second), "not listed any more")
	expectAll(t, mustCommand(t, at, "confirmation", "list"), "Every confirmation was mailed.")
	if said, ok := command(t, at, "confirmation", "done", second); ok || !strings.Contains(said, "not among those") {
		t.Errorf("again: %s", said)
	}
	for _, entry := range records.XRange(t.Context(), "fd:audit", "-", "+").Val() {
		if entry.Values["registration"] != first && entry.Values["registration"] != second || entry.Values["by"] == "" {
			t.Errorf("the audit stream has %v", entry.Values)
		}
	}
	if len(server.Taken()) != 1 {
		t.Errorf("%d mails were sent", len(server.Taken()))
	}
}

// TestSealedConfirmationIsEnded: a confirmation that was not mailed, and that no key opens any more, stays listed until an operator records
// that the buyer has it.
func TestSealedConfirmationIsEnded(t *testing.T) {
	t.Parallel()
	env, server := frontdesktest.NewEnv(t), frontdesktest.NewMailServer(t, sink.Config{})
	gateway, _ := env.Gateway(t, server.Environment()...)
	records, at := frontdesktest.RedisClient(t, env.Redis), gateway.OpsAddress()
	const id = "3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11"
	frontdesktest.Must(t, records.Set(t.Context(), "fd:{"+id+"}:confirmation", "sealed by a key that is gone", time.Hour).Err())
	frontdesktest.Must(t, records.ZAdd(t.Context(), "fd:unmailed", redis.Z{Score: 1, Member: id}).Err())
	expectAll(t, mustCommand(t, at, "confirmation", "list"), id, "sealed by an unknown key")
	if said, ok := command(t, at, "confirmation", "send", id); ok {
		t.Errorf("it is sent: %s", said)
	}
	expectAll(t, mustCommand(t, at, "confirmation", "done", id), "not listed any more")
	expectAll(t, mustCommand(t, at, "confirmation", "list"), "Every confirmation was mailed.")
	if said, ok := command(t, at, "confirmation", "done", id); ok || !strings.Contains(said, "not among those") {
		t.Errorf("again: %s", said)
	}
}

// TestConfirmationIsSentAgain: an operator has a confirmation mailed that was mailed a moment ago, such as to an address that the club has
// corrected since. It is another mail, with the same content.
func TestConfirmationIsSentAgain(t *testing.T) {
	t.Parallel()
	env, server := frontdesktest.NewEnv(t), frontdesktest.NewMailServer(t, sink.Config{})
	gateway, client := env.Gateway(t, server.Environment()...)
	registration := client.Register()
	client.Confirm(client.Pay(registration.Id), frontdesktest.ApprovedCard)
	client.Await(registration.Id, api.Completed)
	frontdesktest.Eventually(t, "it is mailed", func() bool { return len(server.Taken()) == 1 })
	expectAll(t, mustCommand(t, gateway.OpsAddress(), "confirmation", "send", registration.Id), "mail show confirmation-"+registration.Id)
	frontdesktest.Eventually(t, "it is mailed again", func() bool { return len(server.Taken()) == 2 })
	first, second := server.Taken()[0], server.Taken()[1]
	if first.MessageID == second.MessageID || first.HTML != second.HTML || first.To != second.To {
		t.Errorf("%s to %s, then %s to %s", first.MessageID, first.To, second.MessageID, second.To)
	}
}
