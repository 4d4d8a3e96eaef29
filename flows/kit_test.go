package flows_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
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

const (
	goodCard     = "4242424242424242"
	declinedCard = "4000000000000002"
	bankAsks     = "4000002500003155"
	holderToken  = "the-holder's-token"
)

// bastille is where the tests' visitors register.
var bastille = club.Scope{ClientToken: "demo", Club: "/demo/clubs/11", Node: "/demo/network_nodes/3"}

// quarterPass is an offer that is paid by card at once.
const (
	quarterPass      = club.IRI("/demo/offers/201")
	quarterPassPrice = 14900
)

// world is what the gateways of a test share: the club system, the card processor, Redis and the clock.
type world struct {
	*testing.T
	clock     *frontdesktest.Clock
	sim       *clubsim.World
	sandbox   *sandbox.Server
	processor *cards.Client // the test's own access to the processor
	club      *club.Client  // the test's own access to the club system
	address   string        // of both, as the gateways reach them
	redisURL  string
	redis     *redis.Client // the test's own access to Redis
	log       *journal

	mu            sync.Mutex
	faultInjector *faultInjector
	deliveries    []sandbox.Delivery // of the processor
	mute          bool               // the club system does not report the state of a sale
	lists         atomic.Int32       // reads of the processor's list of payments
	reads         atomic.Int32       // reads of a single payment
}

func TestMain(m *testing.M) { frontdesktest.Main(m) }

// newWorld makes a world for one test.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, clock: frontdesktest.NewClock(time.Now()), redisURL: frontdesktest.NewDatabase(t), log: &journal{}}
	simulator := clubsim.New(clubsim.Config{Now: w.clock.Now})
	w.sim = simulator.World(clubsim.DemoClientToken)
	mux := http.NewServeMux()
	server, own := httptest.NewServer(w.withFaults(mux)), httptest.NewServer(mux)
	w.address = server.Listener.Addr().String()
	mux.Handle("/sim/", http.StripPrefix("/sim", simulator))
	w.openProcessor(mux, server.URL, own.URL)
	w.club = w.clubClient(own.Listener.Addr().String(), oneAttempt)
	options, err := redis.ParseURL(w.redisURL)
	if err != nil {
		t.Fatal(err)
	}
	w.redis = redis.NewClient(options)
	t.Cleanup(func() {
		for _, s := range []*httptest.Server{server, own} {
			s.CloseClientConnections()
			defer s.Close()
		}
		simulator.Close()
		w.redis.Close()
		if t.Failed() {
			t.Logf("log of the gateways:\n%s", w.log)
		}
	})
	return w
}

// oneAttempt shows faults instead of retrying them away. A slow response means a busy machine.
var oneAttempt = club.Limits{MaxAttempts: 1, ReadTimeout: time.Minute, AttemptTimeout: time.Minute, QueueTimeout: time.Minute}

func (w *world) clubClient(address string, limits club.Limits) *club.Client {
	saleState := club.SaleStateMember
	if w.mute {
		saleState = club.SaleStateCheck
	}
	return club.New(club.Config{
		BaseURL: "http://" + address + "/sim", ClientID: clubsim.DemoClientID, ClientSecret: clubsim.DemoClientSecret,
		GatewayKey: clubsim.DemoGatewayKey, SaleState: saleState, LimitHeaders: true, Now: w.clock.Now, Limits: limits,
	})
}

// gateway is one gateway's services, run in the test's process.
type gateway struct {
	*payment.Machine
	registrations *registration.Service
	sms           *registration.SMSBudget
	catalogue     *catalogue.Catalogue
	store         *store.Store
	queue         *background.Queue
	log           *slog.Logger
}

// gatewayOptions says how a gateway reaches the world; zero values mean directly, with the default settings.
type gatewayOptions struct {
	outside      string // address of the club system and the processor
	processor    string // address of the processor, if it is another one
	onProblem    func(string)
	redisURL     string
	refusedKeys  []string     // how the keys begin whose commands fail in Redis
	cards        cards.Config // of the processor's client, if it is not the default
	keys         *keyring.Keyring
	limits       club.Limits
	organisation string
	environment  string
	rule         *flows.Rule
	asksRepeats  bool
	sms          registration.SMSBudgetConfig // no hourly budget: no guard
}

// gateway starts a gateway; options make it differ from the others.
func (w *world) gateway(how ...gatewayOptions) *gateway {
	w.Helper()
	in := gatewayOptions{}
	if len(how) > 0 {
		in = how[0]
	}
	orDefault(&in.outside, w.address)
	orDefault(&in.redisURL, w.redisURL)
	if in.keys == nil {
		in.keys = newKeyring(w, "one")
	}
	connection := w.connect(in.redisURL, in.refusedKeys...)
	g := &gateway{store: store.New(store.Config{Redis: connection, Keys: in.keys}), log: slog.New(w.log)}
	g.queue = background.NewQueue(connection, g.store, w.clock.Now)
	client := w.clubClient(in.outside, cmp.Or(in.limits, oneAttempt))
	processor := w.processorAt("http://"+cmp.Or(in.processor, in.outside), in.cards)
	g.catalogue = catalogue.New(catalogue.Config{Club: client, Shared: g.store, Now: w.clock.Now, Log: g.log})
	g.Machine = payment.New(payment.Config{
		Store: g.store, Wake: g.queue.Wake, Club: client.Money(), BackgroundClub: client, Cards: processor, Keys: in.keys, Environment: cmp.Or(in.environment, "test"),
		Organisation: cmp.Or(in.organisation, "demo"), Rule: in.rule, Now: w.clock.Now, After: w.pause, Log: g.log,
		OnProblem: in.onProblem,
	})
	if in.sms.Hourly > 0 {
		in.sms.Store, in.sms.Now, in.sms.Log = g.store, w.clock.Now, g.log
		g.sms = registration.NewSMSBudget(in.sms)
	}
	g.registrations = registration.New(registration.Config{
		Store: g.store, Club: client, Catalogue: g.catalogue, Payments: g.Machine, Keys: in.keys, SMSBudget: g.sms,
		PublicURL: "https://club.example", Now: w.clock.Now, Log: g.log, AsksRepeats: func(string) bool { return in.asksRepeats },
	})
	return g
}

func orDefault(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

// newKeyring returns a ring with one key per name, the current one first.
func newKeyring(t testing.TB, names ...string) *keyring.Keyring {
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

// registered makes a registration with a cart that can be paid by card.
func (w *world) registered(g *gateway) *flows.Registration {
	w.Helper()
	return w.registeredFor(g, quarterPass, quarterPassPrice)
}

// registeredFor makes a registration with an offer in its cart.
func (w *world) registeredFor(g *gateway, offer club.IRI, price int64) *flows.Registration {
	w.Helper()
	ctx := w.Context()
	home := &club.Address{Country: "FR", Locality: "Paris", PostalCode: "75011", Street: "12 rue des Lilas"}
	contact := must(w, func() (club.Contact, error) {
		return w.club.CreateContact(ctx, bastille, club.NewContact{FamilyName: "Martin", GivenName: "Ada", BirthDate: "1990-05-17",
			Email: "ada@example.com", Mobile: "+33612345678", Club: bastille.Club, Status: club.StatusTemp, Address: home})
	})
	sale := must(w, func() (club.Sale, error) {
		return w.club.CreateSale(ctx, bastille, club.NewSale{Contact: contact.IRI, Club: bastille.Club, ClubCode: "PARIS11",
			FamilyName: contact.FamilyName, GivenName: contact.GivenName, Number: contact.Number, Address: home})
	})
	start := w.clock.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	if err := w.club.AddArticle(ctx, bastille, sale.IRI, club.NewArticle{Offer: offer, StartDate: start}); err != nil {
		w.Fatal(err)
	}
	if w.mute {
		sale.State = ""
	}
	hash := sha256.Sum256([]byte(holderToken))
	now := w.clock.Now()
	r := &flows.Registration{
		ID: uuid.NewString(), State: flows.Open, ClientToken: "demo", TokenHash: hex.EncodeToString(hash[:]), ClubID: "11", Channel: "web",
		Contact: &flows.Contact{IRI: contact.IRI, Number: contact.Number, Status: contact.Status, Masked: visitor.Masked()}, Sale: sale.IRI, SaleState: sale.State,
		Items:     []flows.Item{{NewItem: flows.NewItem{ID: uuid.NewString(), OfferID: offer.ID(), StartDate: start}, Offer: offer}},
		Cart:      flows.Cart{Currency: "EUR", Total: price, Valid: true, Lines: []flows.Line{{Offer: offer, Price: price}}},
		CreatedAt: now, ExpiresAt: now.Add(20 * time.Hour),
	}
	if err := g.store.SaveRegistration(ctx, r); err != nil {
		w.Fatal(err)
	}
	return r
}

// must returns the result of a call that must succeed.
func must[T any](t testing.TB, call func() (T, error)) T {
	t.Helper()
	got, err := call()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// errorOf is the error of a call that also returns something else.
func errorOf[T any](_ T, err error) error { return err }

// started makes a registration and starts its payment, which then waits for the buyer.
func (w *world) started(g *gateway) *flows.Payment {
	w.Helper()
	r := w.registered(g)
	p := must(w, func() (*flows.Payment, error) { return g.pay(w.Context(), r.ID) })
	if p.State != flows.Intent {
		w.Fatalf("the payment is %s", p.State)
	}
	return p
}

// abandoned makes a started payment that is cancelled because the buyer did not pay in time.
func (w *world) abandoned(g *gateway) *flows.Payment {
	w.Helper()
	p := w.started(g)
	w.clock.Advance(31 * time.Minute)
	if p = w.advance(g, p); p.State != flows.Cancelled {
		w.Fatalf("the payment is %s (%s)", p.State, p.Reason)
	}
	return p
}

// authorised makes a started payment for which the buyer has entered a valid card.
func (w *world) authorised(g *gateway) *flows.Payment {
	w.Helper()
	p := w.started(g)
	w.confirm(p, goodCard)
	return p
}

func (g *gateway) pay(ctx context.Context, registration string) (*flows.Payment, error) {
	return g.payWith(ctx, registration, holderToken, flows.StartPayment{Method: "card"})
}

func (g *gateway) payWith(ctx context.Context, registration, token string, in flows.StartPayment) (*flows.Payment, error) {
	shown, err := g.registrations.Pay(ctx, registration, token, in)
	return shown.Payment, err
}

// advance lets a gateway advance a payment, and returns the payment as stored afterwards.
func (w *world) advance(g *gateway, p *flows.Payment) *flows.Payment {
	w.Helper()
	if _, err := g.Advance(w.Context(), p.ID); err != nil {
		w.Logf("advance: %v", err)
	}
	return w.stored(g, p.ID)
}

func (w *world) stored(g *gateway, id flows.PaymentID) *flows.Payment {
	w.Helper()
	return must(w, func() (*flows.Payment, error) { return g.store.Payment(w.Context(), id) })
}

// put stores a payment in a state, as if its history had led there.
func (w *world) put(g *gateway, id flows.PaymentID, state flows.PaymentState, edits ...func(*flows.Payment)) *flows.Payment {
	w.Helper()
	p := w.stored(g, id)
	next := *p
	next.State, next.Reason, next.UpdatedAt = state, "put there by the test", w.clock.Now()
	for _, edit := range edits {
		edit(&next)
	}
	move := flows.StateChange{From: p.State, Version: p.Version, Next: &next, Operation: uuid.NewString()}
	if err := g.store.Commit(w.Context(), move); err != nil {
		w.Fatal(err)
	}
	return &next
}

// expireLease lets time pass until the payment's silent owner counts as gone.
func (w *world) expireLease(p *flows.Payment) {
	w.Helper()
	if err := w.redis.HSet(w.Context(), redisKey(p), "lease", 0).Err(); err != nil {
		w.Fatal(err)
	}
}

func redisKey(p *flows.Payment) string {
	return fmt.Sprintf("fd:{%s}:payment:%d", p.Registration, p.Generation)
}

// fault makes calls to the club system fail.
func (w *world) fault(faults ...clubsim.Fault) {
	w.Helper()
	if err := w.sim.SetFaults(faults); err != nil {
		w.Fatal(err)
	}
}

// recording matches the call that records a payment in the club system.
var recording = clubsim.FaultMatch{Method: "POST", Path: "/sales/*/payments"}

func times(n int) *int { return &n }

// posted counts the calls that tried to record a payment.
func (w *world) posted() (n int) {
	for _, request := range w.sim.Requests() {
		if match, _ := path.Match("/sales/*/payments", request.Path); match && request.Method == http.MethodPost {
			n++
		}
	}
	return n
}

// lines returns the ledger's entries for a payment's sale.
func (w *world) lines(p *flows.Payment) (lines []clubsim.LedgerEntry) {
	for _, entry := range w.sim.Ledger() {
		if entry.SaleID == string(p.Sale) {
			lines = append(lines, entry)
		}
	}
	return lines
}

// faultInjector injects a fault into one of the machine's requests to other systems.
type faultInjector struct {
	call
	before, after func() // each may be nil
	fail          int    // answer this many requests with an error, after running only before
	status        int    // of that error; 0: 503
}

// injectFault runs functions before and after the next such call.
func (w *world) injectFault(c call, before, after func()) {
	w.setFaultInjector(&faultInjector{call: c, before: before, after: after})
}

// fail answers the next such calls with 503 and does nothing.
func (w *world) fail(c call, times int) {
	w.setFaultInjector(&faultInjector{call: c, fail: times})
}

func (w *world) setFaultInjector(m *faultInjector) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faultInjector = m
}

// take returns what to do around a request.
func (w *world) take(r *http.Request) faultInjector {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.faultInjector
	if m == nil || !m.matches(r) {
		return faultInjector{}
	}
	taken := *m
	if m.fail--; m.fail <= 0 {
		w.faultInjector = nil
	}
	return taken
}

func (w *world) withFaults(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if getCall.matches(r) {
			w.reads.Add(1)
		} else if listCall.matches(r) {
			w.lists.Add(1)
		}
		m := w.take(r)
		if m.before != nil {
			m.before()
		}
		if m.fail > 0 {
			rw.WriteHeader(cmp.Or(m.status, http.StatusServiceUnavailable))
			fmt.Fprint(rw, processorError)
			return
		}
		w.serve(next, rw, r)
		if m.after != nil {
			m.after() // the response, being small, is sent only when the handler returns
		}
	})
}

// serve answers a request; if the world is mute, it leaves out the states of sales.
func (w *world) serve(next http.Handler, rw http.ResponseWriter, r *http.Request) {
	if sale, _ := path.Match("/sim/demo/sales/*", r.URL.Path); !sale || !w.mute {
		next.ServeHTTP(rw, r)
		return
	}
	full := httptest.NewRecorder()
	next.ServeHTTP(full, r)
	rw.WriteHeader(full.Code)
	rw.Write(saleState.ReplaceAll(full.Body.Bytes(), nil))
}

var saleState = regexp.MustCompile(`"state":"[a-z]+",`)

// move is a transition that the machine reported.
type move struct{ from, to flows.PaymentState }

// journal is the log of a world's gateways. It keeps the transitions separately.
type journal struct {
	mu     sync.Mutex
	text   bytes.Buffer
	moves  map[flows.PaymentID][]move
	onMove func(flows.PaymentID, move)
}

// listen calls f at every transition, on the gateway that made it, before that gateway continues.
func (j *journal) listen(f func(flows.PaymentID, move)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.onMove = f
}

// Enabled accepts every level.
func (j *journal) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs is unused by the gateways.
func (j *journal) WithAttrs([]slog.Attr) slog.Handler { return j }

// WithGroup is unused by the gateways.
func (j *journal) WithGroup(string) slog.Handler { return j }

// Handle keeps a log line.
func (j *journal) Handle(ctx context.Context, line slog.Record) error {
	if line.Message == "payment moved" {
		j.note(line)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return slog.NewTextHandler(&j.text, &slog.HandlerOptions{Level: slog.LevelDebug}).Handle(ctx, line)
}

func (j *journal) note(line slog.Record) {
	attrs := map[string]string{}
	line.Attrs(func(a slog.Attr) bool { attrs[a.Key] = a.Value.String(); return true })
	id, m := flows.PaymentID(attrs["payment"]), move{flows.PaymentState(attrs["from"]), flows.PaymentState(attrs["to"])}
	j.mu.Lock()
	if j.moves == nil {
		j.moves = map[flows.PaymentID][]move{}
	}
	j.moves[id] = append(j.moves[id], m)
	listener := j.onMove
	j.mu.Unlock()
	if listener != nil {
		listener(id, m)
	}
}

// String returns the log as text.
func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// movesOf returns the transitions of a payment, or of all payments if the id is empty.
func (j *journal) movesOf(id flows.PaymentID) (moves []move) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for each, its := range j.moves {
		if id == "" || id == each {
			moves = append(moves, its...)
		}
	}
	return moves
}

// counts returns how often a transition happened.
func (j *journal) counts(m move) (n int) {
	for _, each := range j.movesOf("") {
		if each == m {
			n++
		}
	}
	return n
}

// forget drops the transitions recorded so far.
func (j *journal) forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.moves = nil
}
