package background_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/upstream/clubsim"
)

// agreed is a recorded payment whose buyer has agreed to the club's own terms of sale.
func (w *world) agreed(g *gateway) *flows.Payment {
	w.Helper()
	payment := w.Advance(g, w.Authorised(g))
	return w.Put(g, payment.ID, flows.Recorded, func(p *flows.Payment) {
		p.Agreements = []flows.Agreement{{Document: flows.DocumentTerms, Version: "1", Language: "fr", At: w.Clock.Now()}}
	})
}

// accepted counts the reports that the club system has of a payment's sale.
func (w *world) accepted(payment *flows.Payment) int {
	for _, sale := range w.Sim.Sales() {
		if sale.ID == string(payment.Sale) {
			return len(sale.TermsAccepted)
		}
	}
	return 0
}

// TestOthersWaitForTerms: the club system fails once to take the report that a buyer has accepted its terms. The reports of other buyers
// wait for the pause after that, and are then made, once.
func TestOthersWaitForTerms(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	if err := world.Sim.Configure(func(s *clubsim.Settings) { s.SaleTerms = true }); err != nil {
		t.Fatal(err)
	}
	g := world.Gateway()
	first := world.agreed(g)
	world.FailCalls("POST /sim/demo/sales/*/accept_gtcs", 1)
	cfg := world.Background(g)
	world.RunBackground(cfg)
	announce := func(payment *flows.Payment) {
		if err := background.New(cfg).Announce(t.Context(), payment); err != nil {
			t.Error(err)
		}
	}
	announce(first)
	frontdesktest.Eventually(t, "the first report fails", func() bool {
		return strings.Contains(world.Journal.String(), "accepted terms not reported")
	})
	second := world.agreed(g)
	announce(second)
	announce(second)
	queues := asynq.NewInspectorFromRedisClient(world.Redis)
	frontdesktest.Eventually(t, "the second one waits", func() bool {
		state, err := queues.GetQueueInfo("events")
		return err == nil && state.Retry == 1
	})
	world.Clock.Advance(2 * time.Minute)
	frontdesktest.Eventually(t, "the second one is made", func() bool {
		_, _ = queues.RunAllRetryTasks("events")
		return world.accepted(second) == 1
	})
	frontdesktest.Eventually(t, "nothing waits", func() bool {
		state, err := queues.GetQueueInfo("events")
		return err == nil && state.Pending+state.Active+state.Retry == 0
	})
	if a, b := world.accepted(first), world.accepted(second); a != 0 || b != 1 {
		t.Errorf("of the first sale there are %d reports, of the second one %d", a, b)
	}
}

// TestReportSurvivesKill: a gateway that dies before its request for the report of accepted terms is in the queue loses no report.
func TestReportSurvivesKill(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	if err := world.Sim.Configure(func(s *clubsim.Settings) { s.SaleTerms = true }); err != nil {
		t.Fatal(err)
	}
	doomed := world.Gateway(gatewayOptions{RefusedKeys: []string{"asynq:"}}) // nothing reaches the queue
	payment := world.agreed(doomed)
	if err := background.New(world.Background(doomed)).Announce(t.Context(), payment); err == nil {
		t.Fatal("the report was requested")
	}
	world.Clock.Advance(2 * time.Minute) // it is due to be verified
	world.RunBackground(world.Background(world.Gateway()))
	frontdesktest.Eventually(t, "it is reported", func() bool { return world.accepted(payment) == 1 })
}

// TestOthersWaitForContract: the club system fails once to give a contract. The confirmations of that buyer and of others wait for the
// pause after that, and have their contracts attached.
func TestOthersWaitForContract(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	if err := world.Sim.Configure(func(s *clubsim.Settings) { s.ContractDocuments = true }); err != nil {
		t.Fatal(err)
	}
	g := world.Gateway()
	cfg, server := world.mailing(g)
	world.FailCalls("GET /sim/demo/sales/*/contract", 1)
	world.RunBackground(cfg)
	mailer, queues := background.New(cfg).Mailer, asynq.NewInspectorFromRedisClient(world.Redis)
	for n, id := range []string{"one", "two"} {
		mail := mailTo("ada@visitor.example", id)
		mail.ContractOf = world.Advance(g, world.Authorised(g)).Registration
		if err := g.Queue.SendMail(t.Context(), mail); err != nil {
			t.Fatal(err)
		}
		frontdesktest.Eventually(t, "it waits", func() bool { return mustMails(t, mailer, "").Retrying == n+1 })
	}
	if said := mustMails(t, mailer, "").Items[0].LastError; said != "waits for the club system's contract document" {
		t.Errorf("operators see %q", said)
	}
	world.Clock.Advance(2 * time.Minute)
	frontdesktest.Eventually(t, "both are sent", func() bool {
		_, _ = queues.RunAllRetryTasks("mail")
		return mustMails(t, mailer, "").Delivered == 2
	})
	for _, mail := range server.Taken() {
		if len(mail.Attachments) != 2 || mail.Attachments[1].Name != "contract.pdf" {
			t.Errorf("%s has %d attachments", mail.Subject, len(mail.Attachments))
		}
	}
}

// TestContractsOfOthersFail: while the contracts of some sales fail, again and again, a confirmation whose contract the club system has by
// then goes out with it: at its last attempt it is asked for.
func TestContractsOfOthersFail(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	if err := world.Sim.Configure(func(s *clubsim.Settings) { s.ContractDocuments = true }); err != nil {
		t.Fatal(err)
	}
	g := world.Gateway()
	cfg, server := world.mailing(g)
	world.RunBackground(cfg)
	mailer, queues := background.New(cfg).Mailer, asynq.NewInspectorFromRedisClient(world.Redis)
	failures := func(id string, n int) {
		t.Helper()
		frontdesktest.Eventually(t, id+" has failed", func() bool {
			mail, err := mailer.Mail(id)
			return err == nil && mail.Failures == n && mail.State == background.DeliveryRetrying
		})
	}
	send := func(id string) {
		t.Helper()
		world.FailCalls("GET /sim/demo/sales/*/contract", 1)
		mail := mailTo("ada@visitor.example", id)
		mail.ContractOf = world.Advance(g, world.Authorised(g)).Registration
		if err := g.Queue.SendMail(t.Context(), mail); err != nil {
			t.Fatal(err)
		}
		failures(id, 1)
	}
	send("one") // the only time that its own contract fails
	for n, later := range []time.Duration{5 * time.Second, 30 * time.Second} {
		world.Clock.Advance(later)
		if err := queues.RunTask("mail", "one"); err != nil {
			t.Fatal(err)
		}
		failures("one", n+2)
	}
	world.Clock.Advance(time.Minute)
	send("two") // another sale's contract is not made yet
	world.Clock.Advance(50 * time.Second)
	if err := queues.RunTask("mail", "one"); err != nil {
		t.Fatal(err)
	}
	frontdesktest.Eventually(t, "it is sent", func() bool { return len(server.Taken()) == 1 })
	if mail := server.Taken()[0]; len(mail.Attachments) != 2 {
		t.Errorf("%s has %d attachments", mail.Subject, len(mail.Attachments))
	}
}
