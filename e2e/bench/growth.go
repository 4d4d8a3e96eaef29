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
	// readRegistrations are the registrations that the load reads, so that no cache of a processor has them all.
	readRegistrations = 1_000
	// sealKey seals the registrations that are made here as the gateway's own are.
	sealKey = "YmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtYmVuY2g="
	// writers store at once; Redis has one core anyway.
	writers = 32
	// idlePeriod is the time in which the work of sweeps is counted: two or three of them.
	idlePeriod = 40 * time.Second
)

// population is a gateway on a Redis with so many open registrations.
type population struct {
	*gateway
	redis   *redis.Client
	targets []target // to registrations, by their holders
	records *store.Store
	one     *flows.Registration // that a visitor started, of which the others are copies
	bytes   float64             // of Redis for each registration
}

// measureGrowth reads a registration among few and among many.
func measureGrowth(ctx context.Context, h *harness) ([]row, error) {
	outside, err := h.upstreams()
	if err != nil {
		return nil, err
	}
	small, err := h.population(outside, few)
	if err != nil {
		return nil, err
	}
	large, err := h.population(outside, many)
	if err != nil {
		return nil, err
	}
	took, err := interleave(medianLatency(ctx, large.reads()), medianLatency(ctx, small.reads()))
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
			fmt.Sprintf("among 1,000: %.2f ms", took[1].median()), took[0].ratioTo(took[1]), threshold{atMost: slower}},
		{"Redis for each open registration, with contact, cart and all indexes", fmt.Sprintf("%.0f bytes", large.bytes),
			"4 KB", large.bytes / mostBytes, threshold{atMost: 1}},
		{"Redis commands of a gateway at rest with 100,000", fmt.Sprintf("%.0f/s", swept[0]), fmt.Sprintf("with 1,000: %.0f/s", swept[1]), swept[0] / swept[1], threshold{atMost: more}},
	}, nil
}

// population starts a gateway, and registrations on its Redis.
func (h *harness) population(outside string, size int) (*population, error) {
	server, err := rig.NewRedis(h.ctx, h.dir, rig.FsyncEverySec) // it is filled sooner, and reads do not sync
	if err != nil {
		return nil, err
	}
	h.started = append(h.started, server)
	c := &population{}
	if c.gateway, err = h.gateway(outside, server.URL(), "FRONTDESK_SEAL_KEYS="+sealKey); err != nil {
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
	if err := c.startOne(h.ctx); err != nil {
		return nil, err
	}
	return c, c.fill(h.ctx, size)
}

// startOne starts a registration as a visitor does, with an offer that asks for all there is.
func (c *population) startOne(ctx context.Context) error {
	day, begins := 5, time.Now().AddDate(0, 1, 0).Format(time.DateOnly)
	started, err := newBuyers(c.url, nil).register(ctx, api.NewItem{OfferId: "901", StartDate: &begins, Debit: &api.Debit{Day: &day}})
	if err != nil {
		return err
	}
	c.one, _, err = c.records.Registration(ctx, started.Id)
	return err
}

// fill stores copies of the one registration, each of a person of its own.
func (c *population) fill(ctx context.Context, size int) error {
	before, err := c.usedMemory(ctx)
	if err != nil {
		return err
	}
	made := make([]target, size)
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range size {
		group.Go(func() (err error) { made[i], err = c.copyOne(within, i); return err })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	after, err := c.usedMemory(ctx)
	c.bytes = float64(after-before) / float64(size)
	rand.Shuffle(size, func(i, j int) { made[i], made[j] = made[j], made[i] })
	c.targets = made[:min(readRegistrations*10, size)]
	return err
}

func (c *population) copyOne(ctx context.Context, i int) (target, error) {
	token := uuid.NewString() + uuid.NewString()
	digest := sha256.Sum256([]byte(token))
	r := *c.one
	r.ID, r.Version, r.TokenHash = uuid.NewString(), 0, hex.EncodeToString(digest[:])
	contact := *c.one.Contact
	contact.IRI = club.NewIRI("demo", "contacts", strconv.Itoa(1_000_000+i))
	r.Contact, r.Sale = &contact, club.NewIRI("demo", "sales", strconv.Itoa(1_000_000+i))
	r.PersonPseudonyms = make([]string, len(c.one.PersonPseudonyms))
	for n, name := range c.one.PersonPseudonyms {
		other := sha256.Sum256([]byte(name + r.ID))
		r.PersonPseudonyms[n] = name[:8] + hex.EncodeToString(other[:]) // as long as a name is
	}
	return target{"/v1/registrations/" + r.ID, http.Header{"Authorization": {"Bearer " + token}}}, c.records.CreateRegistration(ctx, &r)
}

// reads is a load of holders who look at their registrations, one at a time: what is
// compared is the answer's time, and not how many fit beside each other.
func (c *population) reads() load {
	return load{url: c.url, targets: c.targets[:readRegistrations], addresses: visitors, connections: 1}
}

// usedMemory is what Redis holds in memory, in bytes.
func (c *population) usedMemory(ctx context.Context) (int64, error) {
	return c.info(ctx, "memory", "used_memory")
}

// info reads a number of a section of what Redis tells of itself.
func (c *population) info(ctx context.Context, section, name string) (int64, error) {
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
func sweepWork(ctx context.Context, crowds ...*population) ([]float64, error) {
	count := func() (all []int64, err error) {
		for _, c := range crowds {
			n, err := c.info(ctx, "stats", "total_commands_processed")
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
	case <-time.After(idlePeriod):
	}
	after, err := count()
	if err != nil {
		return nil, err
	}
	perSecond := make([]float64, len(crowds))
	for i := range crowds {
		perSecond[i] = float64(after[i]-before[i]) / idlePeriod.Seconds()
	}
	return perSecond, nil
}
