package ops_test

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

	"github.com/hibiken/asynq"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/mail/sink"
)

const recipient = "zqada@visitor.fr"

func sendMail(t *testing.T, redisURL, sealKey, id string) {
	t.Helper()
	frontdesktest.SendMail(t, redisURL, sealKey,
		flows.Mail{ID: id, To: recipient, Language: "en", Subject: "Your contract", Text: "Zqtext.\n", HTML: "<p>Zqtext.</p>\n"})
}

// TestMailSurvivesKill kills a gateway while the mail server has a mail and has not accepted it. Another gateway sends it, with the
// same Message-ID.
func TestMailSurvivesKill(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	to := frontdesktest.NewMailServer(t, sink.Config{})
	to.Fail(1, sink.Fault{Hang: true})
	doomed, _ := env.Gateway(t, to.Environment()...)
	sendMail(t, env.Redis, frontdesktest.DemoSealKey, "confirmation:1")
	frontdesktest.Eventually(t, "the gateway sends it", func() bool { return to.Attempts() == 1 })
	doomed.Kill()
	if n := len(to.Taken()); n != 0 {
		t.Fatalf("the server took %d mails before the kill", n)
	}
	_, _ = env.Gateway(t, to.Environment()...)
	frontdesktest.Eventually(t, "another gateway sends it", func() bool { return len(to.Taken()) == 1 })
}

// TestMailOfAStoppedGateway: a mail that was queued while no gateway ran is sent by the next one.
func TestMailOfAStoppedGateway(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	to := frontdesktest.NewMailServer(t, sink.Config{})
	sendMail(t, env.Redis, frontdesktest.DemoSealKey, "confirmation:1")
	sendMail(t, env.Redis, frontdesktest.DemoSealKey, "confirmation:1")
	_, _ = env.Gateway(t, to.Environment()...)
	frontdesktest.Eventually(t, "it is sent", func() bool { return len(to.Taken()) == 1 })
}

// TestDeadMail: operators see a mail that was refused, in the list without its recipient, and send it again. Metrics count it, and
// the log does not name the recipient.
func TestDeadMail(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	to := frontdesktest.NewMailServer(t, sink.Config{})
	to.Fail(-1, sink.Fault{Status: 550})
	process, client := env.Gateway(t, to.Environment()...)
	at := process.OpsAddress()
	expectAll(t, mustCommand(t, at, "mail", "list"), to.Addr)
	expectAll(t, mustCommand(t, at, "mail", "replay", "--dead"), to.Addr)
	sendMail(t, env.Redis, frontdesktest.DemoSealKey, "confirmation:1")
	frontdesktest.Eventually(t, "it is dead", func() bool {
		return strings.Contains(mustCommand(t, at, "mail", "list", "--state", "dead"), "confirmation:1")
	})
	list := mustCommand(t, at, "mail", "list")
	expectAll(t, list, "dead", "the server refused the recipient: 550 5.1.1")
	expectAll(t, mustCommand(t, at, "mail", "show", "confirmation:1"), "dead, 1 failures", recipient, "Your contract", "Zqtext.")
	frontdesktest.Eventually(t, "metrics count it", func() bool {
		return strings.Contains(string(client.Do("GET", "http://"+at+"/metrics", nil).Body), `frontdesk_mails{state="dead"} 1`)
	})
	to.Fail(0, sink.Fault{})
	mustCommand(t, at, "mail", "replay", "confirmation:1")
	frontdesktest.Eventually(t, "it is sent", func() bool {
		return len(to.Taken()) == 1 && strings.Contains(mustCommand(t, at, "mail", "list", "--state", "delivered"), "confirmation:1")
	})
	for name, text := range map[string]string{"the list": list, "the log": process.Log()} {
		if strings.Contains(text, "zqada") || strings.Contains(text, "Zqtext") {
			t.Errorf("%s has the mail's content:\n%s", name, text)
		}
	}
	if !strings.Contains(process.Log(), "mail not sent") {
		t.Errorf("the log does not say that it failed:\n%s", process.Log())
	}
	for words, want := range map[string]string{
		"replay":                                 "name either",
		"replay x --dead":                        "name either",
		"replay unknown":                         "mail does not exist",
		"show unknown":                           "mail does not exist",
		"list --state lost":                      "waiting, retrying, dead or delivered",
		"replay x --operator-token guessed":      "is not known here",
		"replay --dead --operator-token guessed": "is not known here",
	} {
		said, ok := command(t, at, append([]string{"mail"}, strings.Fields(words)...)...)
		if ok || !strings.Contains(said, want) {
			t.Errorf("mail %s: %t, %s", words, ok, said)
		}
	}
}

// TestLiveMail: live mode sends mails encrypted and authenticated. A server that offers no encryption, and one that refuses the
// password, get nothing; doctor says so.
func TestLiveMail(t *testing.T) {
	t.Parallel()
	live := frontdesktest.NewLive(t)
	trusted := &tls.Config{Certificates: live.Front.TLS.Certificates} // by SSL_CERT_FILE
	to := frontdesktest.NewMailServer(t, sink.Config{TLS: trusted, User: "frontdesk", Password: "right"})
	plain := frontdesktest.NewMailServer(t, sink.Config{})
	sender := map[string]string{"FRONTDESK_MAIL_FROM": "signup@gym-4711.fr"}
	with := func(url string) []string {
		sender["FRONTDESK_SMTP_URL"] = url
		return live.Environment(sender)
	}
	for url, want := range map[string]string{
		"smtp://frontdesk:right@" + to.Addr:    "accepts this gateway",
		"smtp://frontdesk:wrong@" + to.Addr:    "user and password: 535",
		"smtp://frontdesk:right@" + plain.Addr: "required encryption",
		"smtp://127.0.0.1:1":                   "cannot be reached",
	} {
		said, _ := doctor(t, with(url))
		i := strings.Index(said, "mail server")
		if i < 0 || !strings.Contains(said[i:], want) || strings.Contains(said, "wrong@") || strings.Contains(said, "right@") {
			t.Errorf("with %s doctor says\n%s", url, said)
		}
	}
	sendMail(t, live.Redis, live.Env["FRONTDESK_SEAL_KEYS"], "confirmation:1")
	first := frontdesktest.Start(t, with("smtp://frontdesk:right@"+plain.Addr)...)
	inspector := asynq.NewInspectorFromRedisClient(frontdesktest.RedisClient(t, live.Redis))
	frontdesktest.Eventually(t, "it fails", func() bool {
		info, err := inspector.GetQueueInfo("mail")
		return err == nil && info.Retry == 1
	})
	if err := first.Stop(); err != nil {
		t.Error(err)
	}
	frontdesktest.Start(t, with("smtp://frontdesk:right@"+to.Addr)...)
	frontdesktest.Eventually(t, "it is sent", func() bool {
		_, _ = inspector.RunAllRetryTasks("mail")
		return len(to.Taken()) > 0
	})
	if got := to.Taken()[0]; len(plain.Taken()) != 0 || got.To != recipient || got.Header[http.CanonicalHeaderKey("X-Frontdesk-World")] != "" {
		t.Errorf("%d mails in plain, and %+v", len(plain.Taken()), got)
	}
}
