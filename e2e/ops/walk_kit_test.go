package ops_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// runJourneys runs each kind of journey once: a direct debit with a signed mandate, a prospect who
// brings an account in, a registration that continues on another device, an invited contact, a move to
// another club, an event of the club system. It returns the amounts paid, in cents, one for each
// payment.
func runJourneys(t *testing.T, client *frontdesktest.Client, at *frontdesktest.Process) (paid []int64) {
	t.Helper()
	client = client.WithT(t)
	created := func(path string, body, into any) {
		t.Helper()
		client.Do("POST", path, body, frontdesktest.Key("")).Into(http.StatusCreated, into)
	}
	pay := func(id string) {
		payment := client.Pay(id)
		client.Confirm(payment, frontdesktest.ApprovedCard)
		client.Await(id, api.Completed)
		paid = append(paid, payment.Total.Amount)
	}
	client.Token = ""
	debited := client.RegisterWith("11", frontdesktest.Person(), frontdesktest.DebitItem("2031-03-01")).Id
	mandate := "/v1/registrations/" + debited + "/mandate"
	created(mandate, api.NewMandate{Holder: "Ada Martin", Iban: frontdesktest.GoodIBAN}, nil)
	client.Do("POST", mandate+"/signature", api.Signature{Code: frontdesktest.WrongCode(client.LatestCode())}, frontdesktest.Key("")).
		Problem(api.CodeWrong)
	created(mandate+"/signature", api.Signature{Code: client.LatestCode()}, nil)
	pay(debited)

	client.Token = ""
	resumed := client.RegisterWith("11", frontdesktest.Person(), api.NewItem{OfferId: "2501"}).Id
	created("/v1/registrations/"+resumed+"/prospect", api.Prospect{AccessToken: client.Persona("prospect").AccessToken}, nil)
	var link api.ResumeLink
	created("/v1/registrations/"+resumed+"/resume-link", nil, &link)
	_, code, _ := strings.Cut(link.Url, "resume=")
	client.Token = ""
	var there api.Registration
	created("/v1/resumptions", api.Resumption{Resume: code}, &there)
	client.Token = *there.Token
	client.Do("POST", "/v1/registrations/"+resumed+"/check", nil, frontdesktest.Key("")).Into(http.StatusOK, nil)
	pay(resumed)

	client.Token = ""
	invite := exec.CommandContext(t.Context(), frontdesktest.Binary(t), "invite", "--contact", "1001", "--club", "11")
	invite.Env = []string{"FRONTDESK_OPS_ADDR=" + at.OpsAddress()}
	printed, err := invite.Output()
	_, invitation, ok := strings.Cut(strings.TrimSpace(string(printed)), "invitation=")
	if err != nil || !ok {
		t.Fatalf("invited by %q: %v", printed, err)
	}
	invitation, _, _ = strings.Cut(invitation, "&")
	created("/v1/registrations", api.StartRegistration{ClubId: "11", Invitation: &invitation}, nil)

	client.Token = client.Persona("former").IdentityToken
	created("/v1/me/transfer", api.NewTransfer{ClubId: "13"}, nil)
	created("/v1/me/transfer/signature", api.Signature{Code: client.LatestCode()}, nil)
	client.Token = ""
	client.Do("POST", demoIntake,
		`{"event":"contact.updated","data":{"object":{"contactId":"/demo/contacts/1001","clubId":"/demo/clubs/11"}}}`).
		Into(http.StatusOK, nil)
	return paid
}

// expectRecorded compares the club system's ledger with what was paid.
func expectRecorded(t *testing.T, c *frontdesktest.Client, paid []int64) {
	t.Helper()
	r := c.Records()
	reported, booked := int64(0), int64(0)
	for _, cents := range paid {
		reported += cents
	}
	for _, entry := range r.Ledger {
		booked += int64(entry.Amount)
	}
	if len(r.Ledger) != len(paid) || booked != reported || !r.Audit.OK || len(paid) == 0 {
		t.Errorf(
			"%d payments of %d cents were recorded; the ledger has %d of %d, and the audit is %+v", len(paid), reported,
			len(r.Ledger), booked, r.Audit,
		)
	}
}

// randomAddressTransport has each request come from another address, as those of a crowd do.
type randomAddressTransport struct{ http.RoundTripper }

func (f randomAddressTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.%d.%d", rand.IntN(256), rand.IntN(256)))
	return f.RoundTripper.RoundTrip(request)
}
