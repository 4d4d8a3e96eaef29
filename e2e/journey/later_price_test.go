package journey_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// raised is a club system whose staff have just raised a price that is debited later; what is due today stays.
func raised(t *testing.T, club string, from, to int64) string {
	t.Helper()
	target, err := url.Parse(club)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(target)
			request.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(response *http.Response) error {
			body, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			old, changed := `"priceTI":`+strconv.FormatInt(from, 10), `"priceTI":`+strconv.FormatInt(to, 10)
			body = bytes.ReplaceAll(body, []byte(old), []byte(changed))
			response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			response.Header.Set("Content-Length", strconv.Itoa(len(body)))
			return err
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}

// TestLaterDebitsAsSeen: the club raises the monthly price while the buyer looks at the order. The payment is refused as that of a
// changed cart, until the buyer has seen what will be debited; the confirmation says the same.
func TestLaterDebitsAsSeen(t *testing.T) {
	t.Parallel()
	d := newDebtor(t)
	d.mandate(api.SignatureAwaitingCode)
	d.post("/mandate/signature", api.Signature{Code: d.code()}).Into(http.StatusCreated, nil)
	seen := d.read()
	monthly := func(registration api.Registration) int64 {
		t.Helper()
		endless := frontdesktest.Value(registration.Order.Essentials.Recurrence)
		if len(endless) != 1 {
			t.Fatalf("the order is %+v", registration.Order)
		}
		return endless[0].Price.Amount
	}
	was := monthly(seen)
	d.gateway.Kill()
	forgotten := d.redisClient() // as after some minutes
	defer forgotten.Close()
	for _, key := range forgotten.Keys(t.Context(), "fd:*}:copy").Val() {
		forgotten.Del(t.Context(), key)
	}
	env := frontdesktest.Env{Upstreams: d.upstreams, Redis: d.redis}
	d.gateway, _ = env.Gateway(t, "FRONTDESK_CLUB_URL="+raised(t, d.upstreams.URL, was, was+1000)+"/sim")
	d.URL = d.gateway.URL

	pay := map[string]string{"method": "card", "cart": seen.Cart.Revision}
	d.RequestPayment(d.id, pay).Problem(api.CartChanged)
	if held := d.upstreams.Cards.Payments(); len(held) != 0 {
		t.Fatalf("the processor holds %+v", held)
	}
	now := d.read()
	if monthly(now) != was+1000 || now.Cart.DueNow != seen.Cart.DueNow {
		t.Fatalf("the order is now %+v", now.Order)
	}
	var payment api.Payment
	d.RequestPayment(d.id, pay).Into(http.StatusCreated, &payment)
	d.Confirm(payment, "4242424242424242")
	d.Await(d.id, api.Completed)
	var confirmation api.Confirmation
	d.Do("GET", confirmationOf(d.id), nil).Into(http.StatusOK, &confirmation)
	if endless := frontdesktest.Value(confirmation.Order.Recurrence); len(endless) != 1 || endless[0].Price.Amount != was+1000 {
		t.Errorf("the confirmation has %+v", confirmation.Order)
	}
}
