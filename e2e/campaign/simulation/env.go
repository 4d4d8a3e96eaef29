package simulation

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/keyring"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// env runs journeys one after the other: a club system, a card processor and a Redis, all real, all in
// this process, and all on its clock.
type env struct {
	*frontdesktest.Clock
	simulator *clubsim.Server
	sim       *clubsim.World
	sandbox   *sandbox.Server // the card processor of the journey
	processor *cards.Client   // of all gateways; the calling task determines the faults
	redis     *miniredis.Miniredis
	client    redis.UniversalClient // of all gateways; the calling task determines the faults
	keys      *keyring.Keyring
	scripts   sync.Map    // the hashes of the scripts that Redis knows
	learning  atomic.Bool // the journey sent something that only the first one here sends
	store     *store.Store
	queue     *background.Queue
	catalogue *catalogue.Catalogue
	server    *httptest.Server // the club system's address: payments use their own connection

	oneFault sync.Mutex // held while the club system's simulator is set up to fail at one call

	current atomic.Pointer[journey] // in progress
}

const never = 24 * time.Hour // longer than a run

// startTime is when every journey begins: a repeated seed needs the same time.
var startTime = time.Date(2027, time.March, 1, 10, 0, 0, 0, time.UTC)

func newEnv() (*env, error) {
	env := &env{Clock: frontdesktest.NewClock(startTime)}
	secret := sha256.Sum256([]byte("simulation"))
	keys, err := keyring.New(secret[:])
	if err != nil {
		return nil, err
	}
	env.keys = keys
	env.simulator = clubsim.New(clubsim.Config{Now: env.Now})
	env.sim = env.simulator.World(clubsim.DemoClientToken)
	env.openProcessor(1)
	env.processor, err = cards.New(cards.Config{
		SecretKey:      env.sandbox.SecretKey,
		WebhookSecrets: []string{env.sandbox.WebhookSecret},
		URL:            processorURL,
		Now:            env.Now,
		After:          env.pause,
		HTTPClient:     &http.Client{Transport: processorTransport{env}},
	})
	if err != nil {
		return nil, err
	}
	env.redis = miniredis.NewMiniRedis()
	env.redis.SetTime(startTime)
	env.redis.ClockTTL(true)
	if err := env.redis.Start(); err != nil {
		return nil, err
	}
	// No deadlines: only the machine can be slow here. A pipe in memory would stop for good at a request of more than 4 KB, because
	// both of its sides write.
	env.client = redis.NewClient(&redis.Options{Addr: env.redis.Addr(), MaxRetries: -1, ReadTimeout: -1, WriteTimeout: -1})
	env.client.AddHook(redisHook{env})
	env.store = store.New(store.Config{Redis: env.client, Keys: env.keys})
	env.queue = background.NewQueue(background.QueueConfig{Redis: env.client, Store: env.store, Keys: env.keys, Now: env.Now})
	env.server = httptest.NewServer(http.HandlerFunc(env.serveConnection))
	// It is read once for all journeys: its clock does not move, so that no journey refreshes it.
	env.catalogue = catalogue.New(catalogue.Config{
		Club: env.clubClient(), Now: func() time.Time { return startTime }, Log: slog.New(slog.DiscardHandler),
	})
	return env, nil
}

func (s *env) close() {
	s.client.Close()
	s.redis.Close()
	s.server.CloseClientConnections()
	s.server.Close()
	s.simulator.Close()
	s.sandbox.Close()
}

// pause has the running task wait on the env's clock, while other tasks run.
func (s *env) pause(d time.Duration) <-chan time.Time {
	if f := s.current.Load(); f != nil {
		if t := f.running.Load(); t != nil {
			t.yield(d)
		}
	}
	over := make(chan time.Time, 1)
	over <- s.Now()
	return over
}

// reset forgets the journey before. The seed is that of the next one.
func (s *env) reset(seed uint64) {
	s.current.Store(nil)
	s.Advance(startTime.Sub(s.Now()))
	s.redis.SetTime(startTime)
	s.redis.FlushAll()
	s.sim.Reset()
	s.openProcessor(seed)
}

// clubClient makes a client of the club system. Its limits run on real time and are tested elsewhere: here
// a call fails or it does not, however slow the machine is.
func (s *env) clubClient() *club.Client {
	return club.New(club.Config{
		BaseURL:      s.server.URL + "/sim",
		ClientID:     clubsim.DemoClientID,
		ClientSecret: clubsim.DemoClientSecret,
		GatewayKey:   clubsim.DemoGatewayKey,
		LimitHeaders: true,
		Now:          s.Now,
		Transport:    clubTransport{s},
		Limits: club.Limits{
			MaxAttempts:    1,
			BreakerCalls:   1 << 20,
			ReadTimeout:    never,
			AttemptTimeout: never,
			WriteTimeout:   never,
			PaymentTimeout: never,
			QueueTimeout:   never,
		},
	})
}

// gateway is one replica. Each task has services to itself, because tasks of one process that wait for each
// other could not yield to each other. The next task of the process gets them, with what they know.
type gateway struct {
	name          string
	env           *env
	client        *club.Client
	log           *slog.Logger
	payments      *payment.Machine
	registrations *registration.Service
	idle          []*gateway // the same replica with services that no task uses
}

func (s *env) gateway(n int, journey *journey) *gateway {
	name := fmt.Sprintf("gateway %d", n)
	return (&gateway{name: name, env: s, client: s.clubClient(), log: slog.New(logHandler{slog.DiscardHandler, journey, name})}).fresh()
}

// take returns the replica with services that no task uses.
func (g *gateway) take() *gateway {
	last := len(g.idle) - 1
	if last < 0 {
		return g.fresh()
	}
	free := g.idle[last]
	g.idle = g.idle[:last]
	return free
}

// fresh returns the same replica with new services.
func (g *gateway) fresh() *gateway {
	env, other := g.env, *g
	other.payments = payment.New(payment.Config{
		Store:          env.store,
		Wake:           env.queue.Wake,
		Club:           g.client.Money(),
		BackgroundClub: g.client,
		Cards:          env.processor,
		Keys:           env.keys,
		Environment:    "test",
		Organisation:   clubsim.DemoClientToken,
		// The simulator's sales show in this way that they were paid, as in every environment but the live one.
		Rule:  &flows.Rule{Conditions: []flows.Condition{{Signal: flows.SignalSaleState, Before: "building", After: "settled"}}},
		Now:   env.Now,
		After: env.pause,
		Log:   g.log,
	})
	other.registrations = registration.New(registration.Config{
		Store:     env.store,
		Club:      g.client,
		Catalogue: env.catalogue,
		Payments:  other.payments,
		Keys:      env.keys,
		PublicURL: "https://club.example",
		Now:       env.Now,
		Log:       g.log,
	})
	return &other
}
