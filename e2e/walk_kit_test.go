package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// runJourneys goes once through everything that people do: a direct debit with a
// signed mandate, a prospect who brings an account in, a registration that goes on
// on another device, an invited contact, a move to another club, an event of the club
// system. It gives what was paid, in cents: each of it by one payment.
func runJourneys(t *testing.T, c *frontdesktest.Client, at *frontdesktest.Process) (paid []int64) {
	t.Helper()
	v := &visitor{Client: c.WithT(t), t: t}
	pay := func() {
		payment := v.Pay(v.id)
		v.Confirm(payment, "4242424242424242")
		v.Await(v.id, api.Completed)
		paid = append(paid, payment.Amount.Amount)
	}
	v.startDebited()()
	v.mandate()()
	v.Do("POST", v.path+"/mandate/signature", api.Signature{Code: wrong(v.code())}, frontdesktest.Key("")).Problem(api.CodeWrong)
	v.post(v.path+"/mandate/signature", api.Signature{Code: v.code()}, http.StatusCreated)()
	pay()

	v.Token = ""
	v.registered("2501")
	v.post(v.path+"/prospect", api.Prospect{AccessToken: v.Persona("prospect").AccessToken}, http.StatusCreated)()
	other, _ := resume(t, v.Client, v.id)
	v.Client = other
	v.post(v.path+"/check", nil, http.StatusOK)()
	pay()

	v.Token = ""
	invite := exec.CommandContext(t.Context(), frontdesktest.Binary(t), "invite", "--contact", "1001", "--club", "11")
	invite.Env = []string{"FRONTDESK_OPS_ADDR=" + at.OpsAddress(), "USER=ada"}
	link, err := invite.Output()
	_, invitation, ok := strings.Cut(strings.TrimSpace(string(link)), "invitation=")
	if err != nil || !ok {
		t.Fatalf("invited by %q: %v", link, err)
	}
	invitation, _, _ = strings.Cut(invitation, "&")
	v.Do("POST", "/v1/registrations", api.StartRegistration{ClubId: "11", Invitation: &invitation}, frontdesktest.Key("")).Into(http.StatusCreated, nil)

	v.logInAs("former")
	v.post("/v1/me/transfer", api.NewTransfer{ClubId: "13"}, http.StatusCreated)()
	v.post("/v1/me/transfer/signature", api.Signature{Code: v.code()}, http.StatusCreated)()
	v.Token = ""
	v.Do("POST", demoIntake, `{"event":"contact.updated","data":{"object":{"contactId":"/demo/contacts/1001","clubId":"/demo/clubs/11"}}}`).Into(http.StatusOK, nil)
	return paid
}

// expectRecorded holds the club system's books against what was paid.
func expectRecorded(t *testing.T, c *frontdesktest.Client, paid []int64) {
	t.Helper()
	var ledger clubsim.Items[clubsim.LedgerEntry]
	var audit clubsim.Audit
	c.Control("GET", "ledger", nil).Into(http.StatusOK, &ledger)
	c.Control("GET", "audit", nil).Into(http.StatusOK, &audit)
	told, booked := int64(0), int64(0)
	for _, cents := range paid {
		told += cents
	}
	for _, entry := range ledger.Items {
		booked += int64(entry.Amount)
	}
	if len(ledger.Items) != len(paid) || booked != told || !audit.OK || len(paid) == 0 {
		t.Errorf("%d payments of %d cents were recorded; the ledger has %d of %d, and the audit is %+v", len(paid), told, len(ledger.Items), booked, audit)
	}
}

// randomAddressTransport has each request come from another address, as those of a crowd do.
type randomAddressTransport struct{ http.RoundTripper }

func (f randomAddressTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.%d.%d", rand.IntN(256), rand.IntN(256)))
	return f.RoundTripper.RoundTrip(request)
}
