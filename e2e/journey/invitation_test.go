package journey_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
)

// invitationEnv makes links with the command, as the club does, and uses them as a front end does.
type invitationEnv struct {
	*frontdesktest.Client
	t       *testing.T
	gateway *frontdesktest.Process
	redis   string
}

func newInvitationEnv(t *testing.T) *invitationEnv {
	t.Helper()
	s := frontdesktest.NewEnv(t)
	p := &invitationEnv{t: t, gateway: frontdesktest.NewGateway(t, s.Upstreams, s.Redis), redis: s.Redis}
	p.Client = frontdesktest.NewClient(t, p.gateway.URL)
	p.UpstreamsURL = s.Upstreams.URL
	return p
}

// invite runs the command, and returns its output.
func (p *invitationEnv) invite(args ...string) (string, error) {
	cmd := exec.CommandContext(p.t.Context(), frontdesktest.Binary(p.t), append([]string{"invite"}, args...)...)
	cmd.Env = []string{"FRONTDESK_OPS_ADDR=" + p.gateway.OpsAddress()}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// invitation makes a link, and returns its invitation.
func (p *invitationEnv) invitation(args ...string) string {
	p.t.Helper()
	link, err := p.invite(args...)
	if err != nil {
		p.t.Fatalf("%v: %s", err, link)
	}
	address, err := url.Parse(link)
	if err != nil || !strings.HasPrefix(link, p.site()+"/?invitation=") || address.Query().Get("club") == "" {
		p.t.Fatalf("the link is %q", link)
	}
	return address.Query().Get("invitation")
}

// site is where browsers reach the gateway.
func (p *invitationEnv) site() string {
	return strings.Replace(p.gateway.URL, "127.0.0.1", "localhost", 1)
}

// use sends an invitation as the link's page does.
func (p *invitationEnv) use(invitation string, body api.StartRegistration, key [2]string) *frontdesktest.Response {
	p.t.Helper()
	body.Invitation = &invitation
	return p.Do("POST", "/v1/registrations", body, key)
}

func TestInvitationIsSingleUse(t *testing.T) {
	t.Parallel()
	env := newInvitationEnv(t)
	debtor := env.invitation("--contact", "1002", "--club", "11")

	// An earlier failure leaves the invitation valid.
	env.use(debtor, api.StartRegistration{ClubId: "12"}, frontdesktest.Key("")).Problem(api.OtherClub)
	env.use(debtor, api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{{OfferId: "999999"}}}, frontdesktest.Key("")).
		Problem(api.OfferNotAvailable)
	env.Control("PUT", "faults", `[{"match":{"method":"POST","path":"/sales"},"kind":"error_before","status":500}]`).Into(http.StatusOK, nil)
	env.use(debtor, api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{{OfferId: "2501"}}}, frontdesktest.Key("")).
		Problem(api.ClubSystemFailed)
	env.Control("PUT", "faults", `[]`).Into(http.StatusOK, nil)

	key := frontdesktest.Key("")
	var registration, replayed api.Registration
	env.use(debtor, api.StartRegistration{ClubId: "11"}, key).Into(http.StatusCreated, &registration)
	if registration.Contact.Debt == nil || registration.Contact.Debt.Amount != 12400 || registration.Contact.Number != "11-001002" {
		t.Errorf("the invited contact is %+v", registration.Contact)
	}
	env.use(debtor, api.StartRegistration{ClubId: "11"}, key).Into(http.StatusCreated, &replayed)
	if replayed.Id != registration.Id {
		t.Error("the same request again started another registration")
	}

	before := len(env.Calls())
	used := env.use(debtor, api.StartRegistration{ClubId: "11"}, frontdesktest.Key("")).Problem(api.InvitationInvalid)
	never := env.use("made-up", api.StartRegistration{ClubId: "11"}, frontdesktest.Key("")).Problem(api.InvitationInvalid)
	short := env.invitation("--contact", "1001", "--club", "11", "--ttl", "1ms")
	made := len(env.Calls()) - before
	expired := env.use(short, api.StartRegistration{ClubId: "11"}, frontdesktest.Key("")).Problem(api.InvitationInvalid)
	if *used.Detail != *never.Detail || *never.Detail != *expired.Detail {
		t.Errorf("used %q, never was %q, expired %q", *used.Detail, *never.Detail, *expired.Detail)
	}
	if calls := len(env.Calls()) - before; calls != made {
		t.Errorf("for an invalid invitation, the gateway called %v", env.Operations(before))
	}
	if strings.Contains(env.gateway.Log(), debtor) {
		t.Error("the log holds an invitation")
	}
}

func TestConcurrentInvitationUse(t *testing.T) {
	t.Parallel()
	env := newInvitationEnv(t)
	raced := env.invitation("--contact", "1001", "--club", "11")
	var won atomic.Int32
	var racers sync.WaitGroup
	for range 10 {
		racers.Go(func() {
			body := api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{{OfferId: "2501"}}}
			if env.use(raced, body, frontdesktest.Key("")).Status == http.StatusCreated {
				won.Add(1)
			}
		})
	}
	racers.Wait()
	sales := 0
	for _, name := range env.Operations(0) {
		if name == "createSale" {
			sales++
		}
	}
	if won.Load() != 1 || sales != 1 {
		t.Errorf("one invitation started %d registrations and %d sales", won.Load(), sales)
	}
}

func TestInvitationRefused(t *testing.T) {
	t.Parallel()
	env := newInvitationEnv(t)
	for name, args := range map[string][]string{
		"no such contact": {"--contact", "99999", "--club", "11"},
		"of another club": {"--contact", "1001", "--club", "12"},
		"no such club":    {"--contact", "1001", "--club", "999"},
		"banned":          {"--contact", "1005", "--club", "11"},
		"for ever":        {"--contact", "1001", "--club", "11", "--ttl", "9999h"},
		"for no time":     {"--contact", "1001", "--club", "11", "--ttl", "0s"},
	} {
		if out, err := env.invite(args...); err == nil || strings.Contains(out, "invitation=") {
			t.Errorf("%s: %s", name, out)
		}
	}
	if slices.Contains(env.Operations(0), "createContact") {
		t.Error("an invitation made a contact")
	}
	if out, err := env.invite("--contact", "1001", "--club", "11", "--world", "demo-x"); err == nil || !strings.Contains(out, "mock mode") {
		t.Errorf("a world in test mode: %v, %s", err, out)
	}
}

// TestInvitationInMockMode checks that the running gateway makes the invitation, in any world.
func TestInvitationInMockMode(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	env := &invitationEnv{t: t, gateway: mock, Client: frontdesktest.NewClient(t, mock.URL)}
	here := env.invitation("--contact", "1001", "--club", "11")
	elsewhere := env.invitation("--contact", "1001", "--club", "11", "--world", "demo-x")
	env.use(elsewhere, api.StartRegistration{ClubId: "11"}, frontdesktest.Key("")).Problem(api.InvitationInvalid)
	env.use(here, api.StartRegistration{ClubId: "11"}, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	env.World = "demo-x"
	env.use(elsewhere, api.StartRegistration{ClubId: "11"}, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	out, err := env.invite("--contact", "1001", "--club", "11", "--json")
	var made struct {
		URL       string    `json:"url"`
		ExpiresAt time.Time `json:"expiresAt"`
	}
	if err != nil || json.Unmarshal([]byte(out), &made) != nil || !strings.HasPrefix(made.URL, env.site()) ||
		time.Until(made.ExpiresAt) < 71*time.Hour {
		t.Errorf("%v: %s", err, out)
	}
}

// TestInvitationsAreAudited checks that every new link leaves an audit line, without the contact.
func TestInvitationsAreAudited(t *testing.T) {
	t.Parallel()
	p := newInvitationEnv(t)
	p.invitation("--contact", "1001", "--club", "11")
	options, err := redis.ParseURL(p.redis)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	lines, err := client.XRange(t.Context(), "fd:audit", "-", "+").Result()
	if err != nil || len(lines) != 1 || lines[0].Values["by"] != "demo" || lines[0].Values["what"] != "invite" ||
		strings.Contains(fmt.Sprint(lines), "contacts") {
		t.Errorf("the audit stream holds %v, %v", lines, err)
	}
}

func TestBadInputForInvitations(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client := frontdesktest.NewClient(t, mock.URL)
	url := "http://" + mock.OpsAddress() + "/ops/invitations"
	for name, test := range map[string]struct {
		body   string
		header [2]string
		status int
		code   flows.Code
		fields int
	}{
		"nothing":         {`{}`, [2]string{}, 422, flows.InvalidRequest, 2},
		"a typed name":    {`{"contactId":"1001","clubId":"11","by":"ada"}`, [2]string{}, 400, flows.MalformedRequest, 0},
		"no id":           {`{"contactId":"../1001","clubId":"/"}`, [2]string{}, 422, flows.InvalidRequest, 2},
		"no time":         {`{"contactId":"1001","clubId":"11","ttl":"tomorrow"}`, [2]string{}, 422, flows.InvalidRequest, 1},
		"a past time":     {`{"contactId":"1001","clubId":"11","ttl":"-1h"}`, [2]string{}, 422, flows.InvalidRequest, 1},
		"for ever":        {`{"contactId":"1001","clubId":"11","ttl":"721h"}`, [2]string{}, 422, flows.InvalidRequest, 1},
		"unknown contact": {`{"contactId":"99999","clubId":"11"}`, [2]string{}, 404, flows.NotFound, 0},
		"unknown club":    {`{"contactId":"1001","clubId":"999"}`, [2]string{}, 404, flows.NotFound, 0},
		"banned":          {`{"contactId":"1005","clubId":"11"}`, [2]string{}, 403, flows.ContactBanned, 0},
		"no world":        {`{"contactId":"1001","clubId":"11"}`, [2]string{"X-Frontdesk-World", "real"}, 422, flows.InvalidRequest, 1},
		"unknown member":  {`{"contactId":"1001","clubId":"11","to":"all"}`, [2]string{}, 400, flows.MalformedRequest, 0},
		"no object":       {`[]`, [2]string{}, 400, flows.MalformedRequest, 0},
		"too large":       {strings.Repeat(" ", 5000), [2]string{}, 413, flows.TooLarge, 0},
		"a page in a browser": {
			`{"contactId":"1001","clubId":"11"}`, [2]string{"Origin", "https://elsewhere.example"}, 403,
			flows.ForbiddenOrigin, 0,
		},
		"a form in a browser": {`{"contactId":"1001","clubId":"11"}`, [2]string{"Content-Type", "text/plain"}, 403, flows.ForbiddenOrigin, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var headers [][2]string
			if test.header[0] != "" {
				headers = append(headers, test.header)
			}
			var problem api.Problem
			client.WithT(t).Do("POST", url, test.body, headers...).Into(test.status, &problem)
			if flows.Code(problem.Code) != test.code || len(frontdesktest.Value(problem.Errors)) != test.fields {
				t.Errorf("%+v", problem)
			}
		})
	}
	client.Do("GET", url, nil).Into(http.StatusMethodNotAllowed, nil)
}
