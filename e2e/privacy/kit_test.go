// Package privacy_test searches logs, Redis and metrics for personal data, even after a rotation of
// keys and after the erasure of a person. It runs real gateways on a real Redis. Start reading at
// TestCanaries.
package privacy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/campaign"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }

// testEnv holds the upstreams and a Redis for gateways.
type testEnv struct {
	t         *testing.T
	upstreams *frontdesktest.Upstreams
	address   string
	redis     *redis.Client
}

func newTestEnv(t *testing.T) *testEnv {
	t.Helper()
	env := &testEnv{t: t, upstreams: frontdesktest.NewUpstreams(t), address: frontdesktest.NewRedis(t)}
	options, err := redis.ParseURL(env.address)
	if err != nil {
		t.Fatal(err)
	}
	env.redis = redis.NewClient(options)
	t.Cleanup(func() { env.redis.Close() })
	return env
}

// gateway starts a gateway with additional environment variables.
func (s *testEnv) gateway(environment ...string) (*frontdesktest.Process, *frontdesktest.Client) {
	s.t.Helper()
	process := frontdesktest.Start(s.t, append([]string{"FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL=" + s.upstreams.URL + "/sim",
		"FRONTDESK_SANDBOX_URL=" + s.upstreams.URL + "/sandbox", "FRONTDESK_REDIS_URL=" + s.address}, environment...)...)
	client := frontdesktest.NewClient(s.t, process.URL)
	client.UpstreamsURL = s.upstreams.URL
	return process, client
}

// person returns a person whose details are all recognisable.
func person(who campaign.Canary) *api.Person {
	p := frontdesktest.Person()
	p.GivenName, p.FamilyName, p.Email, p.Mobile, p.Address.Street = who.GivenName, who.FamilyName, who.Email, who.Mobile, who.Street
	return p
}

// register starts a registration of a person with an item.
func register(c *frontdesktest.Client, who *api.Person, item api.NewItem) (registration api.Registration) {
	c.Token = ""
	c.Do("POST", "/v1/registrations", api.StartRegistration{ClubId: "11", Person: who, Items: &[]api.NewItem{item}},
		frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	c.Token = *registration.Token
	return registration
}

// cardItem is an item that is paid by card at once.
func cardItem() api.NewItem {
	tomorrow := time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	return api.NewItem{OfferId: "101", StartDate: &tomorrow}
}

// debitItem is an item that needs a mandate.
func debitItem() api.NewItem {
	start, day := time.Now().AddDate(0, 2, 0).Format(time.DateOnly), 10
	return api.NewItem{OfferId: "901", StartDate: &start, Debit: &api.Debit{Day: &day}}
}

const goodCard = "4242424242424242"

// pay pays a registration by card, and waits until that is recorded.
func pay(c *frontdesktest.Client, registration string) {
	c.Confirm(c.Pay(registration), goodCard)
	c.Await(registration, api.Completed)
}

// latestCode returns the latest code that the club system sent.
func (s *testEnv) latestCode() string {
	s.t.Helper()
	sent := s.upstreams.Sim.SMS()
	if len(sent) == 0 {
		s.t.Fatal("no SMS was sent")
	}
	return sent[len(sent)-1].Code
}

// redisContents is the whole of Redis as text: every key with every value under it.
func (s *testEnv) redisContents() map[string]string {
	s.t.Helper()
	ctx := context.Background()
	all := map[string]string{}
	for _, key := range s.redis.Keys(ctx, "*").Val() {
		switch kind := s.redis.Type(ctx, key).Val(); kind {
		case "hash":
			all[key] = fmt.Sprint(s.redis.HGetAll(ctx, key).Val())
		case "zset":
			all[key] = fmt.Sprint(s.redis.ZRangeWithScores(ctx, key, 0, -1).Val())
		case "set":
			all[key] = fmt.Sprint(s.redis.SMembers(ctx, key).Val())
		case "list":
			all[key] = fmt.Sprint(s.redis.LRange(ctx, key, 0, -1).Val())
		case "stream":
			all[key] = fmt.Sprint(s.redis.XRange(ctx, key, "-", "+").Val())
		case "string":
			all[key] = s.redis.Get(ctx, key).Val()
		case "none": // it has expired
		default:
			s.t.Errorf("%s is a %s, which is not looked into", key, kind)
		}
	}
	return all
}

// runCLI runs the binary as an operator of a gateway does.
func (s *testEnv) runCLI(gateway *frontdesktest.Process, args ...string) (string, error) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), frontdesktest.Binary(s.t), args...)
	cmd.Env = []string{"FRONTDESK_OPS_ADDR=" + gateway.OpsAddress()}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// setFaults sets the faults of the club system; an empty list ends them.
func (s *testEnv) setFaults(faults ...clubsim.Fault) {
	s.t.Helper()
	if err := s.upstreams.Sim.SetFaults(faults); err != nil {
		s.t.Fatal(err)
	}
}

// decoded decodes text that must be JSON.
func decoded[T any](t *testing.T, text string) (into T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return into
}
