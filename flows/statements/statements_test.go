package statements_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"frontdesk/e2e/flowstest"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/keyring"
	"frontdesk/flows/statements"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }

// desk is the service of a gateway, with what it sent. It runs nothing by itself: what was confirmed stays as a gateway leaves it that dies
// right then.
type desk struct {
	*statements.Service
	world *flowstest.World
}

func newDesk(world *flowstest.World, keys *keyring.Keyring) *desk {
	world.Helper()
	gateway := world.Gateway(flowstest.Options{Keys: keys})
	d := &desk{world: world}
	d.Service = statements.New(statements.Config{
		Store:     gateway.Store,
		Catalogue: gateway.Catalogue,
		Contacts:  gateway.Registrations.Contacts,
		Keys:      keys,
		Kept:      365 * 24 * time.Hour,
		Now:       world.Clock.Now,
		Log:       gateway.Log,
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
}
