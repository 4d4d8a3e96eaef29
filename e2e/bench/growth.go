package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/keyring"
	"frontdesk/flows/store"
	"frontdesk/upstream/club"
)

const (
	// few and many are the numbers of open registrations in the two Redis servers that are compared.
	few, many = 1_000, 100_000
	// readRegistrations is large enough that no CPU cache holds them all.
	readRegistrations = 1_000
	// sealKey seals the registrations made here, as the gateway seals its own.
	sealKey = "YmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtYmVuY2g="
	// writers is how many goroutines store registrations at once. Redis uses one core anyway.
	writers = 32
	// idlePeriod is how long the commands of idle gateways are counted: two or three sweeps.
	idlePeriod = 40 * time.Second
)

// population is a gateway on a Redis with many open registrations.
type population struct {
	*gateway
	redis   *redis.Client
	targets []target // registrations, with the tokens of their holders
	bytes   float64  // in Redis, for each registration
}

// measureGrowth reads a registration among few and among many.
func measureGrowth(h *harness) []row {
	upstreams := h.upstreams()
	small, large := h.population(upstreams, few), h.population(upstreams, many)
	// One connection: this measures latency, not throughput.
	reads := func(p *population) func() float64 {
		return h.contender(load{url: p.url, targets: p.targets[:readRegistrations], addresses: callers, connections: 1}, medianLatency)
	}
	took := interleave(reads(large), reads(small))
	before := []float64{h.commands(large), h.commands(small)}
	h.sleep(idlePeriod)
	rate := func(after, before float64) float64 { return (after - before) / idlePeriod.Seconds() }
	idle := []float64{rate(h.commands(large), before[0]), rate(h.commands(small), before[1])}
	const mostBytes, slower, more = 4096, 1.1, 1.1
	return []row{
		{"GET /v1/registrations/{id} among 100,000 that are open", fmt.Sprintf("%.2f ms", took[0].median()),
			fmt.Sprintf("among 1,000: %.2f ms", took[1].median()), took[0].ratioTo(took[1]), threshold{atMost: slower}},
		{"Redis for each open registration, with contact, cart and all indexes", fmt.Sprintf("%.0f bytes", large.bytes),
			"4 KB", large.bytes / mostBytes, threshold{atMost: 1}},
		{"Redis commands of an idle gateway with 100,000", fmt.Sprintf("%.0f/s", idle[0]), fmt.Sprintf("with 1,000: %.0f/s", idle[1]), idle[0] / idle[1], threshold{atMost: more}},
	}
}

// population starts a gateway, and fills its Redis with open registrations. They are copies of one that
// a visitor has started.
func (h *harness) population(upstreams string, size int) *population {
	server := frontdesktest.NewRedis(h, "--appendonly", "yes", "--appendfsync", "everysec") // filled faster than with "always"
	p := &population{gateway: h.gateway(upstreams, server, "FRONTDESK_SEAL_KEYS="+sealKey), targets: make([]target, size)}
	options, err := redis.ParseURL(server)
	h.must(err)
	p.redis = redis.NewClient(options)
	h.Cleanup(func() { p.redis.Close() })
	secret, err := base64.StdEncoding.DecodeString(sealKey)
	h.must(err)
	keys, err := keyring.New(secret)
	h.must(err)
	client, err := store.Connect(server)
	h.must(err)
	records := store.New(store.Config{Redis: client, Keys: keys})
	// The offer needs everything that an offer can need.
	day, begins := 5, time.Now().AddDate(0, 1, 0).Format(time.DateOnly)
	started := h.buyers(p.url, nil).register(api.NewItem{OfferId: "901", StartDate: &begins, Debit: &api.Debit{Day: &day}})
	one, _, err := records.Registration(h.Context(), started.ID)
	h.must(err)
	before := h.info(p, "used_memory")
	h.concurrently(size, writers, func(i int) {
		r, token := copyOf(one, i)
		h.must(records.SaveRegistration(h.Context(), r))
		p.targets[i] = target{"/v1/registrations/" + r.ID, http.Header{"Authorization": {"Bearer " + token}}}
	})
	p.bytes = (h.info(p, "used_memory") - before) / float64(size)
	rand.Shuffle(size, func(i, j int) { p.targets[i], p.targets[j] = p.targets[j], p.targets[i] })
	return p
}

func copyOf(one *flows.Registration, i int) (_ *flows.Registration, token string) {
	token = uuid.NewString() + uuid.NewString()
	digest := sha256.Sum256([]byte(token))
	r, contact := *one, *one.Contact
	r.ID, r.Version, r.TokenHash = uuid.NewString(), 0, hex.EncodeToString(digest[:])
	contact.IRI = club.NewIRI("demo", "contacts", strconv.Itoa(1_000_000+i))
	r.Contact, r.Sale = &contact, club.NewIRI("demo", "sales", strconv.Itoa(1_000_000+i))
	r.PersonPseudonyms = make([]string, len(one.PersonPseudonyms))
	for n, name := range one.PersonPseudonyms {
		other := sha256.Sum256([]byte(name + r.ID))
		r.PersonPseudonyms[n] = name[:8] + hex.EncodeToString(other[:]) // as long as a pseudonym is
	}
	return &r, token
}

// commands returns how many commands a Redis has executed.
func (h *harness) commands(p *population) float64 { return h.info(p, "total_commands_processed") }

// info reads a number from Redis's INFO.
func (h *harness) info(p *population, name string) float64 {
	text, err := p.redis.Info(h.Context(), "everything").Result()
	h.must(err)
	found := regexp.MustCompile(name + `:(\d+)`).FindStringSubmatch(text)
	if found == nil {
		h.Fatalf("redis has no %s", name)
	}
	n, err := strconv.ParseFloat(found[1], 64)
	h.must(err)
	return n
}
