package flowstest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/keyring"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// ProofsKept is how long the gateways keep proofs.
const ProofsKept = 100 * 24 * time.Hour

// Gateway is one gateway's services, run in the test's process.
type Gateway struct {
	*payment.Machine
	Registrations *registration.Service
	SMS           *registration.SMSBudget
	Catalogue     *catalogue.Catalogue
	Store         *store.Store
	Queue         *background.Queue
	Log           *slog.Logger
}

// Options says how a gateway reaches the world; zero values mean directly, with the default settings.
type Options struct {
	Outside       string // address of the club system and the processor
	Processor     string // address of the processor, if it is another one
	OnProblem     func(string)
	RedisURL      string
	RefusedKeys   []string     // how the keys begin whose commands fail in Redis
	Cards         cards.Config // of the processor's client, if it is not the default
	Keys          *keyring.Keyring
	Limits        club.Limits
	Organisation  string
	Environment   string
	Rule          *flows.Rule
	AsksRepeats   bool
	ContactTokens bool
	SMS           registration.SMSBudgetConfig // no hourly budget: no guard
	Events        registration.OwnEvents       // where own events are published
	Clubs         *catalogue.Directory         // what the operator tells about the clubs
}

// Gateway starts a gateway; options make it differ from the others.
func (w *World) Gateway(how ...Options) *Gateway {
	w.Helper()
	in := Options{}
	if len(how) > 0 {
		in = how[0]
	}
	in.Outside, in.RedisURL = cmp.Or(in.Outside, w.Address), cmp.Or(in.RedisURL, w.redisURL)
	if in.Keys == nil {
		in.Keys = NewKeyring(w, "one")
	}
	connection := w.connect(in.RedisURL, in.RefusedKeys...)
	gateway := &Gateway{Store: store.New(store.Config{Redis: connection, Keys: in.Keys}), Log: slog.New(w.Journal)}
	gateway.Queue = background.NewQueue(background.QueueConfig{
		Redis: connection, Store: gateway.Store, Keys: in.Keys, Mails: true, Now: w.Clock.Now,
	})
	client := w.clubClient(in.Outside, cmp.Or(in.Limits, oneAttempt))
	processor := w.processorAt("http://"+cmp.Or(in.Processor, in.Outside), in.Cards)
	gateway.Catalogue = catalogue.New(catalogue.Config{
		Club: client, Clubs: in.Clubs, Shared: gateway.Store, Now: w.Clock.Now, Log: gateway.Log,
	})
	gateway.Machine = payment.New(payment.Config{
		Store:          gateway.Store,
		Wake:           gateway.Queue.Wake,
		Club:           client.Money(),
		BackgroundClub: client,
		Cards:          processor,
		Keys:           in.Keys,
		Environment:    cmp.Or(in.Environment, "test"),
		Organisation:   cmp.Or(in.Organisation, "demo"),
		Rule:           in.Rule,
		Now:            w.Clock.Now,
		After:          w.pause,
		Log:            gateway.Log,
		OnProblem:      in.OnProblem,
	})
	if in.SMS.Hourly > 0 {
		in.SMS.Store, in.SMS.Now, in.SMS.Log = gateway.Store, w.Clock.Now, gateway.Log
		gateway.SMS = registration.NewSMSBudget(in.SMS)
	}
	gateway.Registrations = registration.New(registration.Config{
		Store:       gateway.Store,
		Club:        client,
		Catalogue:   gateway.Catalogue,
		Payments:    gateway.Machine,
		Keys:        in.Keys,
		SMSBudget:   gateway.SMS,
		PublicURL:   "https://club.example",
		Now:         w.Clock.Now,
		Log:         gateway.Log,
		AsksRepeats: func(string) bool { return in.AsksRepeats },
		Events:      in.Events,
		ProofsKept:  ProofsKept,

		ContactTokens: in.ContactTokens,
	})
	return gateway
}

// NewKeyring returns a ring with one key per name, the current one first.
func NewKeyring(t testing.TB, names ...string) *keyring.Keyring {
	t.Helper()
	secrets := make([][]byte, len(names))
	for i, name := range names {
		secret := sha256.Sum256([]byte(name))
		secrets[i] = secret[:]
	}
	ring, err := keyring.New(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// Pay starts the card payment of a registration as its holder does.
func (g *Gateway) Pay(ctx context.Context, registration string) (*flows.Payment, error) {
	return g.PayWith(ctx, registration, HolderToken, flows.StartPayment{Method: "card"})
}

// PayWith starts a payment as the holder of a token does.
func (g *Gateway) PayWith(ctx context.Context, registration, token string, in flows.StartPayment) (*flows.Payment, error) {
	shown, err := g.Registrations.Pay(ctx, registration, token, in)
	return shown.Payment, err
}

// Advance lets a gateway advance a payment, and returns the payment as stored afterwards.
func (w *World) Advance(gateway *Gateway, payment *flows.Payment) *flows.Payment {
	w.Helper()
	if _, err := gateway.Advance(w.Context(), payment.ID); err != nil {
		w.Logf("advance: %v", err)
	}
	return w.Stored(gateway, payment.ID)
}

// Stored returns a payment as Redis has it.
func (w *World) Stored(gateway *Gateway, id flows.PaymentID) *flows.Payment {
	w.Helper()
	return Must(w, func() (*flows.Payment, error) { return gateway.Store.Payment(w.Context(), id) })
}

// Put stores a payment in a state, as if its history had led there.
func (w *World) Put(gateway *Gateway, id flows.PaymentID, state flows.PaymentState, edits ...func(*flows.Payment)) *flows.Payment {
	w.Helper()
	payment := w.Stored(gateway, id)
	next := *payment
	next.State, next.Reason, next.UpdatedAt = state, "put there by the test", w.Clock.Now()
	for _, edit := range edits {
		edit(&next)
	}
	move := flows.StateChange{From: payment.State, Version: payment.Version, Next: &next, Operation: uuid.NewString()}
	if err := gateway.Store.Commit(w.Context(), move); err != nil {
		w.Fatal(err)
	}
	return &next
}

// Handle delivers an event of the card processor to a gateway.
func (w *World) Handle(gateway *Gateway, about cards.Event) {
	w.Helper()
	if err := gateway.HandleEvent(w.Context(), about); err != nil {
		w.Fatal(err)
	}
}

// Event is the processor's event about a payment.
func Event(payment *flows.Payment) cards.Event {
	generation := map[string]string{
		"fd_registration": payment.Registration,
		"fd_generation":   "1",
		"fd_environment":  "test",
		"fd_sale":         string(payment.Sale),
	}
	return cards.Event{
		ID:        uuid.NewString(),
		Type:      "payment_intent.amount_capturable_updated",
		PaymentID: payment.ProcessorID,
		Metadata:  generation,
	}
}

// Woken lists the payments that were woken and that no gateway has taken yet.
func (w *World) Woken() []string {
	w.Helper()
	woken := redis.ZRangeArgs{Key: "fd:payments:open", Start: "-inf", Stop: "(0", ByScore: true}
	return Must(w, w.Redis.ZRangeArgs(w.Context(), woken).Result)
}
