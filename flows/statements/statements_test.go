package statements_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/e2e/flowstest"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/keyring"
	"frontdesk/flows/statements"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }

// desk is the service of a gateway, with what it sent. It starts nothing in the background: what was confirmed stays as a gateway leaves
// it that dies right then.
type desk struct {
	*statements.Service
	world  *flowstest.World
	fails  error // of mails
	mails  []flows.Mail
	events []flows.OwnEvent
}

func newDesk(world *flowstest.World, keys *keyring.Keyring) *desk {
	world.Helper()
	return deskAt(world, world.Gateway(flowstest.Options{Keys: keys}), keys)
}

func deskAt(world *flowstest.World, gateway *flowstest.Gateway, keys *keyring.Keyring) *desk {
	d := &desk{world: world}
	d.Service = statements.New(statements.Config{
		Store:     gateway.Store,
		Catalogue: gateway.Catalogue,
		Contacts:  gateway.Registrations.Contacts,
		Keys:      keys,
		Kept:      365 * 24 * time.Hour,
		SendMail: func(_ context.Context, mail flows.Mail) error {
			if d.fails == nil {
				d.mails = append(d.mails, mail)
			}
			return d.fails
		},
		Publish: func(_ context.Context, event flows.OwnEvent) error {
			d.events = append(d.events, event)
			return nil
		},
		Now: world.Clock.Now,
		Log: gateway.Log,
	})
	return d
}

// state states, and returns the secret that confirms it.
func (d *desk) state(kind flows.StatementKind, email string) string {
	d.world.Helper()
	_, secret, err := d.State(d.world.Context(), statements.Request{Kind: kind, ClientToken: "demo",
		Declared: flows.Declaration{Name: "Ada Martin", Email: email, Language: "en"}})
	if err != nil {
		d.world.Fatal(err)
	}
	return secret
}

func (d *desk) confirm(kind flows.StatementKind, secret string) *flows.Statement {
	d.world.Helper()
	return flowstest.Must(d.world, func() (*flows.Statement, error) { return d.Confirm(d.world.Context(), "demo", kind, secret) })
}

func (d *desk) followUp() {
	d.world.Helper()
	if err := d.FollowUp(d.world.Context()); err != nil {
		d.world.Fatal(err)
	}
}

// TestProcessDiesAfterReceipt: what a gateway has received, another one acknowledges, once.
func TestProcessDiesAfterReceipt(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	keys := flowstest.NewKeyring(t, "one")
	dead, alive := newDesk(world, keys), newDesk(world, keys)
	secret := dead.state(flows.Withdrawal, "ada@example.com")
	received := dead.confirm(flows.Withdrawal, secret)
	world.Clock.Advance(time.Hour)
	if again := alive.confirm(flows.Withdrawal, secret); again.Text != received.Text || !again.ReceivedAt.Equal(received.ReceivedAt) {
		t.Errorf("confirmed again, it is %+v", again)
	}
	alive.fails = errors.New("the queue is full")
	alive.followUp()
	alive.fails = nil
	alive.followUp()
	if len(alive.mails) != 0 {
		t.Errorf("what failed was repeated at once: %+v", alive.mails)
	}
	world.Clock.Advance(2 * time.Minute)
	alive.followUp()
	world.Clock.Advance(2 * time.Minute)
	alive.followUp()
	if len(alive.mails) != 1 || alive.mails[0].To != "ada@example.com" || alive.mails[0].Text != received.Text+"\n" {
		t.Errorf("the mails are %+v", alive.mails)
	}
	if len(alive.events) != 1 || alive.events[0].Type != flows.WithdrawalReceived {
		t.Errorf("the events are %+v", alive.events)
	}
	if len(dead.mails) != 0 {
		t.Errorf("a gateway that ran nothing sent %+v", dead.mails)
	}
}

// TestFloodOfStatements: whatever a stranger states for an address, it gets ten mails a day at most. Each statement is received
// even so, and operators see which of them were not mailed.
func TestFloodOfStatements(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	d := newDesk(world, flowstest.NewKeyring(t, "one"))
	for i := range 6 {
		for _, address := range []string{"ada@example.com", "Ada+" + strconv.Itoa(i) + "@example.COM"} {
			d.confirm(flows.Withdrawal, d.state(flows.Withdrawal, address))
		}
	}
	d.confirm(flows.Withdrawal, d.state(flows.Withdrawal, "bob@example.com"))
	d.followUp()
	toAda := slices.DeleteFunc(slices.Clone(d.mails), func(mail flows.Mail) bool { return mail.To == "bob@example.com" })
	if len(toAda) != 10 || len(d.mails) != 11 || len(d.events) != 13 {
		t.Errorf("%d mails, of which %d to one person, and %d events", len(d.mails), len(toAda), len(d.events))
	}
	page := flowstest.Must(t, func() (statements.Page, error) { return d.List(t.Context(), statements.ListOptions{}) })
	unmailed := 0
	for _, item := range page.Items {
		detail := flowstest.Must(t, func() (statements.Detail, error) { return d.Show(t.Context(), item.ID) })
		if !detail.Notified && len(detail.Warnings) == 1 {
			unmailed++
		}
	}
	if len(page.Items) != 13 || unmailed != 2 {
		t.Errorf("of %d statements, %d are shown as not mailed", len(page.Items), unmailed)
	}
}

// TestFloodLeavesCustomerTheirMails: strangers who state what they like for a customer's address cannot have the customer lack an
// acknowledgement, whose name is that of the contract. Ten a day are the most of these, too.
func TestFloodLeavesCustomerTheirMails(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	keys := flowstest.NewKeyring(t, "one")
	d := newDesk(world, keys)
	confirmed(world, keys, "Ada Martin", "ada@example.com", "11-001007")
	for _, name := range []string{"Bob", "Martin ADA"} {
		d.mails = nil
		for range 11 {
			d.withdrawn(flows.Declaration{Name: name, Email: "Ada@example.com"})
		}
		if len(d.mails) != 10 {
			t.Errorf("as %s, %d of 11 acknowledgements were mailed", name, len(d.mails))
		}
	}
}

// TestRepeatedMailCountsOnce: an acknowledgement that had to be tried more often than an address may have mails is mailed in the end, and
// leaves the address the rest of them.
func TestRepeatedMailCountsOnce(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	d := newDesk(world, flowstest.NewKeyring(t, "one"))
	d.confirm(flows.Withdrawal, d.state(flows.Withdrawal, "ada@example.com"))
	d.fails = errors.New("the queue is full")
	for range 12 {
		d.followUp()
		world.Clock.Advance(2 * time.Minute)
	}
	d.fails = nil
	for range 9 {
		d.confirm(flows.Withdrawal, d.state(flows.Withdrawal, "ada@example.com"))
	}
	d.followUp()
	if len(d.mails) != 10 {
		t.Errorf("%d mails instead of ten", len(d.mails))
	}
}

// TestConfirmedAtTheSameTime: of several confirmations at once, all have the receipt of one.
func TestConfirmedAtTheSameTime(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	d := newDesk(world, flowstest.NewKeyring(t, "one"))
	secret := d.state(flows.Cancellation, "ada@example.com")
	var running sync.WaitGroup
	texts := make([]string, 8)
	for i := range texts {
		running.Go(func() {
			world.Clock.Advance(time.Second)
			if received, err := d.Confirm(world.Context(), "demo", flows.Cancellation, secret); err == nil {
				texts[i] = received.Text
			}
		})
	}
	running.Wait()
	if all := slices.Compact(slices.Sorted(slices.Values(texts))); len(all) != 1 || all[0] == "" {
		t.Errorf("the acknowledgements are %q", all)
	}
	d.followUp()
	if len(d.mails) != 1 {
		t.Errorf("%d mails were sent", len(d.mails))
	}
}

// TestLifeOfStatement: an unconfirmed statement lives for a day, a received one as proofs are kept, whatever happens to it.
func TestLifeOfStatement(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	d := newDesk(world, flowstest.NewKeyring(t, "one"))
	secret := d.state(flows.Withdrawal, "ada@example.com")
	key := "fd:{statements}:statement:" + flows.StatementID(secret)
	expect := func(what string, most time.Duration) {
		t.Helper()
		if left := world.Redis.PTTL(t.Context(), key).Val(); left > most || left < most-time.Hour {
			t.Errorf("%s, it lives for %s, not %s", what, left, most)
		}
	}
	expect("unconfirmed", 24*time.Hour)
	d.confirm(flows.Withdrawal, secret)
	expect("received", 365*24*time.Hour)
	world.Clock.Advance(65 * 24 * time.Hour)
	d.followUp()
	if _, err := d.AddNote(t.Context(), flows.StatementID(secret), "ada", "called"); err != nil {
		t.Fatal(err)
	}
	expect("two months later", 300*24*time.Hour)
	if err := world.Redis.Del(t.Context(), key).Err(); err != nil { // as when it expires
		t.Fatal(err)
	}
	page := flowstest.Must(t, func() (statements.Page, error) { return d.List(t.Context(), statements.ListOptions{All: true}) })
	counts := flowstest.Must(t, func() (flows.StatementCounts, error) { return d.Counts(t.Context()) })
	if len(page.Items) != 0 || counts.Open != 0 {
		t.Errorf("after its end, operators see %+v and %+v", page, counts)
	}
}

// TestStatementsOutliveKeys: once a gateway with a new key has started, received statements no longer need the old one, and their person
// is found.
func TestStatementsOutliveKeys(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	before := newDesk(world, flowstest.NewKeyring(t, "one"))
	secret := before.state(flows.Withdrawal, "ada@example.com")
	received := before.confirm(flows.Withdrawal, secret)
	if err := newDesk(world, flowstest.NewKeyring(t, "two", "one")).Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	keys := flowstest.NewKeyring(t, "two")
	after := newDesk(world, keys)
	if again := after.confirm(flows.Withdrawal, secret); again.Text != received.Text {
		t.Errorf("without the old key, it is %+v", again)
	}
	names := keys.PersonPseudonyms("demo", "ada@example.com", "")
	ids, err := world.Gateway(flowstest.Options{Keys: keys}).Store.StatementsOfPerson(t.Context(), names...)
	if err != nil || !slices.Equal(ids, []string{received.ID}) {
		t.Errorf("the person has %v, %v", ids, err)
	}
	after.followUp()
	if len(after.mails) != 1 {
		t.Errorf("the renewal lost the acknowledgement: %+v", after.mails)
	}
}

// TestEndOfContract: with the end of a cancelled contract, an operator ends the statement, once; the person gets the day by mail, after the
// acknowledgement and once.
func TestEndOfContract(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	keys := flowstest.NewKeyring(t, "one")
	gateway := world.Gateway(flowstest.Options{Keys: keys})
	d := deskAt(world, gateway, keys)
	club := flowstest.Must(t, func() (catalogue.Club, error) { return gateway.Catalogue.Club(t.Context(), "demo", "11") })
	_, secret, err := d.State(t.Context(), statements.Request{Kind: flows.Cancellation, ClientToken: "demo", Declared: flows.Declaration{
		Name: "Ada Martin", Email: "ada@example.com", Language: "en", ClubID: "11", Contract: "yoga since May"}})
	if err != nil {
		t.Fatal(err)
	}
	received := d.confirm(flows.Cancellation, secret)
	counts := flowstest.Must(t, func() (flows.StatementCounts, error) { return d.Counts(t.Context()) })
	if counts.Open != 1 || counts.Overdue != 0 || !counts.Next.Equal(received.Deadline) {
		t.Errorf("what waits is %+v", counts)
	}
	world.Clock.Advance(flows.AnswerWithin)
	if counts, _ = d.Counts(t.Context()); counts.Overdue != 1 {
		t.Errorf("after the deadline, what waits is %+v", counts)
	}
	end := statements.Completion{Operator: "ada", EndDate: "2031-01-31"}
	done := flowstest.Must(t, func() (statements.Detail, error) { return d.Done(t.Context(), received.ID, end) })
	if _, err := d.Done(t.Context(), received.ID, end); flows.CodeOf(err) != flows.NotDecidable {
		t.Errorf("done twice: %v", err)
	}
	d.followUp()
	world.Clock.Advance(time.Hour)
	d.followUp()
	if len(d.mails) != 2 || d.mails[0].Text != received.Text+"\n" || done.EndDate != "2031-01-31" {
		t.Fatalf("the mails are %+v", d.mails)
	}
	want := "When your contract ends\n\nYour contract ends on 31 January 2031.\n\nClub: " + club.Name +
		"\nContract: yoga since May\n\nReference: " + received.ID + "\n"
	if d.mails[1].Text != want {
		t.Errorf("the person reads %q", d.mails[1].Text)
	}
	if counts, _ = d.Counts(t.Context()); counts.Open != 0 {
		t.Errorf("afterwards, %+v waits", counts)
	}
	if lines := world.Redis.XRange(t.Context(), "fd:audit", "-", "+").Val(); len(lines) != 1 || lines[0].Values["statement"] != received.ID ||
		lines[0].Values["by"] != "ada" || lines[0].Values["what"] != "statement-done" {
		t.Errorf("the audit has %v", lines)
	}
}

// TestSellerIsNamedUnread: a gateway that has not read the club names the seller that the operator's file has.
func TestSellerIsNamedUnread(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	keys := flowstest.NewKeyring(t, "one")
	clubs := flowstest.Must(t, func() (*catalogue.Directory, error) {
		return catalogue.ParseDirectory([]byte("defaults: {timeZone: Europe/Paris, trader: {name: Lumen Fitness}}"), nil)
	})
	d := deskAt(world, world.Gateway(flowstest.Options{Keys: keys, Clubs: clubs}), keys)
	d.withdrawn(flows.Declaration{Name: "Ada Martin", Email: "ada@example.com", ClubID: "11"})
	if len(d.mails) != 1 || !strings.Contains(d.mails[0].Text, "\nSeller: Lumen Fitness\n") {
		t.Errorf("the mails are %+v", d.mails)
	}
}
