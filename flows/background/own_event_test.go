package background_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/registration"
)

// audience is a subscriber that keeps what it gets.
type audience struct {
	url    string
	broken atomic.Bool // events of registrations cannot be published
	mu     sync.Mutex
	got    map[string][]string // bodies by webhook-id
}

func newAudience(t *testing.T) *audience {
	t.Helper()
	a := &audience{got: map[string][]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		frontdesktest.ValidateDelivery(t, body, r.Header)
		a.mu.Lock()
		defer a.mu.Unlock()
		id := r.Header.Get("webhook-id")
		a.got[id] = append(a.got[id], string(body))
	}))
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

// deliveries returns the bodies of the deliveries of an event.
func (a *audience) deliveries(id string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.got[id])
}

// names returns the names of all events that were delivered, sorted.
func (a *audience) names(t *testing.T) (names []string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, bodies := range a.got {
		var event struct{ Type string }
		if err := json.Unmarshal([]byte(bodies[0]), &event); err != nil {
			t.Fatal(err)
		}
		names = append(names, event.Type)
	}
	slices.Sort(names)
	return names
}

func (a *audience) await(t *testing.T, id string) string {
	t.Helper()
	frontdesktest.Eventually(t, "the event is delivered", func() bool { return len(a.deliveries(id)) > 0 })
	return a.deliveries(id)[0]
}

// announcer is a gateway that publishes to an audience, with its background work.
func (w *world) announcer(a *audience, how gatewayOptions) (*gateway, background.Config) {
	w.Helper()
	var relay *background.Relay
	how.Events = registration.OwnEvents{
		IsDue: func(ctx context.Context, name, subject string) (bool, error) { return relay.IsDue(ctx, name, subject) },
		Publish: func(ctx context.Context, event flows.OwnEvent) error {
			if a.broken.Load() {
				return flows.StorageFailed(io.ErrUnexpectedEOF)
			}
			return relay.Publish(ctx, event)
		},
	}
	g := w.Gateway(how)
	cfg := w.relayTo(g, a.url)
	relay = background.New(cfg).Relay
	return g, cfg
}

// TestRecordedPaymentIsAnnounced: each payment is announced once it is recorded, with its registration, whatever its method is. What a
// gateway did not announce before it died is announced by another one that verifies the payment a minute later, and only once.
func TestRecordedPaymentIsAnnounced(t *testing.T) {
	t.Parallel()
	for name, record := range map[string]func(*world, *gateway) *flows.Payment{
		"card": func(w *world, g *gateway) *flows.Payment { return w.Advance(g, w.Authorised(g)) },
		"later": func(w *world, g *gateway) *flows.Payment {
			due := w.Clock.Now().AddDate(0, 0, 7).Format(time.DateOnly)
			return w.settled(g, flows.StartPayment{Method: flows.Deferred, DueDate: due})
		},
		"desk": func(w *world, g *gateway) *flows.Payment {
			return w.settled(g, flows.StartPayment{Method: flows.InPerson, Staff: true, Desk: &flows.Desk{Mean: "cash"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world, to := newWorld(t), newAudience(t)
			payment := record(world, world.Gateway()) // which then dies
			if payment.State != flows.Recorded {
				t.Fatalf("the payment is %s (%s)", payment.State, payment.Reason)
			}
			_, cfg := world.announcer(to, gatewayOptions{})
			world.Clock.Advance(2 * time.Minute)
			world.RunBackground(cfg)
			recorded := flows.OwnEventID(flows.PaymentRecorded, string(payment.ID))
			completed := flows.OwnEventID(flows.RegistrationCompleted, payment.Registration)
			first := to.await(t, recorded) + to.await(t, completed)

			// It is announced again, as by a gateway that died before it noted that, or after that: nothing else is sent.
			world.Redis.Del(t.Context(), world.Redis.Keys(t.Context(), "fd:once:*").Val()...)
			world.verifyNow(payment)
			world.verifyNow(payment)
			if n := len(to.deliveries(recorded)) + len(to.deliveries(completed)); n != 2 {
				t.Errorf("%d deliveries of two events", n)
			}
			if again := to.deliveries(recorded)[0] + to.deliveries(completed)[0]; again != first {
				t.Errorf("first %s, then %s", first, again)
			}
			if names := to.names(t); !slices.Equal(names, []string{"payment.recorded", "registration.completed"}) {
				t.Errorf("published: %v", names)
			}
		})
	}
}

// settled pays a registration without a processor.
func (w *world) settled(g *gateway, in flows.StartPayment) *flows.Payment {
	w.Helper()
	r := w.Registered(g)
	return must(w, func() (*flows.Payment, error) { return g.PayWith(w.Context(), r.ID, holderToken, in) })
}

const unverified = "fd:{fd:payments:open}:unverified"

// verifyNow has a payment verified, and waits until it was.
func (w *world) verifyNow(payment *flows.Payment) {
	w.Helper()
	if err := w.Redis.ZAdd(w.Context(), unverified, redis.Z{Score: 1, Member: string(payment.ID)}).Err(); err != nil {
		w.Fatal(err)
	}
	frontdesktest.Eventually(w, "it is verified", func() bool {
		return w.Redis.ZScore(w.Context(), unverified, string(payment.ID)).Val() == 0
	})
}

// TestAnnouncementFails: a recorded payment of which not everything could be announced is still verified, and announced after a
// pause.
func TestAnnouncementFails(t *testing.T) {
	t.Parallel()
	world, to := newWorld(t), newAudience(t)
	g, cfg := world.announcer(to, gatewayOptions{})
	to.broken.Store(true)
	payment := world.Advance(g, world.Authorised(g))
	world.Clock.Advance(2 * time.Minute)
	world.RunBackground(cfg)
	frontdesktest.Eventually(t, "it is verified, and due again", func() bool {
		due := world.Redis.ZScore(t.Context(), unverified, string(payment.ID)).Val()
		return world.Stored(g, payment.ID).SaleVerdict == flows.SaleSettled && due > float64(world.Clock.Now().UnixMilli())
	})
	if names := to.names(t); slices.Contains(names, "registration.completed") {
		t.Errorf("published already: %v", names)
	}
	to.broken.Store(false)
	to.await(t, flows.OwnEventID(flows.PaymentRecorded, string(payment.ID)))
	frontdesktest.Eventually(t, "the rest is announced after a pause", func() bool {
		world.Clock.Advance(time.Minute)
		return len(to.deliveries(flows.OwnEventID(flows.RegistrationCompleted, payment.Registration))) > 0
	})
}

// TestDoubtIsAnnounced: a doubt is announced once, however often the payment is advanced meanwhile, and then its end.
func TestDoubtIsAnnounced(t *testing.T) {
	t.Parallel()
	world, to := newWorld(t), newAudience(t)
	g, cfg := world.announcer(to, gatewayOptions{})
	payment := world.Doubtful(g, "error_before")
	world.RunBackground(cfg)
	if err := g.Queue.Wake(t.Context(), payment.ID, nil); err != nil {
		t.Fatal(err)
	}
	frontdesktest.Eventually(t, "the doubt is announced", func() bool { return slices.Contains(to.names(t), "payment.in_doubt") })
	world.Clock.Advance(20 * time.Minute)
	if _, err := g.ConfirmRecorded(t.Context(), payment.ID, flows.Decision{Operator: "ada", Reason: "seen at the club"}); err != nil {
		t.Fatal(err)
	}
	world.Clock.Advance(2 * time.Minute)
	to.await(t, flows.OwnEventID(flows.RegistrationCompleted, payment.Registration))
	if names := to.names(t); !slices.Equal(names, []string{"payment.in_doubt", "payment.recorded", "registration.completed"}) {
		t.Errorf("published: %v", names)
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	for _, bodies := range to.got {
		if len(bodies) != 1 {
			t.Errorf("delivered %v", bodies)
		}
	}
}

// TestOldPaymentIsNotAnnounced: what was recorded days ago is not announced, as after an upgrade.
func TestOldPaymentIsNotAnnounced(t *testing.T) {
	t.Parallel()
	world, to := newWorld(t), newAudience(t)
	payment := world.Advance(world.Gateway(), world.Authorised(world.Gateway()))
	_, cfg := world.announcer(to, gatewayOptions{})
	world.Clock.Advance(4 * 24 * time.Hour)
	world.RunBackground(cfg)
	world.verifyNow(payment)
	last := flows.Event{ID: "evt_5a0f4b6e-52b1-5d33-8a35-3a6f5b9c1d20", Type: "class_event.updated"}
	if err := background.New(cfg).Relay.Enqueue(t.Context(), []flows.Event{last}); err != nil {
		t.Fatal(err)
	}
	to.await(t, last.ID)
	if names := to.names(t); !slices.Equal(names, []string{"class_event.updated"}) {
		t.Errorf("published: %v", names)
	}
}
