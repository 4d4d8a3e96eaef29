package store_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/url"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/keyring"
	"frontdesk/flows/store"
)

// fixture is a store on a Redis, with the test's own access to that Redis.
type fixture struct {
	testing.TB
	*store.Store
	url    string
	redis  *redis.Client
	expire func(key string) // makes a key expire
}

func TestMain(m *testing.M) { frontdesktest.Main(m) }

// onEach runs a test on a real Redis and on the one that mock mode embeds.
func onEach(t *testing.T, test func(b *fixture)) {
	t.Parallel()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		b := newFixture(t, frontdesktest.NewDatabase(t))
		b.expire = func(key string) {
			b.redis.PExpire(t.Context(), key, time.Millisecond)
			frontdesktest.Eventually(t, key+" is gone", func() bool { return b.redis.Exists(t.Context(), key).Val() == 0 })
		}
		test(b)
	})
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		embedded := miniredis.RunT(t)
		b := newFixture(t, "redis://"+embedded.Addr())
		b.expire = func(key string) { embedded.FastForward(b.redis.PTTL(t.Context(), key).Val()) }
		test(b)
	})
}

func newFixture(t testing.TB, address string) *fixture {
	t.Helper()
	b := &fixture{TB: t, url: address}
	b.Store = b.open(address, "one")
	b.redis = patientClient(t, address)
	return b
}

// patientClient returns a client that waits for a busy machine and never retries.
func patientClient(t testing.TB, address string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = time.Minute, time.Minute, time.Minute
	options.MaxRetries, options.DialerRetries, options.ContextTimeoutEnabled = -1, 1, true
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}

// open makes another store on a Redis, with a keyring of these names.
func (b *fixture) open(address string, names ...string) *store.Store {
	b.Helper()
	return store.New(store.Config{Redis: patientClient(b, address), Keys: keysOf(b, names...)})
}

// keysOf makes a keyring with one key per name.
func keysOf(t testing.TB, names ...string) *keyring.Keyring {
	t.Helper()
	secrets := make([][]byte, len(names))
	for i, name := range names {
		secret := sha256.Sum256([]byte(name))
		secrets[i] = secret[:]
	}
	keys, err := keyring.New(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// behind makes a store whose connection to Redis loses the response to one message.
func (b *fixture) behind(message int) (*store.Store, *frontdesktest.MessageProxy) {
	b.Helper()
	wire := frontdesktest.NewMessageProxy(b, frontdesktest.Fault{Message: message, DropResponse: true})
	far, err := url.Parse(b.url)
	if err != nil {
		b.Fatal(err)
	}
	return b.open("redis://"+wire.Forward(far.Host)+far.Path, "one"), wire
}

// everything returns all of Redis, for comparison.
func (b *fixture) everything() map[string]string {
	b.Helper()
	all := map[string]string{}
	for _, key := range b.redis.Keys(context.Background(), "*").Val() {
		switch b.redis.Type(context.Background(), key).Val() {
		case "hash":
			all[key] = fmt.Sprint(b.redis.HGetAll(context.Background(), key).Val())
		case "zset":
			all[key] = fmt.Sprint(b.redis.ZRangeWithScores(context.Background(), key, 0, -1).Val())
		default:
			all[key] = b.redis.Get(context.Background(), key).Val()
		}
	}
	return all
}

// unchanged runs a function that must not change Redis.
func (b *fixture) unchanged(what string, do func()) {
	b.Helper()
	before := b.everything()
	do()
	if after := b.everything(); !maps.Equal(before, after) {
		b.Errorf("%s changed %q into %q", what, before, after)
	}
}

// registered stores a new registration.
func (b *fixture) registered() *flows.Registration {
	b.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	registration := &flows.Registration{
		ID:          uuid.NewString(),
		State:       flows.Open,
		ClientToken: "demo",
		TokenHash:   "the-hash-of-a-token",
		ClubID:      "11",
		Channel:     "web",
		Contact:     &flows.Contact{IRI: "/demo/contacts/7", Number: "C-0007", Status: "temp"},
		Sale:        "/demo/sales/5",
		CreatedAt:   now,
		ExpiresAt:   now.Add(20 * time.Hour),
	}
	if err := b.SaveRegistration(b.Context(), registration); err != nil {
		b.Fatal(err)
	}
	return registration
}

// started stores a registration with a payment.
func (b *fixture) started() (*flows.Registration, *flows.Payment) {
	b.Helper()
	r := b.registered()
	p := b.next(r)
	if err := b.StartPayment(b.Context(), r, p); err != nil {
		b.Fatal(err)
	}
	return r, p
}

// next makes the next payment of a registration without storing it.
func (b *fixture) next(registration *flows.Registration) *flows.Payment {
	registration.Generation++
	return &flows.Payment{
		ID:           flows.NewPaymentID(registration.ID, registration.Generation),
		Schema:       flows.PaymentSchema,
		State:        flows.Priced,
		Registration: registration.ID,
		Generation:   registration.Generation,
		Sale:         "/demo/sales/5",
		Amount:       4990,
		Currency:     "EUR",
		CreatedAt:    registration.CreatedAt,
		UpdatedAt:    registration.CreatedAt,
		Payer:        &flows.Payer{FamilyName: "Martin", GivenName: "Ada"},
	}
}

// to returns the change of a payment to a state.
func to(p *flows.Payment, state flows.PaymentState) flows.StateChange {
	next := *p
	next.State = state
	return flows.StateChange{From: p.State, Version: p.Version, Next: &next, Operation: uuid.NewString()}
}

// commit makes a change that must succeed, and returns the changed payment.
func (b *fixture) commit(move flows.StateChange) *flows.Payment {
	b.Helper()
	if err := b.Commit(b.Context(), move); err != nil {
		b.Fatal(err)
	}
	return move.Next
}

func registrationKey(r *flows.Registration) string { return "fd:{" + r.ID + "}:registration" }

func paymentKey(p *flows.Payment) string {
	return fmt.Sprintf("fd:{%s}:payment:%d", p.Registration, p.Generation)
}

// lives checks the remaining lifetime of a key, within ten seconds; 0 means no expiry.
func (b *fixture) lives(key string, want time.Duration) {
	b.Helper()
	left := b.redis.PTTL(b.Context(), key).Val()
	if want == 0 && left != -1 || want > 0 && (left > want || left < want-10*time.Second) {
		b.Errorf("%s lives %s, want %s", key, left, want)
	}
}
