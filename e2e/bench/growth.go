package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"frontdesk/api"
	"frontdesk/e2e/campaign/rig"
	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/upstream/club"
)

const (
	// few and many are how many registrations are open in the two Redis that are compared.
	few, many = 1_000, 100_000
	// asked are the registrations that the load reads, so that no cache of a processor has them all.
	asked = 1_000
	// sealKey seals the registrations that are made here as the gateway's own are.
	sealKey = "YmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtYmVuY2g="
	// writers store at once; Redis has one core anyway.
	writers = 32
	// sweeps is the time in which the work of sweeps is counted: two or three of them.
	sweeps = 40 * time.Second
)

// crowd is a gateway on a Redis with so many open registrations.
type crowd struct {
	*gateway
	redis   *redis.Client
	visits  []visit // to registrations, by their holders
	records *store.Store
	one     *flows.Registration // that a visitor started, of which the others are copies
	bytes   float64             // of Redis for each registration
}

// measureGrowth reads a registration among few and among many.
func measureGrowth(ctx context.Context, l *lab) ([]row, error) {
	outside, err := l.outside()
	if err != nil {
		return nil, err
	}
	small, err := l.crowd(outside, few)
	if err != nil {
		return nil, err
	}
	large, err := l.crowd(outside, many)
	if err != nil {
		return nil, err
	}
	took, err := interleave(half(ctx, large.reads()), half(ctx, small.reads()))
	if err != nil {
		return nil, err
	}
	swept, err := sweepWork(ctx, large, small)
	if err != nil {
		return nil, err
	}
	const mostBytes, slower, more = 4096, 1.1, 1.1
	return []row{
		{"GET /v1/registrations/{id} among 100,000 that are open", fmt.Sprintf("%.2f ms", took[0].median()),
			fmt.Sprintf("among 1,000: %.2f ms", took[1].median()), took[0].over(took[1]), bar{atMost: slower}},
		{"Redis for each open registration, with contact, cart and all indexes", fmt.Sprintf("%.0f bytes", large.bytes),
			"4 KB", large.bytes / mostBytes, bar{atMost: 1}},
		{"Redis commands of a gateway at rest with 100,000", fmt.Sprintf("%.0f/s", swept[0]), fmt.Sprintf("with 1,000: %.0f/s", swept[1]), swept[0] / swept[1], bar{atMost: more}},
	}, nil
}

// crowd starts a gateway, and registrations on its Redis.
func (l *lab) crowd(outside string, size int) (*crowd, error) {
	server, err := rig.NewRedis(l.ctx, l.dir, rig.FsyncEverySec) // it is filled sooner, and reads do not sync
	if err != nil {
		return nil, err
	}
	l.all = append(l.all, server)
	c := &crowd{}
	if c.gateway, err = l.gateway(outside, server.URL(), "FRONTDESK_SEAL_KEYS="+sealKey); err != nil {
		return nil, err
	}
	options, err := redis.ParseURL(server.URL())
	if err != nil {
		return nil, err
	}
	c.redis = redis.NewClient(options)
	client, err := store.Connect(server.URL())
	if err != nil {
		return nil, err
	}
	secret, err := base64.StdEncoding.DecodeString(sealKey)
	if err != nil {
		return nil, err
	}
	keys, err := flows.NewKeyring(secret)
	if err != nil {
		return nil, err
	}
	c.records = store.New(store.Config{Redis: client, Keys: keys})
	if err := c.startOne(l.ctx); err != nil {
		return nil, err
	}
	return c, c.fill(l.ctx, size)
}

// startOne starts a registration as a visitor does, with an offer that asks for all there is.
func (c *crowd) startOne(ctx context.Context) error {
	day, begins := 5, time.Now().AddDate(0, 1, 0).Format(time.DateOnly)
	started, err := newBuyers(c.url, nil).register(ctx, api.NewItem{OfferId: "901", StartDate: &begins, Debit: &api.Debit{Day: &day}})
	if err != nil {
		return err
	}
	c.one, _, err = c.records.Registration(ctx, started.Id)
	return err
}

// fill stores copies of the one registration, each of a person of its own.
func (c *crowd) fill(ctx context.Context, size int) error {
	before, err := c.used(ctx)
	if err != nil {
		return err
	}
	made := make([]visit, size)
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range size {
		group.Go(func() (err error) { made[i], err = c.copyOne(within, i); return err })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	after, err := c.used(ctx)
	c.bytes = float64(after-before) / float64(size)
	rand.Shuffle(size, func(i, j int) { made[i], made[j] = made[j], made[i] })
	c.visits = made[:min(asked*10, size)]
	return err
}

func (c *crowd) copyOne(ctx context.Context, i int) (visit, error) {
	token := uuid.NewString() + uuid.NewString()
	digest := sha256.Sum256([]byte(token))
	r := *c.one
	r.ID, r.Version, r.TokenHash = uuid.NewString(), 0, hex.EncodeToString(digest[:])
	contact := *c.one.Contact
	contact.IRI = club.NewIRI("demo", "contacts", strconv.Itoa(1_000_000+i))
	r.Contact, r.Sale = &contact, club.NewIRI("demo", "sales", strconv.Itoa(1_000_000+i))
	r.Persons = make([]string, len(c.one.Persons))
	for n, name := range c.one.Persons {
		other := sha256.Sum256([]byte(name + r.ID))
		r.Persons[n] = name[:8] + hex.EncodeToString(other[:]) // as long as a name is
	}
	return visit{"/v1/registrations/" + r.ID, http.Header{"Authorization": {"Bearer " + token}}}, c.records.CreateRegistration(ctx, &r)
}

// reads is a load of holders who look at their registrations, one at a time: what is
// compared is the answer's time, and not how many fit beside each other.
func (c *crowd) reads() load {
	return load{url: c.url, visits: c.visits[:asked], addresses: visitors, connections: 1}
}

// used is what Redis holds in memory, in bytes.
func (c *crowd) used(ctx context.Context) (int64, error) { return c.told(ctx, "memory", "used_memory") }

// told reads a number of a section of what Redis tells of itself.
func (c *crowd) told(ctx context.Context, section, name string) (int64, error) {
	text, err := c.redis.Info(ctx, section).Bytes()
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if value, found := bytes.CutPrefix(line, []byte(name+":")); found {
			return strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
		}
	}
	return 0, fmt.Errorf("redis tells no %s", name)
}

// sweepWork is how many commands a second each Redis is asked while nobody does anything,
// by the sweeps and by the queue.
func sweepWork(ctx context.Context, crowds ...*crowd) ([]float64, error) {
	count := func() (all []int64, err error) {
		for _, c := range crowds {
			n, err := c.told(ctx, "stats", "total_commands_processed")
			if err != nil {
				return nil, err
			}
			all = append(all, n)
		}
		return all, nil
	}
	before, err := count()
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(sweeps):
	}
	after, err := count()
	if err != nil {
		return nil, err
	}
	perSecond := make([]float64, len(crowds))
	for i := range crowds {
		perSecond[i] = float64(after[i]-before[i]) / sweeps.Seconds()
	}
	return perSecond, nil
}
