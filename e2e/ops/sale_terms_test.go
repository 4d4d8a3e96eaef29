package ops_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hibiken/asynq"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mail/sink"
)

// ownTerms starts a gateway whose operator has no terms, in front of clubs that have their own and a contract for each sale.
func ownTerms(t *testing.T, faults ...clubsim.Fault) (frontdesktest.Env, *frontdesktest.MailServer, *frontdesktest.Client) {
	t.Helper()
	env, server := frontdesktest.NewEnv(t), frontdesktest.NewMailServer(t, sink.Config{})
	frontdesktest.Must(t, env.Upstreams.Sim.Configure(func(s *clubsim.Settings) { s.SaleTerms, s.ContractDocuments = true, true }))
	env.SetFaults(t, faults...)
	clubs := clubsWith(t, "clubs.yaml", `    terms: {version: "3.1", files: {en: terms.txt}}`+"\n", "")
	_, client := env.Gateway(t, append(server.Environment(), "FRONTDESK_CLUBS_FILE="+clubs, "FRONTDESK_AGREEMENTS=required")...)
	return env, server, client
}

// sold completes a registration by card, and returns it with what was sold and the mail of its confirmation.
func sold(
	t *testing.T, env frontdesktest.Env, server *frontdesktest.MailServer, client *frontdesktest.Client,
) (api.Registration, clubsim.Sale, sink.Mail) {
	t.Helper()
	registration := client.Register()
	client.Confirm(client.Pay(registration.Id), frontdesktest.ApprovedCard)
	registration = client.Await(registration.Id, api.Completed)
	queues := queuesOf(t, env)
	frontdesktest.Eventually(t, "the confirmation is mailed", func() bool {
		_, _ = queues.RunAllRetryTasks("mail") // the pauses are minutes
		return len(server.Taken()) == 1
	})
	sales := env.Upstreams.Sim.Sales()
	return registration, sales[len(sales)-1], server.Taken()[0]
}

// queuesOf reads and hurries the queues of a gateway.
func queuesOf(t *testing.T, env frontdesktest.Env) *asynq.Inspector {
	t.Helper()
	return asynq.NewInspectorFromRedisClient(frontdesktest.RedisClient(t, env.Redis))
}

// hashes lists the attachments of a mail by the hashes of their bytes.
func hashes(mail sink.Mail) (all []string) {
	for _, document := range mail.Attachments {
		sum := sha256.Sum256(document.Content)
		all = append(all, hex.EncodeToString(sum[:]))
	}
	return all
}

// calls counts the requests of an operation that the club system has received.
func calls(env frontdesktest.Env, operation string) (n int) {
	for _, request := range env.Upstreams.Sim.Requests() {
		if request.Operation == operation {
			n++
		}
	}
	return n
}

// TestOwnSaleTerms: where the operator has no terms, a club's own are what buyers agree to, in the bytes that the club system has. Once the
// agreement is stored the club system gets a report, once. The confirmation has exactly the documents agreed to attached, then the contract
// of the club system.
func TestOwnSaleTerms(t *testing.T) {
	t.Parallel()
	env, server, client := ownTerms(t)
	var list api.DocumentList
	client.Do("GET", "/v1/clubs/11/documents", nil).Into(http.StatusOK, &list)
	terms := list.Items[0]
	served := client.Do("GET", terms.Url[strings.Index(terms.Url, "/v1/"):], nil)
	sum := sha256.Sum256(served.Body)
	if terms.Document != "terms" || terms.Language != "fr" || terms.Sha256 != hex.EncodeToString(sum[:]) ||
		!strings.HasPrefix(terms.Sha256, terms.Version) || !bytes.Contains(served.Body, []byte("Lumen Bastille : conditions")) ||
		served.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%+v is %v %s", terms, served.Header, served.Body)
	}
	client.Do("GET", "/v1/clubs/99/documents/"+terms.Sha256, nil).Problem(api.ClubNotFound)

	asked := client.Register()
	agreements := frontdesktest.AgreementsOf(asked)
	refused := client.RequestPayment(asked.Id, map[string]any{"method": "card", "cart": asked.Cart.Revision, "agreements": agreements[1:]})
	if problem := refused.Problem(api.AgreementMissing); len(*problem.Errors) != 1 || agreements[0].Version != terms.Version {
		t.Errorf("of %+v, missing are %+v", agreements, problem)
	}
	client.Token = ""

	registration, sale, mail := sold(t, env, server, client)
	var agreed []string
	for _, agreement := range *registration.Payment.Agreements {
		agreed = append(agreed, agreement.Sha256)
	}
	contract := sha256.Sum256(sale.Contract)
	want := append(agreed, hex.EncodeToString(contract[:]))
	if len(agreed) != 4 || agreed[0] != terms.Sha256 || !slices.Equal(hashes(mail), want) {
		t.Errorf("attached are %v instead of %v", hashes(mail), want)
	}
	frontdesktest.Eventually(t, "it is reported", func() bool {
		sales := env.Upstreams.Sim.Sales()
		return len(sales[len(sales)-1].TermsAccepted) > 0
	})
	before := client.Do("GET", "/v1/registrations/"+registration.Id+"/confirmation", nil)
	verify := newVerifier(t, env)
	verified := calls(env, "getSale")
	frontdesktest.Eventually(t, "the payment is verified", func() bool {
		verify()
		return calls(env, "getSale") > verified
	})
	if n := calls(env, "acceptSaleTerms"); n != 1 {
		t.Errorf("it was reported %d times", n)
	}
	after := client.Do("GET", "/v1/registrations/"+registration.Id+"/confirmation", nil)
	if !bytes.Equal(before.Body, after.Body) || bytes.Contains(after.Body, []byte("contract.pdf")) {
		t.Errorf("the contract has changed the confirmation: %s", after.Body)
	}
}

// TestContractDelaysLittle: a confirmation waits for the club system's contract, which can come a moment after the payment, and goes out
// without it if there is none after some attempts, or it does not arrive in time. Operators see what was attached, with its size, and a
// list of the confirmations that lack a contract which may exist.
func TestContractDelaysLittle(t *testing.T) {
	t.Parallel()
	contract := clubsim.FaultMatch{Path: "/sales/*/contract"}
	for name, faults := range map[string][]clubsim.Fault{
		"as it is": nil,
		"later":    {{Match: contract, Kind: "error_before", Status: http.StatusNotFound, Times: frontdesktest.Times(1)}},
		"absent":   {{Match: contract, Kind: "error_before", Status: http.StatusNotFound}},
		"slow":     {{Match: contract, Kind: "hang"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, server := frontdesktest.NewEnv(t), frontdesktest.NewMailServer(t, sink.Config{})
			frontdesktest.Must(t, env.Upstreams.Sim.Configure(func(s *clubsim.Settings) { s.ContractDocuments = true }))
			env.SetFaults(t, faults...)
			gateway, client := env.Gateway(t, server.Environment()...)
			registration, sale, mail := sold(t, env, server, client)
			shown := fmt.Sprintf("contract.pdf, %d bytes", len(sale.Contract))
			said := mustCommand(t, gateway.OpsAddress(), "mail", "show", "confirmation-"+registration.Id)
			has := name == "as it is" || name == "later"
			if strings.Contains(said, shown) != has || strings.Count(said, " bytes\n") != len(mail.Attachments) {
				t.Errorf("of %d documents operators see\n%s", len(mail.Attachments), said)
			}
			frontdesktest.Eventually(t, "the attempt ends", func() bool {
				state, err := queuesOf(t, env).GetQueueInfo("mail")
				return err == nil && state.Completed == 1
			})
			listed := frontdesktest.RedisClient(t, env.Redis).HExists(t.Context(), "fd:held", registration.Id).Val()
			if listed != (name == "slow") {
				t.Errorf("listed as without a contract: %t", listed)
			}
		})
	}
}

// TestTermsRefusedOnce: a firewall that turns away one read of a club's own terms does not make a club without terms. The buyer who reads
// them afterwards agrees to them.
func TestTermsRefusedOnce(t *testing.T) {
	t.Parallel()
	for _, agreements := range []string{"required", "optional"} {
		t.Run(agreements, func(t *testing.T) {
			t.Parallel()
			env := frontdesktest.NewEnv(t)
			frontdesktest.Must(t, env.Upstreams.Sim.Configure(func(s *clubsim.Settings) { s.SaleTerms = true }))
			env.SetFaults(t, clubsim.Fault{Match: clubsim.FaultMatch{Path: "/identify_sale_terms"}, Kind: "foreign_page", Status: 403,
				Times: frontdesktest.Times(1)})
			clubs := clubsWith(t, "clubs.yaml", `    terms: {version: "3.1", files: {en: terms.txt}}`+"\n", "")
			_, client := env.Gateway(t, "FRONTDESK_CLUBS_FILE="+clubs, "FRONTDESK_AGREEMENTS="+agreements)
			client.Do("GET", "/v1/clubs/11/documents", nil).Problem(api.ClubSystemFailed)
			registration := client.Register()
			var paying api.Registration
			client.RequestPayment(registration.Id, map[string]string{"method": "card"}).Into(http.StatusCreated, &paying)
			if first := (*paying.Payment.Agreements)[0]; first.Document != "terms" {
				t.Errorf("agreed to %+v", *paying.Payment.Agreements)
			}
		})
	}
}

// TestOwnDocumentsFail: a registration is completed and confirmed although a page arrives in place of the contract, and the club system
// does not take the agreement. Neither is tried again after that, also when the payment is looked at once more.
func TestOwnDocumentsFail(t *testing.T) {
	t.Parallel()
	env, server, client := ownTerms(t,
		clubsim.Fault{Match: clubsim.FaultMatch{Path: "/sales/*/contract"}, Kind: "foreign_page"},
		clubsim.Fault{Match: clubsim.FaultMatch{Path: "/sales/*/accept_gtcs"}, Kind: "error_before", Status: http.StatusInternalServerError})
	registration, sale, mail := sold(t, env, server, client)
	if len(mail.Attachments) != 4 || len(sale.Contract) == 0 || calls(env, "getContract") == 0 {
		t.Errorf("%d documents are attached", len(mail.Attachments))
	}
	verify, queues := newVerifier(t, env), queuesOf(t, env)
	contracts, verified := calls(env, "getContract"), calls(env, "getSale")
	frontdesktest.Eventually(t, "the payment is verified", func() bool {
		verify()
		return calls(env, "getSale") > verified
	})
	for _, queue := range []string{"events", "mail"} {
		var state *asynq.QueueInfo
		frontdesktest.Eventually(t, "nothing waits in "+queue, func() bool {
			var err error
			state, err = queues.GetQueueInfo(queue)
			return err == nil && state.Pending+state.Active == 0 && state.Completed+state.Retry > 0
		})
		if state.Completed != 1 || state.Retry+state.Archived != 0 {
			t.Errorf("the queue %s is %+v", queue, state)
		}
	}
	if terms := calls(env, "acceptSaleTerms"); terms != 1 || calls(env, "getContract") != contracts || len(server.Taken()) != 1 {
		t.Errorf("the terms were reported %d times, the contract read %d times after %d, and %d mails were sent", terms,
			calls(env, "getContract"), contracts, len(server.Taken()))
	}
	if len(*registration.Payment.Agreements) != 4 || len(sale.TermsAccepted) != 0 {
		t.Errorf("%+v, accepted at %v", registration.Payment, sale.TermsAccepted)
	}
}

// TestContractTooLong: a contract document that is too long for mail servers is not attached. The confirmation goes out without it, and
// operators see that.
func TestContractTooLong(t *testing.T) {
	t.Parallel()
	env, server := frontdesktest.NewEnv(t), frontdesktest.NewMailServer(t, sink.Config{})
	frontdesktest.Must(t, env.Upstreams.Sim.Configure(func(s *clubsim.Settings) { s.ContractDocuments = true }))
	there, err := url.Parse(env.Upstreams.URL)
	frontdesktest.Must(t, err)
	club := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(there) },
		ModifyResponse: func(r *http.Response) error {
			if strings.HasSuffix(r.Request.URL.Path, "/contract") {
				long := append([]byte("%PDF-1.4\n"), make([]byte, 2<<20)...)
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(long)), int64(len(long))
				r.Header.Set("Content-Length", strconv.Itoa(len(long)))
				r.Header.Del("Content-Encoding")
			}
			return nil
		},
	})
	t.Cleanup(club.Close)
	_, client := env.Gateway(t, append(server.Environment(), "FRONTDESK_CLUB_URL="+club.URL+"/sim")...)
	registration, sale, mail := sold(t, env, server, client)
	if len(sale.Contract) == 0 || calls(env, "getContract") == 0 {
		t.Error("the contract was not read")
	}
	for _, document := range mail.Attachments {
		if document.Name == "contract.pdf" {
			t.Errorf("it is attached, with %d bytes", len(document.Content))
		}
	}
	frontdesktest.Eventually(t, "it is listed for operators, ten minutes after the contract", func() bool {
		return frontdesktest.RedisClient(t, env.Redis).HExists(t.Context(), "fd:held", registration.Id).Val()
	})
}
