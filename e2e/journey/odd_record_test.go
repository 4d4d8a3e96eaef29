package journey_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// spoiled is an address of the upstreams at which product 2, one of two offers of product 9 and all offers of product
// 25 have a field of another form.
func spoiled(t *testing.T, s frontdesktest.Env) string {
	t.Helper()
	target, _ := url.Parse(s.Upstreams.URL)
	proxy := httputil.NewSingleHostReverseProxy(target)
	odd := strings.NewReplacer(`"name":"Quarter Pass",`, `"name":7,`, `"id":902,`, `"id":902,"totalPriceTI":"secret",`,
		`"id":2501,`, `"id":2501,"isFirstMonthPayed":"secret",`)
	proxy.ModifyResponse = func(response *http.Response) error {
		body, err := io.ReadAll(response.Body)
		body = []byte(odd.Replace(string(body)))
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		response.Header.Del("Content-Length")
		return err
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}

// offersOf lists the offers that a visitor of club 11 sees.
func offersOf(c *frontdesktest.Client) (offers []string) {
	for cursor := ""; ; {
		var page api.ProductList
		c.Do("GET", "/v1/clubs/11/products"+cursor, nil).Into(http.StatusOK, &page)
		for _, product := range page.Items {
			for _, offer := range product.Offers {
				offers = append(offers, offer.Id)
			}
		}
		if page.Next == nil {
			slices.Sort(offers)
			return offers
		}
		cursor = "?cursor=" + *page.Next
	}
}

func debitDays(c *frontdesktest.Client) []api.DebitDay {
	var days api.DebitDayList
	c.Do("GET", "/v1/clubs/11/debit-days", nil).Into(http.StatusOK, &days)
	return days.Items
}

// TestOddRecords: a club system with odd records, other forms of its lists and dates with times is served like any
// other, without the odd records. doctor names what is missing.
func TestOddRecords(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	all, days := offersOf(client), debitDays(client)
	if err := env.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.PHPJSON, settings.DateTimes = true, true }); err != nil {
		t.Fatal(err)
	}
	clubs := filepath.Join(t.TempDir(), "clubs.yaml")
	if err := os.WriteFile(clubs, []byte("defaults: {timeZone: Europe/Paris}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environment := []string{
		"FRONTDESK_CLUB_URL=" + spoiled(t, env) + "/sim", "FRONTDESK_CLUBS_FILE=" + clubs, "FRONTDESK_REDIS_URL=" + frontdesktest.NewRedis(t),
	}
	_, client = env.Gateway(t, environment...)
	want := slices.DeleteFunc(slices.Clone(all), func(id string) bool {
		return slices.Contains([]string{"201", "902", "2501"}, id)
	})
	if got := offersOf(client); !reflect.DeepEqual(got, want) || len(got) < 30 {
		t.Errorf("the catalogue has %v, want %v", got, want)
	}
	if got := debitDays(client); !reflect.DeepEqual(got, days) || len(got) < 3 {
		t.Errorf("the debit days are %v, want %v", got, days)
	}
	registration := client.Register()
	payment := client.Pay(registration.Id)
	client.Confirm(payment, "4242424242424242")
	client.Await(registration.Id, api.Completed)
	env.ExpectOnePayment(t, payment.Total.Amount)

	doctor := exec.CommandContext(t.Context(), frontdesktest.Binary(t), "doctor")
	doctor.Env = append(environment, "FRONTDESK_MODE=test", "FRONTDESK_ADDR=127.0.0.1:0",
		"FRONTDESK_SANDBOX_URL="+env.Upstreams.URL+"/sandbox")
	printed, _ := doctor.CombinedOutput()
	for _, line := range []string{
		"ListOffers: 1 without a readable isFirstMonthPayed", "ListOffers: 1 without a readable totalPriceTI",
		"ListProducts: 2 without a readable name", // it is read for the grants, too
	} {
		if !strings.Contains(string(printed), line) || strings.Contains(string(printed), "secret") {
			t.Errorf("doctor does not say %q, but\n%s", line, printed)
		}
	}
}
