package journey_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"reflect"
	"strconv"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
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

// signedDebtor has signed the mandate and can pay; monthly is what the order says is debited each month.
func signedDebtor(t *testing.T) (d *debtor, monthly int64) {
	t.Helper()
	d = newDebtor(t)
	d.mandate(api.SignatureAwaitingCode)
	d.post("/mandate/signature", api.Signature{Code: d.code()}).Into(http.StatusCreated, nil)
	return d, monthlyOf(t, frontdesktest.Value(d.read().Order.Essentials.Recurrence))
}

func monthlyOf(t *testing.T, endless []api.ScheduleRecurrence) int64 {
	t.Helper()
	if len(endless) != 1 {
		t.Fatalf("the order has the endless debits %+v", endless)
	}
	return endless[0].Price.Amount
}

// continuesAt puts the debtor at another gateway, of the club system at an address; cold: as after some minutes, when no gateway has the
// catalogue any more.
func (d *debtor) continuesAt(club string, cold bool) frontdesktest.Env {
	d.t.Helper()
	d.gateway.Kill()
	if cold {
		forgotten := d.redisClient()
		defer forgotten.Close()
		for _, key := range forgotten.Keys(d.t.Context(), "fd:*}:copy").Val() {
			forgotten.Del(d.t.Context(), key)
		}
	}
	env := frontdesktest.Env{Upstreams: d.upstreams, Redis: d.redis}
	d.gateway, _ = env.Gateway(d.t, "FRONTDESK_CLUB_URL="+club+"/sim")
	d.URL = d.gateway.URL
	return env
}

func (d *debtor) pays(cart string) *frontdesktest.Response {
	d.t.Helper()
	return d.RequestPayment(d.id, map[string]string{"method": "card", "cart": cart})
}

// holdConfirmation pays, and checks that the confirmation says what the buyer saw last: a debit each month.
func (d *debtor) holdConfirmation(monthly int64) {
	d.t.Helper()
	seen := d.read()
	var payment api.Payment
	d.pays(seen.Cart.Revision).Into(http.StatusCreated, &payment)
	d.Confirm(payment, "4242424242424242")
	d.Await(d.id, api.Completed)
	var confirmation api.Confirmation
	d.Do("GET", confirmationOf(d.id), nil).Into(http.StatusOK, &confirmation)
	order, essentials := confirmation.Order, seen.Order.Essentials
	endless := frontdesktest.Value(order.Recurrence)
	if len(endless) != 1 || endless[0].Price.Amount != monthly || monthlyOf(d.t, frontdesktest.Value(essentials.Recurrence)) != monthly ||
		order.Basis != essentials.Basis || order.DueNow != essentials.DueNow {
		d.t.Errorf("the buyer saw %+v, and the confirmation has %+v", essentials, order)
	}
}

// TestLaterDebitsAsSeen: the club raises the monthly price while the buyer looks at the order. The payment is refused as that of a
// changed cart, until the buyer has seen what will be debited; the confirmation says the same. What the gateways cache of the catalogue
// does not matter.
func TestLaterDebitsAsSeen(t *testing.T) {
	t.Parallel()
	for name, cold := range map[string]bool{"cached": false, "no longer cached": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, was := signedDebtor(t)
			d.continuesAt(raised(t, d.upstreams.URL, was, was+1000), cold)
			seen := d.read()
			if monthlyOf(t, frontdesktest.Value(seen.Order.Essentials.Recurrence)) != was {
				t.Fatalf("the order is %+v", seen.Order)
			}
			d.pays(seen.Cart.Revision).Problem(api.CartChanged)
			if held := d.upstreams.Cards.Payments(); len(held) != 0 {
				t.Fatalf("the processor holds %+v", held)
			}
			now := d.read()
			if monthlyOf(t, frontdesktest.Value(now.Order.Essentials.Recurrence)) != was+1000 || now.Cart.DueNow != seen.Cart.DueNow {
				t.Fatalf("the order is now %+v", now.Order)
			}
			d.holdConfirmation(was + 1000)
		})
	}
}

// TestPaymentNeedsTheOffers: while the offers in the cart cannot be read, nothing can be paid, and nothing changes. The buyer sees the
// same order before and after, and the confirmation says it too, although the catalogue cannot be read at all.
func TestPaymentNeedsTheOffers(t *testing.T) {
	t.Parallel()
	d, was := signedDebtor(t)
	env := d.continuesAt(d.upstreams.URL, true)
	fails := func(path string) clubsim.Fault {
		return clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: path}, Kind: "error_before", Status: http.StatusServiceUnavailable}
	}
	before := d.read()
	env.SetFaults(t, fails("/products"), fails("/offers"))
	d.pays(before.Cart.Revision).Problem(api.ClubSystemUnavailable)
	if held := d.upstreams.Cards.Payments(); len(held) != 0 {
		t.Fatalf("the processor holds %+v", held)
	}
	if after := d.read(); !reflect.DeepEqual(after.Order, before.Order) || after.State != api.Open {
		t.Errorf("the registration is %s with the order %+v", after.State, after.Order)
	}
	env.SetFaults(t, fails("/products"))
	d.holdConfirmation(was)
}
