package background_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/upstream/mail"
	"frontdesk/upstream/mail/sink"
)

// mailing is what the background work of a gateway needs, with a mail server.
func (w *world) mailing(g *gateway) (background.Config, *frontdesktest.MailServer) {
	w.Helper()
	server := frontdesktest.NewMailServer(w, sink.Config{})
	client, err := mail.New(mail.Config{URL: "smtp://" + server.Addr, From: "signup@club.example"})
	if err != nil {
		w.Fatal(err)
	}
	cfg := w.Background(g)
	cfg.Mail = client
	return cfg, server
}

// idsOf returns the Message-IDs of the mails that the server took, by subject.
func idsOf(server *frontdesktest.MailServer) map[string][]string {
	ids := map[string][]string{}
	for _, mail := range server.Taken() {
		ids[mail.Subject] = append(ids[mail.Subject], mail.MessageID)
	}
	return ids
}

func mailTo(address, id string) flows.Mail {
	return flows.Mail{ID: id, To: address, Language: "en", Subject: "About " + id, Text: "It is done.\n", HTML: "<p>It is done.</p>\n",
		Attachments: []mail.Attachment{{Name: "terms.html", Type: "text/html", Content: []byte("<p>Terms</p>")}}}
}

// TestMailIsSentOnce: a repetition of a mail that waits or was sent is not sent. Nothing of it is readable in Redis.
func TestMailIsSentOnce(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	cfg, server := world.mailing(g)
	send := func(id string) {
		t.Helper()
		if err := g.Queue.SendMail(t.Context(), mailTo("zqada@visitor.example", id)); err != nil {
			t.Fatal(err)
		}
	}
	send("one")
	send("one") // while it waits
	stored := world.Redis.HGet(t.Context(), "asynq:{mail}:t:one", "msg").Val()
	if !strings.Contains(stored, "mail:send") || strings.Contains(stored, "zqada") || strings.Contains(stored, "It is done") {
		t.Errorf("Redis has the mail as %q", stored)
	}
	world.RunBackground(cfg)
	mailer := background.New(cfg).Mailer
	frontdesktest.Eventually(t, "it is sent", func() bool { return mustMails(t, mailer, "").Delivered == 1 })
	send("one") // after it was sent
	send("two")
	frontdesktest.Eventually(t, "the second one is sent", func() bool { return mustMails(t, mailer, "").Delivered == 2 })
	if got := idsOf(server); len(got["About one"]) != 1 || len(got["About two"]) != 1 {
		t.Errorf("the server took %v", got)
	}
}

func mustMails(t *testing.T, mailer *background.Mailer, state background.DeliveryState) background.Mails {
	t.Helper()
	return must(t, func() (background.Mails, error) { return mailer.Mails(state) })
}

// TestMailIsRetried: a mail that the server does not take is tried again, and its age grows. Whether the server took it before the
// connection ended is unknown, so that it gets it again, with the same Message-ID.
func TestMailIsRetried(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sink.Fault{"4xx": {Status: 451}, "no response to the mail": {Die: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			g := world.Gateway()
			cfg, server := world.mailing(g)
			server.Fail(2, fault)
			if err := g.Queue.SendMail(t.Context(), mailTo("ada@visitor.example", "one")); err != nil {
				t.Fatal(err)
			}
			world.RunBackground(cfg)
			mailer, inspector := background.New(cfg).Mailer, asynq.NewInspectorFromRedisClient(world.Redis)
			frontdesktest.Eventually(t, "it is retried", func() bool { return mustMails(t, mailer, "").Retrying == 1 })
			world.Clock.Advance(20 * time.Minute)
			all := mustMails(t, mailer, "")
			if age := time.Duration(all.AgeMs) * time.Millisecond; age.Truncate(time.Minute) != 20*time.Minute {
				t.Errorf("it waits for %s", age)
			}
			if one := all.Items[0]; one.Failures != 1 || one.LastError == "" || one.Next == nil || one.To+one.Subject+one.Text != "" {
				t.Errorf("it is listed as %+v", one)
			}
			frontdesktest.Eventually(t, "it is sent", func() bool {
				_, _ = inspector.RunAllRetryTasks("mail")
				return mustMails(t, mailer, "").Delivered == 1
			})
			ids := idsOf(server)["About one"]
			for _, id := range ids {
				if id != ids[0] {
					t.Errorf("the attempts have the ids %v", ids)
				}
			}
			if want := map[bool]int{true: 3, false: 1}[fault.Die]; len(ids) != want {
				t.Errorf("the server took it %d times, want %d", len(ids), want)
			}
		})
	}
}

// TestDeadMail: a mail whose recipient the server refuses is dead at once, does not hold up others, and is sent again when an
// operator says so. So is one whose attempts are used up.
func TestDeadMail(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	cfg, server := world.mailing(g)
	world.RunBackground(cfg)
	mailer, inspector := background.New(cfg).Mailer, asynq.NewInspectorFromRedisClient(world.Redis)
	server.Fail(-1, sink.Fault{Status: 550})
	for _, id := range []string{"one", "two"} {
		if err := g.Queue.SendMail(t.Context(), mailTo("ada@visitor.example", id)); err != nil {
			t.Fatal(err)
		}
	}
	frontdesktest.Eventually(t, "both are dead", func() bool { return mustMails(t, mailer, background.DeliveryDead).Dead == 2 })
	server.Fail(-1, sink.Fault{Status: 450})
	if err := g.Queue.SendMail(t.Context(), mailTo("ada@visitor.example", "three")); err != nil {
		t.Fatal(err)
	}
	frontdesktest.Eventually(t, "the third one is dead, too", func() bool {
		_, _ = inspector.RunAllRetryTasks("mail")
		return mustMails(t, mailer, "").Dead == 3
	})
	failures := map[string]int{}
	for _, one := range mustMails(t, mailer, background.DeliveryDead).Items {
		failures[one.ID] = one.Failures
		if !strings.HasPrefix(one.LastError, "the server refused the recipient: ") || strings.Contains(one.LastError, "ada") ||
			strings.Contains(one.LastError, "skip") {
			t.Errorf("%s failed with %q", one.ID, one.LastError)
		}
	}
	if failures["one"] != 1 || failures["three"] != 11 {
		t.Errorf("the failures are %v", failures)
	}
	shown := must(t, func() (background.QueuedMail, error) { return mailer.Mail("one") })
	if shown.To != "ada@visitor.example" || shown.Text != "It is done.\n" || len(shown.Attachments) != 1 {
		t.Errorf("one is %+v", shown)
	}
	server.Fail(0, sink.Fault{})
	if _, err := mailer.Replay(t.Context(), "one", "ada"); err != nil {
		t.Fatal(err)
	}
	frontdesktest.Eventually(t, "one is sent", func() bool { return len(idsOf(server)["About one"]) == 1 })
	if _, err := mailer.ReplayAll(t.Context(), "ada"); err != nil {
		t.Fatal(err)
	}
	frontdesktest.Eventually(t, "all are sent", func() bool { return mustMails(t, mailer, "").Delivered == 3 })
	if _, err := mailer.Replay(t.Context(), "four", "ada"); flows.CodeOf(err) != flows.NotFound {
		t.Errorf("an unknown one: %v", err)
	}
	if _, err := mailer.Mails("lost"); flows.CodeOf(err) != flows.InvalidRequest {
		t.Errorf("an unknown state: %v", err)
	}
}

// TestWithoutMailServer: nothing is queued, because nothing would ever send it.
func TestWithoutMailServer(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	queue := background.NewQueue(background.QueueConfig{
		Redis: world.Redis, Store: g.Store, Keys: newKeyring(t, "one"), Now: world.Clock.Now,
	})
	if err := queue.SendMail(t.Context(), mailTo("ada@visitor.example", "one")); err != nil {
		t.Fatal(err)
	}
	if all := mustMails(t, background.New(world.Background(g)).Mailer, background.DeliveryWaiting); all.Waiting != 0 || all.Server != "" {
		t.Errorf("the queue is %+v", all)
	}
}
