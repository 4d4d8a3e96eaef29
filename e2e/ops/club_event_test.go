package ops_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

const demoIntake = "/v1/webhooks/club/demo-webhook-secret"

// webhooks has the club system send its events to a gateway.
func webhooks(t *testing.T, s frontdesktest.Env, to *frontdesktest.Process, mode string) {
	t.Helper()
	err := s.Upstreams.Sim.Configure(func(settings *clubsim.Settings) {
		settings.WebhookURL, settings.Webhooks, settings.WebhookDelay = to.URL+demoIntake, mode, 1
	})
	if err != nil {
		t.Fatal(err)
	}
}

// payInPerson has the club's staff take the money for a sale, without Frontdesk.
func payInPerson(t *testing.T, s frontdesktest.Env, sale club.IRI) {
	t.Helper()
	scope := club.Scope{ClientToken: "demo", Club: "/demo/clubs/11", Node: "/demo/network_nodes/3"}
	_, err := frontdesktest.PayAtDesk(t.Context(), frontdesktest.DemoClub(s.Upstreams.URL), scope, sale)
	if err != nil {
		t.Fatal(err)
	}
}

// TestClubWebhookIntake checks that the sender needs only the secret in the path, and the body only
// needs to be JSON.
func TestClubWebhookIntake(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	process, client := env.Gateway(t, "FRONTDESK_WEBHOOK_SECRET=the-new-secret-0001,the-old-secret-0001")
	path := func(secret string) string { return "/v1/webhooks/club/" + secret }
	const body = `{"event":"contact.updated","data":{"object":{"contactId":"/demo/contacts/1001","clubId":"/demo/clubs/11"}}}`
	for _, secret := range []string{"the-new-secret-0001", "the-old-secret-0001"} {
		client.Do("POST", path(secret), body).Into(http.StatusOK, nil)
	}
	plain := [2]string{"Content-Type", "text/plain"} // the club system's documentation does not say which it sends
	for name, good := range map[string]string{
		"another type":    body,
		"byte order mark": "\xef\xbb\xbf" + body,
		"no object":       `[1,2]`,
		"no event":        `{}`,
		"unknown event":   `{"event":"sale.paid","data":{"object":{"saleId":"/demo/sales/1"}}}`,
		"doubled":         body,
		"a string":        `"x"`,
		"deep":            strings.Repeat("[", 500) + strings.Repeat("]", 500),
		"many":            `{"event":"contact.updated","data":{"object":{` + members(200) + `}}}`,
	} {
		if response := client.Do("POST", path("the-new-secret-0001"), good, plain); response.Status != http.StatusOK {
			t.Errorf("%s: %d %s", name, response.Status, response.Body)
		}
	}
	for name, bad := range map[string]struct {
		body string
		code api.ProblemCode
	}{
		"empty":                 {"", api.MalformedRequest},
		"half":                  {body[:30], api.MalformedRequest},
		"form":                  {"event=contact.updated", api.MalformedRequest},
		"two":                   {body + body, api.MalformedRequest},
		"larger than any event": {`{"x":"` + strings.Repeat("x", 17<<10) + `"}`, api.TooLarge},
		"larger than anything":  {`{"x":"` + strings.Repeat("x", 70<<10) + `"}`, api.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			client.WithT(t).Do("POST", path("the-new-secret-0001"), bad.body).Problem(bad.code)
		})
	}
	unknown := client.Do("POST", "/v1/webhooks/unknown", body).Problem(api.NotFound)
	for _, secret := range []string{
		"a-third-secret-0001", "the-new-secret-000", "the-new-secret-00011", "THE-NEW-SECRET-0001",
		"demo-webhook-secret", "x", "%20", "the-new-secret-0001,the-old-secret-0001",
	} {
		problem := client.Do("POST", path(secret), body).Problem(api.NotFound)
		problem.TraceId, unknown.TraceId = nil, nil
		if !reflect.DeepEqual(problem, unknown) {
			t.Errorf("with %s: %+v, and an unknown path: %+v", secret, problem, unknown)
		}
	}
	client.Do("GET", path("the-new-secret-0001"), nil).Problem(api.MethodNotAllowed)
	client.Do("GET", path("x"), nil).Problem(api.MethodNotAllowed)

	frontdesktest.StopRedis(t, env.Redis)
	problem := client.Do("POST", path("the-new-secret-0001"), body).Problem(api.StorageUnavailable)
	if problem.Status != http.StatusServiceUnavailable {
		t.Errorf("nothing is stored, and the answer is %+v", problem)
	}
	if log := process.Log(); strings.Contains(log, "secret-0001") || strings.Contains(log, "contacts/1001") {
		t.Errorf("the log has what it must not have:\n%s", log)
	}
}

func members(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"m%dId":"/demo/contacts/%d"`, i, i+1)
	}
	return strings.Join(all, ",")
}

// TestInPersonPaymentReachesVisitor checks that what staff do in the club system reaches the visitor's
// page without a request, in whatever order the events arrive.
func TestInPersonPaymentReachesVisitor(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"normal", "duplicate", "reorder", "late"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			env := frontdesktest.NewEnv(t)
			one, c := env.Gateway(t)
			_, other := env.Gateway(t)
			webhooks(t, env, one, mode)
			registration := c.Register()
			other.Token = c.Token
			events := other.Follow(registration.Id, "")
			events.UntilState(api.Open)
			sales := env.Upstreams.Sim.Sales()
			payInPerson(t, env, club.IRI(sales[len(sales)-1].ID))
			seen := events.Until("the cart is settled", func(r api.Registration) bool {
				return len(r.Cart.Problems) == 1 && r.Cart.Problems[0].Code == "settled"
			})
			if seen.Registration.State != api.Attention || seen.Registration.Contact.Status != "customer" || len(seen.Registration.Next) != 1 {
				t.Errorf("the visitor sees %+v", seen.Registration)
			}
			if audit := env.Upstreams.Sim.Audit(); !audit.OK {
				t.Errorf("the audit finds %+v", audit)
			}
		})
	}
}

// TestMockShowsEvents checks that the simulator's events arrive without any configuration.
func TestMockShowsEvents(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	c := frontdesktest.NewClient(t, mock.URL)
	registration := c.Register()
	c.RequestPayment(registration.Id, map[string]string{"method": "desk", "mean": "cash"}, frontdesktest.StaffKey()).
		Into(http.StatusCreated, nil)
	frontdesktest.Eventually(t, "the events came", func() bool {
		said := mustCommand(t, mock.OpsAddress(), "webhooks", "list")
		return strings.Contains(said, "There are no subscribers") && strings.Contains(said, "contact.created 1") &&
			strings.Contains(said, "contact.updated 1") &&
			strings.Contains(said, "(0 not processed yet)")
	})
	expectAll(t, mustCommand(t, mock.OpsAddress(), "queue"), "QUEUE", "payments", "verifications", "LATENCY")
}

func TestWebhookConfiguration(t *testing.T) {
	t.Parallel()
	subscriber := func(change string) string {
		return "FRONTDESK_SUBSCRIBERS=" + strings.Replace(
			`[{"name":"crm","url":"http://127.0.0.1:9/x","secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}]`, `"name":"crm"`,
			change, 1,
		)
	}
	for name, test := range map[string]struct {
		environment []string
		said        string
	}{
		"short secret":  {[]string{"FRONTDESK_WEBHOOK_SECRET=tiny-hidden"}, "FRONTDESK_WEBHOOK_SECRET has a secret that is not 16 to 128"},
		"a slash":       {[]string{"FRONTDESK_WEBHOOK_SECRET=hidden/hidden/hidden"}, "secret 1"},
		"three secrets": {[]string{"FRONTDESK_WEBHOOK_SECRET=hidden-0000000001,hidden-0000000002,hidden-0000000003"}, "at most 2"},
		"demo secret, live": {
			[]string{"FRONTDESK_MODE=live", "FRONTDESK_WEBHOOK_SECRET=demo-webhook-secret"},
			"FRONTDESK_WEBHOOK_SECRET has the demo secret",
		},
		"no JSON":        {[]string{"FRONTDESK_SUBSCRIBERS=hidden"}, "not a JSON array"},
		"unknown member": {[]string{subscriber(`"name":"crm","hidden":true`)}, "not a JSON array"},
		"wrong name":     {[]string{subscriber(`"name":"C R M"`)}, `subscriber 1 ("C R M"): name`},
		"loopback, live": {[]string{"FRONTDESK_MODE=live", subscriber(`"name":"crm"`)}, "https is needed"},
	} {
		t.Run(name, func(t *testing.T) {
			said := expectStartRefused(t, nil, test.environment...)
			expectAll(t, said, test.said)
			if strings.Contains(said, "hidden") || strings.Contains(said, "whsec_MfKQ") {
				t.Errorf("it repeats a secret: %s", said)
			}
		})
	}
}
