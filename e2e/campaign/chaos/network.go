package chaos

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/e2e/campaign"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// The invariants of the one POST.
const (
	// sentAfterAll: "not sent" and "refused" are what lets a POST be sent again.
	sentAfterAll = "said to have had no effect, and the club system booked it"
	// postedTwice: one call, one payment at most.
	postedTwice = "one call was booked more than once"
	// acceptedInVain: "accepted" is what makes a payment recorded.
	acceptedInVain = "said to be accepted, and the club system did not book it"
	// bytesLeft: "not sent" is said of bytes, not of answers.
	bytesLeft = "said not to be sent, and bytes of the request were seen on the way"
)

const (
	// wirePosts are those of the run for the record: 20,000 that are broken, and as many more as
	// are over before their fault comes about.
	wirePosts = 25_000
	// wireWorkers: most of their time they wait for a call that nobody answers.
	wireWorkers = 48
	// postsPerWorld keeps a world's books short.
	postsPerWorld = 50
	// postTime stands for the 30 s of the real client, which a campaign cannot wait for.
	postTime = 250 * time.Millisecond
	// quietTime is how long a request that was cut off may go on at the club system.
	quietTime = 5 * time.Second
)

// Wire breaks the connection of the one POST at any byte, in any way that a network can,
// and holds what the client says about it against the club system's books.
func Wire() campaign.Campaign {
	kinds := []string{refusedToConnect}
	for _, f := range breaks {
		kinds = append(kinds, f.kind)
	}
	for _, f := range simulated {
		kinds = append(kinds, simulatedKind(f))
	}
	for _, t := range toxics {
		for _, stream := range streams {
			kinds = append(kinds, toxicKind(t, stream))
		}
	}
	return campaign.Campaign{
		Name:        "wire",
		Description: "The connection of the POST that records a payment is reset, closed, slowed down, swallowed or filled with garbage at any byte, or spoiled by Toxiproxy, with TLS and without.",
		Faults:      kinds, Mutations: []string{"no-answer-no-effect"}, InProcess: true,
		Long: campaign.Options{Count: wirePosts}, Run: runWire,
	}
}

// bench is a club system for the workers of a run: the simulator, with TLS and without.
type bench struct {
	sim           *clubsim.Server
	plain, secure *httptest.Server
	busy          sync.Map // world → *atomic.Int64: requests that the simulator has not finished
	o             campaign.Options
	record        *campaign.Recorder
	posts         atomic.Int64
}

func runWire(ctx context.Context, o campaign.Options) (*campaign.Report, error) {
	if o.Count == 0 && o.Duration == 0 {
		o.Count = wireWorkers * postsPerWorld / 2
	}
	b := &bench{sim: clubsim.New(clubsim.Config{Now: time.Now}), o: o, record: campaign.NewRecorder("wire", o)}
	counted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		world, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		busy := b.under(world)
		busy.Add(1)
		defer busy.Add(-1)
		b.sim.ServeHTTP(w, r)
	})
	b.plain, b.secure = httptest.NewUnstartedServer(counted), httptest.NewUnstartedServer(counted)
	quiet(b.plain)
	quiet(b.secure)
	b.plain.Start()
	b.secure.StartTLS()
	defer func() {
		b.sim.Close()
		b.plain.Close()
		b.secure.Close()
	}()
	limited, cancel := o.Context(ctx)
	defer cancel()
	group, limited := errgroup.WithContext(limited)
	for i := range wireWorkers {
		group.Go(func() error {
			for world := 0; limited.Err() == nil && b.more(); world++ {
				if err := b.batch(limited, rand.New(rand.NewPCG(o.Seed, uint64(i)<<32+uint64(world))), fmt.Sprintf("demo-wire-%d-%d", i, world), i%2 == 1); err != nil && !ended(err) {
					return err
				}
			}
			return nil
		})
	}
	err := group.Wait()
	return b.record.Report(), err
}

// under counts the requests of a world that are under way.
func (b *bench) under(world string) *atomic.Int64 {
	busy, _ := b.busy.LoadOrStore(world, &atomic.Int64{})
	return busy.(*atomic.Int64)
}

// more tells whether another batch is wanted.
func (b *bench) more() bool {
	if b.o.StopAtViolation && b.record.ViolationCount() > 0 {
		return false
	}
	return b.o.Count == 0 || b.posts.Add(postsPerWorld) <= int64(b.o.Count)+postsPerWorld-1
}

// post is one call and what was said of it.
type post struct {
	amount  int64 // its name in the books
	fault   string
	outcome club.Outcome
	err     error
	seen    int64 // bytes of the request that came by, handshake included; without TLS only
}

// batch sends the posts of one world, each over a connection that is broken, and then
// looks into the books.
func (b *bench) batch(ctx context.Context, random *rand.Rand, name string, secure bool) error {
	world := b.sim.World(name)
	server := b.plain
	if secure {
		server = b.secure
	}
	l, err := newLine(server.Listener.Addr().String(), random, secure)
	if err != nil {
		return err
	}
	defer l.close()
	u, err := b.newUpstream(ctx, name, l, server)
	if err != nil {
		return err
	}
	var posts []post
	for amount := int64(1); amount <= postsPerWorld && ctx.Err() == nil; amount++ {
		p, err := u.post(ctx, world, random, amount)
		if err != nil {
			return err
		}
		posts = append(posts, p)
	}
	l.close()
	return b.judge(ctx, world, name, posts)
}

// judge waits until the club system has finished with all requests that reached it.
func (b *bench) judge(ctx context.Context, world *clubsim.World, name string, posts []post) error {
	late := time.Now().Add(quietTime)
	for before := -1; time.Now().Before(late); {
		booked := len(world.Ledger())
		if booked == before && b.under(name).Load() == 0 {
			break
		}
		before = booked
		const look = 20 * time.Millisecond // a request that has arrived is finished in a fraction of that
		wait(context.WithoutCancel(ctx), look)
	}
	times := map[int64]int{}
	for _, entry := range world.Ledger() {
		times[int64(entry.Amount)]++
	}
	for _, p := range posts {
		b.record.AddJourney(string(p.outcome))
		if p.fault != "" {
			b.record.AddFault(p.fault)
		}
		if invariant := p.broken(times[p.amount]); invariant != "" {
			b.record.AddViolations(campaign.Violation{Invariant: invariant, Seed: b.o.Seed, Registration: fmt.Sprintf("%s post %d", name, p.amount),
				Detail: fmt.Sprintf("%s: %s, booked %d times, %d bytes came by: %v", p.fault, p.outcome, times[p.amount], p.seen, p.err)})
		}
	}
	return nil
}

// broken is the invariant that a post breaks which was booked so many times.
func (p post) broken(booked int) string {
	switch {
	case booked > 1:
		return postedTwice
	case booked > 0 && (p.outcome == club.NotSent || p.outcome == club.Refused):
		return sentAfterAll
	case booked == 0 && p.outcome == club.Accepted:
		return acceptedInVain
	case p.seen > 0 && p.outcome == club.NotSent:
		return bytesLeft
	}
	return ""
}

// upstream is a client of the club system with a sale to pay for.
type upstream struct {
	client  *club.Client
	line    *line
	scope   club.Scope
	sale    club.IRI
	payment club.NewPayment
}

func (b *bench) newUpstream(ctx context.Context, world string, l *line, server *httptest.Server) (*upstream, error) {
	base := "http://" + l.address
	var roots *tls.Config
	if server.Certificate() != nil {
		base = "https://" + l.address
		roots = &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
		roots.RootCAs.AddCert(server.Certificate())
	}
	c := club.New(club.Config{BaseURL: base, ClientID: clubsim.DemoClientID, ClientSecret: clubsim.DemoClientSecret, GatewayKey: clubsim.DemoGatewayKey,
		Now: time.Now, TLS: roots, Limits: club.Limits{Payment: postTime}})
	iri := func(kind, id string) club.IRI { return club.IRI(path.Join("/", world, kind, id)) }
	u := &upstream{client: c, line: l, scope: club.Scope{ClientToken: world, Club: iri("clubs", "11"), Node: iri("network_nodes", "3")}}
	contact, err := c.CreateContact(ctx, u.scope, club.NewContact{FamilyName: "Wire", GivenName: "Ada", BirthDate: "1990-05-17",
		Email: "ada@example.com", Mobile: "+33612345678", Club: u.scope.Club, Status: club.StatusTemp})
	if err != nil {
		return nil, err
	}
	// The cart stays empty, so that no payment settles it and each is booked for itself.
	sale, err := c.CreateSale(ctx, u.scope, club.NewSale{Contact: contact.IRI, Club: u.scope.Club, ClubCode: "PARIS11",
		FamilyName: contact.FamilyName, GivenName: contact.GivenName, Number: contact.Number})
	if err != nil {
		return nil, err
	}
	if sale, err = c.GetSale(ctx, u.scope, sale.IRI); err != nil {
		return nil, err
	}
	u.sale, u.payment = sale.IRI, club.NewPayment{Contact: contact.IRI, FamilyName: contact.FamilyName, GivenName: contact.GivenName, Number: contact.Number,
		Mean: club.MeanCBWeb, Club: u.scope.Club, ClubCode: sale.ClubCode, Checkout: sale.Checkout}
	return u, nil
}

// post sends one POST into a fault.
func (u *upstream) post(ctx context.Context, world *clubsim.World, random *rand.Rand, amount int64) (post, error) {
	// The token is proven beforehand, so that the POST's connection is the next one.
	if _, err := u.client.GetSale(ctx, u.scope, u.sale); err != nil {
		return post{}, err
	}
	p, before := post{amount: amount}, u.line.seen.Load()
	var broke func() bool
	poisons := len(toxics) * len(streams)
	switch i := random.IntN(1 + len(breaks) + len(simulated) + poisons); {
	case i == 0:
		p.fault = refusedToConnect
		broke = func() bool { return true }
		u.line.refuse(true)
		defer u.line.refuse(false)
	case i <= len(breaks):
		p.fault = breaks[i-1].kind
		broke = u.line.next(breaks[i-1])
	case i > len(breaks)+len(simulated):
		n := i - 1 - len(breaks) - len(simulated)
		t, stream := toxics[n/len(streams)], streams[n%len(streams)]
		p.fault = toxicKind(t, stream)
		var remove func()
		var err error
		if broke, remove, err = u.line.poison(random, t, stream); err != nil {
			return p, err
		}
		defer remove()
	default:
		f := simulated[i-1-len(breaks)]
		p.fault = simulatedKind(f)
		once := 1
		f.Times, f.Match = &once, clubsim.FaultMatch{Method: http.MethodPost, Path: "/sales/*/payments"}
		if err := world.SetFaults([]clubsim.Fault{f}); err != nil {
			return p, err
		}
		broke = func() bool { return world.Faults()[0].Hits > 0 }
	}
	in := u.payment
	in.Amount = amount
	_, p.err = u.client.CreatePayment(ctx, u.scope, u.sale, in, nil)
	p.outcome = club.OutcomeOf(p.err)
	u.line.through()
	p.seen = u.line.seen.Load() - before
	if !broke() {
		p.fault = "" // the exchange was over before its byte came by
	}
	return p, errors.Join(ctx.Err(), world.SetFaults(nil))
}

// simulated are answers of the club system itself, which no cable gives.
var simulated = []clubsim.Fault{
	{Kind: "error_before", Status: http.StatusServiceUnavailable}, {Kind: "error_before", Status: http.StatusUnprocessableEntity},
	{Kind: "error_before", Status: http.StatusUnauthorized}, {Kind: "error_before", Status: http.StatusTemporaryRedirect},
	{Kind: "error_after", Status: http.StatusInternalServerError}, {Kind: "error_after", Status: http.StatusConflict},
	{Kind: "drop_after"}, {Kind: "malformed"}, {Kind: "too_many"}, {Kind: "hang"},
}

func simulatedKind(f clubsim.Fault) string {
	if f.Status == 0 {
		return f.Kind
	}
	return fmt.Sprintf("%s with %d", f.Kind, f.Status)
}
