package journey_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

const (
	// slow is how long each response of the club system takes while calls are counted: far longer than it
	// takes to start concurrent calls.
	slow = 80 * time.Millisecond
	// measurements: a busy machine can split a round of calls or shift a call into the next round, but
	// can never merge two rounds. So the fewest rounds of several measurements are right. Each
	// measurement takes twice as long per response as the one before.
	measurements = 7
	// cardOnlyOffer is an offer that needs only money from the buyer.
	cardOnlyOffer = "2501"
)

// measured is the set of calls that an endpoint makes to the club system.
type measured struct {
	text          string // round after round
	calls, rounds int
}

func (m measured) row(function, endpoint string) string {
	return fmt.Sprintf("| %s | %s | %s | %d | %d |", function, endpoint, m.text, m.calls, m.rounds)
}

// endpoints are the rows of docs/reference/simulator.md's table, by their second column. Each prepares
// the world, and returns the request to measure.
var endpoints = map[string]struct {
	cold    bool // the gateway has received no request before
	prepare func(v *visitor) func()
}{
	"`GET /v1/clubs`, at first": {true, func(v *visitor) func() { return v.get("/v1/clubs") }},
	"`GET /v1/clubs`": {true, func(v *visitor) func() {
		v.get("/v1/clubs")()
		return v.get("/v1/clubs")
	}},
	"`GET /v1/clubs/{clubId}`, at first": {true, func(v *visitor) func() { return v.get("/v1/clubs/11") }},

	"`GET …/products`, at first": {true, func(v *visitor) func() { return v.get("/v1/clubs/11/products") }},
	"`GET …/products`":           {false, func(v *visitor) func() { return v.get("/v1/clubs/11/products") }},
	"`GET …/products` of an identified contact, at first": {false, func(v *visitor) func() {
		v.logInAs("customer")
		return v.get("/v1/clubs/11/products")
	}},
	"`GET …/products` of an identified contact": {false, func(v *visitor) func() {
		v.logInAs("customer")
		v.get("/v1/clubs/11/products")()
		return v.get("/v1/clubs/11/products")
	}},
	"`GET …/schedule`, at first for a start date": {false, func(v *visitor) func() {
		return v.get("/v1/clubs/11/offers/" + frontdesktest.DirectDebit + "/schedule?startDate=2030-01-15")
	}},
	"`GET …/debit-days`, at first for a start date": {false, func(v *visitor) func() {
		return v.get("/v1/clubs/11/debit-days?startDate=2030-01-15")
	}},

	"`POST /v1/registrations` with a person": {false, func(v *visitor) func() {
		return v.post("/v1/registrations", api.StartRegistration{ClubId: "11", Person: frontdesktest.Person()}, http.StatusCreated)
	}},
	"`POST /v1/registrations` with a person and an item": {false, func(v *visitor) func() { return v.start(cardOnlyOffer) }},
	"`POST /v1/registrations` with a person and two items": {
		false,
		func(v *visitor) func() { return v.start(cardOnlyOffer, frontdesktest.FreeTrial) },
	},
	"`POST /v1/registrations` with a person and a debit day": {false, func(v *visitor) func() { return v.startDebited() }},
	"`POST /v1/registrations` of an identified contact with an item, after its catalogue": {false, func(v *visitor) func() {
		v.logInAs("customer")
		v.get("/v1/clubs/11/products")()
		return v.post(
			"/v1/registrations", api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{{OfferId: cardOnlyOffer}}},
			http.StatusCreated,
		)
	}},
	"`POST …/items`, the first": {false, func(v *visitor) func() {
		v.registered()
		return v.post(v.path+"/items", api.NewItem{OfferId: cardOnlyOffer}, http.StatusCreated)
	}},
	"`POST …/items`, one more": {false, func(v *visitor) func() {
		v.registered(cardOnlyOffer)
		return v.post(v.path+"/items", api.NewItem{OfferId: frontdesktest.FreeTrial}, http.StatusCreated)
	}},
	"`DELETE …/items`": {false, func(v *visitor) func() {
		v.registered(cardOnlyOffer)
		return v.do("DELETE", v.path+"/items", nil, http.StatusOK)
	}},
	"`POST …/check`": {false, func(v *visitor) func() {
		v.registered(cardOnlyOffer)
		return v.do("POST", v.path+"/check", nil, http.StatusOK, frontdesktest.Key(""))
	}},
	"`PUT …/person` with an item in the cart": {false, func(v *visitor) func() {
		v.registered(cardOnlyOffer)
		return v.do("PUT", v.path+"/person", another(), http.StatusOK)
	}},
	"`GET /v1/registrations/{id}`": {false, func(v *visitor) func() {
		v.registered(cardOnlyOffer)
		return v.get(v.path)
	}},

	"`POST …/mandate`": {false, func(v *visitor) func() {
		v.startDebited()()
		return v.mandate()
	}},
	"`POST …/mandate/signature`": {false, func(v *visitor) func() {
		v.startDebited()()
		v.mandate()()
		return v.post(v.path+"/mandate/signature", api.Signature{Code: v.code()}, http.StatusCreated)
	}},
	"`POST …/mandate/signature/resend` when no code was sent": {false, func(buyer *visitor) func() {
		buyer.fault(`{"match":{"method":"POST","path":"/signature_requests"},"kind":"error_before","status":403,"times":1}`)
		buyer.startDebited()()
		buyer.Do("POST", buyer.path+"/mandate", api.NewMandate{Holder: "Ada", Iban: frontdesktest.GoodIBAN}, frontdesktest.Key(""))
		return buyer.post(buyer.path+"/mandate/signature/resend", nil, http.StatusCreated)
	}},
	"`DELETE …/mandate/signature`": {false, func(v *visitor) func() {
		v.startDebited()()
		v.mandate()()
		return v.do("DELETE", v.path+"/mandate/signature", nil, http.StatusOK)
	}},
	"`POST …/prospect` with a login token": {false, func(v *visitor) func() {
		v.registered(cardOnlyOffer)
		return v.post(v.path+"/prospect", api.Prospect{IdentityToken: v.Persona("prospect").IdentityToken}, http.StatusCreated)
	}},
	"`POST …/prospect`": {false, func(v *visitor) func() {
		v.registered(cardOnlyOffer)
		return v.post(v.path+"/prospect", api.Prospect{AccessToken: v.Persona("prospect").AccessToken}, http.StatusCreated)
	}},

	"`POST …/payment`, card": {false, func(v *visitor) func() {
		v.registered(cardOnlyOffer)
		return v.pay(map[string]string{"method": "card"})
	}},
	"the buyer confirms the card, until it is recorded": {false, func(v *visitor) func() {
		v.registered(cardOnlyOffer)
		payment := v.Pay(v.id)
		return func() {
			v.Confirm(payment, "4242424242424242")
			frontdesktest.Eventually(v.t, "it is recorded", func() bool { return slices.Contains(v.Operations(0), "createPayment") })
		}
	}},
	"`GET /v1/registrations/{id}`, right after that": {false, func(v *visitor) func() {
		v.registered(cardOnlyOffer)
		v.pay(map[string]string{"method": "desk", "mean": "cash"})()
		return v.get(v.path)
	}},
	"`POST …/payment`, later": {false, func(v *visitor) func() {
		v.registered(cardOnlyOffer)
		return v.pay(map[string]string{"method": "later", "dueDate": time.Now().AddDate(0, 1, 0).Format(time.DateOnly)})
	}},
	"`POST …/payment`, free": {false, func(v *visitor) func() {
		v.registered(frontdesktest.FreeTrial)
		return v.pay(map[string]string{"method": "free"})
	}},
	"`POST …/payment`, desk": {false, func(v *visitor) func() {
		v.registered(cardOnlyOffer)
		return v.pay(map[string]string{"method": "desk", "mean": "cash"})
	}},

	"`GET /v1/me`": {false, func(v *visitor) func() {
		v.logInAs("debtor")
		return v.get("/v1/me")
	}},
	"`GET /v1/me/memberships`": {false, func(v *visitor) func() {
		v.logInAs("committed")
		v.get("/v1/me/memberships")()
		return v.get("/v1/me/memberships")
	}},
	"`GET /v1/me/consents`": {false, func(v *visitor) func() {
		v.logInAs("customer")
		return v.get("/v1/me/consents")
	}},
	"`PATCH /v1/me/consents`, two of them": {false, func(buyer *visitor) func() {
		buyer.logInAs("customer")
		var list api.ConsentList
		buyer.Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &list)
		wish := api.ChangeConsents{}
		for _, consent := range list.Items {
			if !consent.Locked && len(wish.Items) < 2 {
				wish.Items = append(wish.Items, api.ConsentWish{Id: consent.Id, Authorized: !consent.Authorized})
			}
		}
		return buyer.do("PATCH", "/v1/me/consents", wish, http.StatusOK)
	}},
	"`POST /v1/me/transfer`": {false, func(v *visitor) func() {
		v.get("/v1/clubs/13/debit-days")() // their new club was read before
		v.logInAs("former")
		return v.post("/v1/me/transfer", api.NewTransfer{ClubId: "13"}, http.StatusCreated)
	}},
	"`POST /v1/me/transfer/signature`": {false, func(v *visitor) func() {
		v.logInAs("former")
		v.post("/v1/me/transfer", api.NewTransfer{ClubId: "13"}, http.StatusCreated)()
		return v.post("/v1/me/transfer/signature", api.Signature{Code: v.code()}, http.StatusCreated)
	}},
	"`POST /v1/webhooks/card`": {false, func(v *visitor) func() {
		return func() { v.Do("POST", "/v1/webhooks/card", `{}`) }
	}},
	"`POST /v1/webhooks/club/{secret}`": {false, func(v *visitor) func() {
		return v.do("POST", "/v1/webhooks/club/demo-webhook-secret", `{"event":"class_event.updated"}`, http.StatusOK)
	}},
}

// visitor is a visitor in its own world.
type visitor struct {
	*frontdesktest.Client
	t        testing.TB
	id, path string
	slow     time.Duration
}

// fault sets faults before the one that delays each response. It drops the caches, so it precedes what fills them.
func (v *visitor) fault(others ...string) {
	delay := fmt.Sprintf(`{"match":{},"kind":"delay","delayMs":%d}`, v.slow.Milliseconds())
	v.Control("PUT", "faults", "["+strings.Join(append(others, delay), ",")+"]").Into(http.StatusOK, nil)
}

func (v *visitor) logInAs(persona string) { v.Token = v.Persona(persona).IdentityToken }

func (v *visitor) do(method, path string, body any, status int, headers ...[2]string) func() {
	return func() { v.Do(method, path, body, headers...).Into(status, nil) }
}

func (v *visitor) get(path string) func() { return v.do("GET", path, nil, http.StatusOK) }

func (v *visitor) post(path string, body any, status int) func() {
	return v.do("POST", path, body, status, frontdesktest.Key(""))
}

func (v *visitor) pay(body any) func() {
	return v.do("POST", v.path+"/payment", body, http.StatusCreated, frontdesktest.Key(""), frontdesktest.StaffKey())
}

// start starts a registration with offers, and keeps its token.
func (v *visitor) start(offers ...string) func() {
	items := make([]api.NewItem, len(offers))
	for i, offer := range offers {
		items[i].OfferId = offer
	}
	return v.startWith(items)
}

func (v *visitor) startDebited() func() {
	// The page on which the buyer chooses the day shows when the club debits.
	v.get("/v1/clubs/11/debit-days?startDate=2031-03-01")()
	return v.startWith([]api.NewItem{frontdesktest.DebitItem("2031-03-01")})
}

func (v *visitor) startWith(items []api.NewItem) func() {
	body := api.StartRegistration{ClubId: "11", Person: frontdesktest.Person()}
	if len(items) > 0 {
		body.Items = &items
	}
	return func() {
		var registration api.Registration
		v.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
		v.Token, v.id, v.path = *registration.Token, registration.Id, "/v1/registrations/"+registration.Id
	}
}

func (v *visitor) registered(offers ...string) { v.start(offers...)() }

func (v *visitor) mandate() func() {
	return v.post(v.path+"/mandate", api.NewMandate{Holder: "Ada Martin", Iban: frontdesktest.GoodIBAN}, http.StatusCreated)
}

// code returns the latest code that the club system sent.
func (v *visitor) code() string {
	v.t.Helper()
	var list clubsim.Items[clubsim.SMS]
	v.Control("GET", "sms", nil).Into(http.StatusOK, &list)
	if len(list.Items) == 0 {
		v.t.Fatal("no SMS was sent")
	}
	return list.Items[len(list.Items)-1].Code
}

// TestUpstreamCalls compares docs/reference/simulator.md's table of each endpoint's calls to the club
// system with the simulator's journal of calls.
func TestUpstreamCalls(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	table := callsTable(t)
	for endpoint := range table {
		if _, known := endpoints[endpoint]; !known {
			t.Errorf("nothing measures the page's row of %s", endpoint)
		}
	}
	names := slices.Sorted(maps.Keys(endpoints))
	for i, endpoint := range names {
		t.Run(endpoint, func(t *testing.T) {
			row, best := table[endpoint], measured{rounds: -1}
			for n := range measurements {
				v := &visitor{Client: frontdesktest.NewClient(t, mock.URL), t: t}
				v.World = fmt.Sprintf("demo-calls-%d-%d", i, n)
				got := measure(v, endpoint, slow<<n)
				if best.rounds < 0 || got.rounds < best.rounds {
					best = got
				}
				if got.rounds == best.rounds && row == got.row(functionOf(row), endpoint) {
					return
				}
			}
			t.Errorf("the page says\n%s\nand it is\n%s", row, best.row(cmp.Or(functionOf(row), "which function?"), endpoint))
		})
	}
}

// measure runs one request while each response of the club system is slow.
func measure(buyer *visitor, endpoint string, slow time.Duration) measured {
	buyer.t.Helper()
	buyer.Control("PUT", "settings", `{"webhookUrl": ""}`).Into(http.StatusOK, nil) // calls caused by events are not the endpoint's
	buyer.slow = slow
	buyer.fault()
	if !endpoints[endpoint].cold {
		buyer.Do("GET", "/v1/clubs/11/products", nil).Into(http.StatusOK, nil)
	}
	request := endpoints[endpoint].prepare(buyer)
	before := len(buyer.Calls())
	request()
	calls := buyer.Calls()[before:]
	var journal clubsim.Items[clubsim.Request]
	buyer.Control("GET", "requests", nil).Into(http.StatusOK, &journal)
	isToken := func(r clubsim.Request) bool { return r.Operation == "token" } // which Client.Calls omits
	if first := slices.IndexFunc(journal.Items, isToken); first < 0 || slices.ContainsFunc(journal.Items[first+1:], isToken) {
		buyer.t.Errorf("the club system was not asked for one token, but for %+v", journal.Items)
	}
	buyer.Control("PUT", "faults", "[]").Into(http.StatusOK, nil)
	return measureCalls(calls)
}

// measureCalls sorts calls into rounds: a call's round is one later than that of
// the latest call that had ended when it began.
func measureCalls(calls []clubsim.Request) measured {
	end := func(r clubsim.Request) time.Time {
		return r.At.Add(time.Duration(r.DurationMs * float64(time.Millisecond)))
	}
	slices.SortFunc(calls, func(a, b clubsim.Request) int { return a.At.Compare(b.At) })
	round := make([]int, len(calls))
	var rounds []map[string]int
	for i, call := range calls {
		for j, earlier := range calls[:i] {
			if !end(earlier).After(call.At) {
				round[i] = max(round[i], round[j]+1)
			}
		}
		for len(rounds) <= round[i] {
			rounds = append(rounds, map[string]int{})
		}
		rounds[round[i]][call.Operation]++
	}
	return measured{text: roundsText(rounds), calls: len(calls), rounds: len(rounds)}
}

// roundsText formats rounds; consecutive rounds of one operation, such as the offers of a whole
// catalogue, become one number.
func roundsText(rounds []map[string]int) string {
	var merged []map[string]int
	for _, round := range rounds {
		last := len(merged) - 1
		if last >= 0 && len(round) == 1 && slices.Equal(slices.Collect(maps.Keys(round)), slices.Collect(maps.Keys(merged[last]))) {
			for operation, n := range round {
				merged[last][operation] += n
			}
			continue
		}
		merged = append(merged, maps.Clone(round))
	}
	parts := make([]string, len(merged))
	for i, round := range merged {
		var names []string
		for _, operation := range slices.Sorted(maps.Keys(round)) {
			if n := round[operation]; n > 1 {
				operation = fmt.Sprintf("%d × %s", n, operation)
			}
			names = append(names, operation)
		}
		parts[i] = strings.Join(names, " + ")
	}
	return cmp.Or(strings.Join(parts, " → "), "none")
}

// callsTable reads the rows of the page's table of calls, by their endpoint.
func callsTable(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "docs", "reference", "simulator.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "| Function of the club system | Endpoint | Upstream calls | Calls | Rounds |\n")
	if !found {
		t.Fatal("the page has no table of upstream calls")
	}
	rows := map[string]string{}
	for _, line := range strings.Split(rest, "\n")[1:] {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		rows[strings.Split(line, " | ")[1]] = line
	}
	return rows
}

// functionOf is the first column of a row.
func functionOf(row string) string {
	function, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
	return function
}
