package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
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
	few, many  = 1_000, 100_000   // open registrations in the two Redis servers that are compared
	idlePeriod = 40 * time.Second // in which the commands of idle gateways are counted: two or three sweeps
)

// sealKey seals the registrations made here, as the gateway seals its own.
const sealKey = "YmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtYmVuY2g="

// population is a gateway on a Redis with many open registrations.
type population struct {
	*frontdesktest.Process
	redis   *redis.Client
	targets []target // registrations, with the tokens of their holders
	bytes   float64  // in Redis, for each registration
}

// target is the request of one caller.
type target struct {
	path   string
	header http.Header
}

// measureGrowth compares idle gateways with few registrations and with many.
func measureGrowth(h *harness) []row {
	upstreams := h.upstreams().URL
	small, large := h.population(upstreams, few), h.population(upstreams, many)
	commands := func(p *population) float64 { return h.info(p.redis, "Stats", "total_commands_processed") }
	before := []float64{commands(large), commands(small)}
	h.sleep(idlePeriod)
	rate := func(after, before float64) float64 { return (after - before) / idlePeriod.Seconds() }
	idle := []float64{rate(commands(large), before[0]), rate(commands(small), before[1])}
	const mostBytes, more = 4096, 1.1
	return []row{
		{
			"100,000 open registrations, with contacts, carts and indexes, at an idle gateway",
			fmt.Sprintf("%.0f bytes in Redis for each, %.0f Redis commands/s", large.bytes, idle[0]),
			fmt.Sprintf("4 KB; with 1,000: %.0f/s", idle[1]),
			[]check{{"memory", large.bytes / mostBytes, threshold{atMost: 1}}, {"commands", idle[0] / idle[1], threshold{atMost: more}}},
		},
	}
}

// population starts a gateway, and fills its Redis with open registrations. They are copies of one that
// a visitor has started.
func (h *harness) population(upstreams string, size int) *population {
	server := frontdesktest.NewRedis(h, "--appendonly", "yes", "--appendfsync", "everysec") // filled faster than with "always"
	population := &population{
		Process: h.gateway(upstreams, server, "FRONTDESK_SEAL_KEYS="+sealKey),
		targets: make([]target, size),
		redis:   frontdesktest.RedisClient(h, server),
	}
	secret, err := base64.StdEncoding.DecodeString(sealKey)
	h.must(err)
	keys, err := keyring.New(secret)
	h.must(err)
	client, err := store.Connect(server)
	h.must(err)
	records := store.New(store.Config{Redis: client, Keys: keys})
	// The offer needs everything that an offer can need.
	day, begins := 5, time.Now().AddDate(0, 1, 0).Format(time.DateOnly)
	started := h.buyers(population.URL, nil).register(api.NewItem{OfferId: "901", StartDate: &begins, Debit: &api.Debit{Day: &day}})
	one, _, err := records.Registration(h.Context(), started.ID)
	h.must(err)
	before := h.info(population.redis, "Memory", "used_memory")
	h.concurrently(size, 32, func(i int) {
		r, token := copyOf(one, i)
		h.must(records.SaveRegistration(h.Context(), r))
		population.targets[i] = target{"/v1/registrations/" + r.ID, http.Header{"Authorization": {"Bearer " + token}}}
	})
	population.bytes = (h.info(population.redis, "Memory", "used_memory") - before) / float64(size)
	return population
}

func copyOf(one *flows.Registration, i int) (_ *flows.Registration, token string) {
	registration, contact := *one, *one.Contact
	registration.ID, registration.Version = uuid.NewString(), 0
	token, registration.TokenHash = flows.RandomToken()
	contact.IRI = club.NewIRI("demo", "contacts", strconv.Itoa(1_000_000+i))
	registration.Contact, registration.Sale = &contact, club.NewIRI("demo", "sales", strconv.Itoa(1_000_000+i))
	registration.PersonPseudonyms = make([]string, len(one.PersonPseudonyms))
	for n, name := range one.PersonPseudonyms {
		registration.PersonPseudonyms[n] = name[:8] + flows.HashToken(name+registration.ID) // as long as a pseudonym is
	}
	return &registration, token
}

// info reads a number from Redis's INFO.
func (h *harness) info(of *redis.Client, section, name string) float64 {
	n, err := strconv.ParseFloat(of.InfoMap(h.Context(), section).Item(section, name), 64)
	h.must(err)
	return n
}

const streams = 10_000 // how many visitors follow their registrations on one gateway

func measureStreams(h *harness) []row {
	p := h.population(h.upstreams().URL, streams)
	before := h.memory(p.Process)
	h.concurrently(streams, 64, func(i int) { h.openStream(p.URL, p.targets[i], i) })
	h.sleep(20 * time.Second) // more than one heartbeat after the last stream was opened
	held := h.memory(p.Process)
	const most = 450 << 20
	return []row{{
		"10,000 event streams on one gateway", fmt.Sprintf("%d MB", held>>20), fmt.Sprintf("450 MB; without a stream %d MB", before>>20),
		judged(float64(held)/most, threshold{atMost: 1}),
	}}
}

// openStream opens a stream, reads until its first event, and keeps it open until the measurement ends.
func (h *harness) openStream(gateway string, at target, caller int) {
	request, err := http.NewRequestWithContext(h.Context(), http.MethodGet, gateway+at.path+"/events", nil)
	h.must(err)
	request.Header = at.header.Clone()
	request.Header.Set("X-Forwarded-For", callerAddress(1<<16+caller))
	response, err := client.Do(request)
	h.must(err)
	h.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		h.Fatalf("a stream was answered with %s", response.Status)
	}
	tooLate := time.AfterFunc(30*time.Second, func() { response.Body.Close() })
	defer tooLate.Stop()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data: ") {
			return
		}
	}
	h.Fatalf("a stream ended before its first event: %v", lines.Err())
}
