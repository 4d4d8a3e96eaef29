package ops_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
)

// TestOwnEventsSurviveKill kills a gateway while payments are recorded. Another one announces each payment and each registration, also
// those that were recorded and not announced yet.
func TestOwnEventsSurviveKill(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	to := newSubscriber(t, "crm", 204)
	doomed, client := env.Gateway(t, subscribe(t, to.config("registration.*", "payment.*")))
	var want []string
	for range 8 {
		registration := client.Register()
		payment := client.Pay(registration.Id)
		client.Confirm(payment, "4242424242424242")
		want = append(want, flows.OwnEventID(flows.PaymentRecorded, payment.Id), flows.OwnEventID(flows.RegistrationCompleted, registration.Id))
	}
	frontdesktest.Eventually(t, "a payment is recorded", func() bool { return len(env.Upstreams.Sim.Ledger()) > 0 })
	doomed.Kill()
	early := len(to.ids())
	_, _ = env.Gateway(t, subscribe(t, to.config("registration.*", "payment.*")))
	verify := newVerifier(t, env)
	to.await("every event", func([]delivered) bool {
		verify()
		return len(to.ids()) >= len(want)
	})
	for _, id := range want {
		if !to.ids()[id] {
			t.Errorf("%s is missing", id)
		}
	}
	bodies := map[string]string{}
	for _, d := range to.deliveries() {
		if first := bodies[d.id]; first != "" && first != d.text {
			t.Errorf("%s is delivered as %s and as %s", d.id, first, d.text)
		}
		bodies[d.id] = d.text
	}
	t.Logf("%d of %d events were delivered before the kill", early, len(want))
}

// TestMandateEventSurvivesKill kills a gateway after it has stored that a mandate is signed and before the event is queued. Another
// one announces it.
func TestMandateEventSurvivesKill(t *testing.T) {
	t.Parallel()
	env, to := frontdesktest.NewEnv(t), newSubscriber(t, "crm", http.StatusNoContent)
	environment := subscribe(t, to.config("mandate.*"))
	doomed, client, cut := gatewayUntil(t, env, "webhook:deliver", environment)
	registration := client.RegisterWith("11", frontdesktest.Person(), frontdesktest.DebitItem("2031-03-01"))
	path := "/v1/registrations/" + registration.Id + "/mandate"
	account := api.NewMandate{Holder: "Ada Martin", Iban: frontdesktest.GoodIBAN}
	client.Do("POST", path, account, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	client.Do("POST", path+"/signature", api.Signature{Code: client.LatestCode()}, frontdesktest.Key(""))
	cut()
	doomed.Kill()
	if len(to.ids()) > 0 {
		t.Fatalf("before the kill, %v are delivered", to.deliveries())
	}
	env.Gateway(t, environment)
	refreshUntil(t, env, registration.Id, "it is announced", func() bool { return len(to.ids()) > 0 })
	for _, event := range to.deliveries() {
		if event.Type != flows.MandateSignedEvent || event.Data["registrationId"] != registration.Id || len(to.ids()) != 1 {
			t.Errorf("%+v is delivered", event)
		}
	}
}

// TestAbandonedEventSurvivesKill kills a gateway after it has stored the link of an abandoned registration and before the event is
// queued. Another one announces a link that continues the registration.
func TestAbandonedEventSurvivesKill(t *testing.T) {
	t.Parallel()
	env, to := frontdesktest.NewEnv(t), newSubscriber(t, "crm", http.StatusNoContent)
	environment := subscribe(t, to.config("registration.abandoned"))
	doomed, client, cut := gatewayUntil(t, env, "webhook:deliver", environment)
	registration := registerAgreeing(client.As("customer"))
	records := frontdesktest.RedisClient(t, env.Redis)
	key, long := "fd:{"+registration.Id+"}:registration", time.Now().Add(-2*flows.AbandonedAfter)
	frontdesktest.Must(t, records.HSet(t.Context(), key, "version", long.UnixMicro()).Err())
	frontdesktest.Must(t, records.ZAdd(t.Context(), refreshes, redis.Z{Score: 1, Member: registration.Id}).Err())
	cut()
	doomed.Kill()
	if len(to.ids()) > 0 {
		t.Fatalf("before the kill, %v are delivered", to.deliveries())
	}
	_, client = env.Gateway(t, environment)
	refreshUntil(t, env, registration.Id, "it is announced", func() bool { return len(to.ids()) > 0 })
	event := to.deliveries()[0]
	if event.id != flows.OwnEventID(flows.RegistrationAbandoned, registration.Id) || len(to.ids()) != 1 {
		t.Errorf("%+v are delivered", to.deliveries())
	}
	link, _ := event.Data["resumeUrl"].(string)
	_, code, _ := strings.Cut(link, "resume=")
	var resumed api.Registration
	client.Do("POST", "/v1/resumptions", api.Resumption{Resume: code}, frontdesktest.Key("")).Into(http.StatusCreated, &resumed)
	if resumed.Id != registration.Id {
		t.Errorf("%s continues %s", link, resumed.Id)
	}
}

// registerAgreeing starts the registration of a contact who agrees to the club's advertising by e-mail.
func registerAgreeing(contact *frontdesktest.Client) (registration api.Registration) {
	var consents api.ConsentList
	contact.Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &consents)
	var wishes []api.ConsentWish
	for _, consent := range consents.Items {
		if consent.Type == "advertising" && consent.Channel == "email" {
			wishes = append(wishes, api.ConsentWish{Id: consent.Id, Authorized: true})
		}
	}
	contact.Do("PATCH", "/v1/me/consents", api.ChangeConsents{Items: wishes}).Into(http.StatusOK, nil)
	day := frontdesktest.Day(1)
	items := []api.NewItem{{OfferId: "101", StartDate: &day}}
	contact.Do("POST", "/v1/registrations", api.StartRegistration{ClubId: "11", Items: &items}, frontdesktest.Key("")).
		Into(http.StatusCreated, &registration)
	return registration
}

// refreshes lists when gateways read which registration again.
const refreshes = "fd:{refreshes}:registrations"

// refreshUntil has gateways read a registration again at once, as often as it takes.
func refreshUntil(t *testing.T, env frontdesktest.Env, registration, what string, is func() bool) {
	t.Helper()
	records := frontdesktest.RedisClient(t, env.Redis)
	frontdesktest.Eventually(t, what, func() bool {
		records.ZAddXX(t.Context(), refreshes, redis.Z{Score: 1, Member: registration})
		return is()
	})
}

// newVerifier returns a function that makes the recorded payments due that gateways verify a minute later.
func newVerifier(t *testing.T, env frontdesktest.Env) func() {
	t.Helper()
	options, err := redis.ParseURL(env.Redis)
	frontdesktest.Must(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	const list = "fd:{fd:payments:open}:unverified"
	return func() {
		waiting := client.ZRange(t.Context(), list, 0, -1).Val()
		for payment := range slices.Values(waiting) {
			client.ZAddXX(t.Context(), list, redis.Z{Score: 1, Member: payment})
		}
	}
}
