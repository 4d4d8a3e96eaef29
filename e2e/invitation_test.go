package e2e_test

import (
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// post is the club's own: it makes links and knows a front end that gets them.
type post struct {
	*frontdesktest.Client
	t           *testing.T
	gateway     *frontdesktest.Process
	environment []string
}

func newPost(t *testing.T) *post {
	t.Helper()
	s := newSetting(t)
	p := &post{t: t, gateway: frontdesktest.NewGateway(t, s.outside, s.redis)}
	p.Client = frontdesktest.NewClient(t, p.gateway.URL)
	p.Outside = s.outside.URL
	p.environment = []string{"FRONTDESK_MODE=test", "FRONTDESK_REDIS_URL=" + s.redis, "FRONTDESK_PUBLIC_URL=http://club.example",
		"FRONTDESK_CLUB_URL=" + s.outside.URL + "/sim", "FRONTDESK_SANDBOX_URL=" + s.outside.URL + "/sandbox"}
	return p
}

// invite runs the command, and gives what it printed.
func (p *post) invite(args ...string) (string, error) {
	cmd := exec.CommandContext(p.t.Context(), frontdesktest.Binary(p.t), append([]string{"invite"}, args...)...)
	cmd.Env = p.environment
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// invitation makes a link, and gives what it holds.
func (p *post) invitation(args ...string) string {
	p.t.Helper()
	link, err := p.invite(args...)
	if err != nil {
		p.t.Fatalf("%v: %s", err, link)
	}
	address, err := url.Parse(link)
	if err != nil || !strings.HasPrefix(link, "http://club.example/?invitation=") || address.Query().Get("club") == "" {
		p.t.Fatalf("the link is %q", link)
	}
	return address.Query().Get("invitation")
}

// use sends an invitation as the page does that the link leads to.
func (p *post) use(invitation string, body api.StartRegistration, key [2]string) *frontdesktest.Response {
	p.t.Helper()
	body.Invitation = &invitation
	return p.Do("POST", "/v1/registrations", body, key)
}

func TestInvitationIsGoodOnce(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	debtor := p.invitation("--contact", "1002", "--club", "11")

	// What goes wrong on the way leaves the invitation good.
	p.use(debtor, api.StartRegistration{ClubId: "12"}, frontdesktest.Key("")).Problem(api.OtherClub)
	p.use(debtor, api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{{OfferId: "999999"}}}, frontdesktest.Key("")).Problem(api.OfferNotAvailable)
	p.Control("PUT", "faults", `[{"match":{"method":"POST","path":"/sales"},"kind":"error_before","status":500}]`).Into(http.StatusOK, nil)
	p.use(debtor, api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{{OfferId: "2501"}}}, frontdesktest.Key("")).Problem(api.ClubSystemFailed)
	p.Control("PUT", "faults", `[]`).Into(http.StatusOK, nil)

	key := frontdesktest.Key("")
	var r, replayed api.Registration
	p.use(debtor, api.StartRegistration{ClubId: "11"}, key).Into(http.StatusCreated, &r)
	if r.Contact.Debt == nil || r.Contact.Debt.Amount != 12400 || r.Contact.Number != "11-001002" {
		t.Errorf("the invited contact is %+v", r.Contact)
	}
	p.use(debtor, api.StartRegistration{ClubId: "11"}, key).Into(http.StatusCreated, &replayed)
	if replayed.Id != r.Id {
		t.Error("the same request again started another registration")
	}

	before := len(p.Calls())
	used := p.use(debtor, api.StartRegistration{ClubId: "11"}, frontdesktest.Key("")).Problem(api.InvitationInvalid)
	never := p.use("made-up", api.StartRegistration{ClubId: "11"}, frontdesktest.Key("")).Problem(api.InvitationInvalid)
	short := p.invitation("--contact", "1001", "--club", "11", "--ttl", "1ms")
	made := len(p.Calls()) - before
	expired := p.use(short, api.StartRegistration{ClubId: "11"}, frontdesktest.Key("")).Problem(api.InvitationInvalid)
	if *used.Detail != *never.Detail || *never.Detail != *expired.Detail {
		t.Errorf("used %q, never was %q, expired %q", *used.Detail, *never.Detail, *expired.Detail)
	}
	if calls := len(p.Calls()) - before; calls != made {
		t.Errorf("an invitation that is not good made the gateway ask for %v", operations(p.Client, before))
	}
	if strings.Contains(p.gateway.Log(), debtor) {
		t.Error("the log holds an invitation")
	}
}

func TestInvitationHasOneWinner(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	raced := p.invitation("--contact", "1001", "--club", "11")
	var won atomic.Int32
	var racers sync.WaitGroup
	for range 10 {
		racers.Go(func() {
			if p.use(raced, api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{{OfferId: "2501"}}}, frontdesktest.Key("")).Status == http.StatusCreated {
				won.Add(1)
			}
		})
	}
	racers.Wait()
	sales := 0
	for _, name := range operations(p.Client, 0) {
		if name == "createSale" {
			sales++
		}
	}
	if won.Load() != 1 || sales != 1 {
		t.Errorf("one invitation started %d registrations and %d sales", won.Load(), sales)
	}
}

func TestWhoIsNotInvited(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	for name, args := range map[string][]string{
		"no such contact": {"--contact", "99999", "--club", "11"}, "of another club": {"--contact", "1001", "--club", "12"},
		"no such club": {"--contact", "1001", "--club", "999"}, "banned": {"--contact", "1005", "--club", "11"},
		"for ever": {"--contact", "1001", "--club", "11", "--ttl", "9999h"}, "for no time": {"--contact", "1001", "--club", "11", "--ttl", "0s"},
	} {
		if out, err := p.invite(args...); err == nil || strings.Contains(out, "invitation=") {
			t.Errorf("%s: %s", name, out)
		}
	}
	if slices.Contains(operations(p.Client, 0), "createContact") {
		t.Error("an invitation made a contact")
	}
	p.environment = nil
	if out, err := p.invite("--contact", "1001", "--club", "11"); err == nil || !strings.Contains(out, "mock mode") {
		t.Errorf("in mock mode: %v, %s", err, out)
	}
}
