package registration_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"frontdesk/flows"
)

// inCurrency starts a gateway whose club system has another currency. In its carts, nothing is due now if they are free.
func (w *world) inCurrency(currency string, free bool) *gateway {
	w.Helper()
	amounts, currencies := regexp.MustCompile(`"(totalTI|priceTI)": ?\d+`), regexp.MustCompile(`"EUR"`)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: w.Address})
	proxy.ModifyResponse = func(response *http.Response) error {
		body, err := io.ReadAll(response.Body)
		body = currencies.ReplaceAll(body, []byte(strconv.Quote(currency)))
		if free && strings.Contains(response.Request.URL.Path, "/sales/") {
			body = amounts.ReplaceAll(body, []byte(`"$1":0`))
		}
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		response.Header.Set("Content-Length", strconv.Itoa(len(body)))
		return err
	}
	server := httptest.NewServer(proxy)
	w.Cleanup(server.Close)
	return w.Gateway(gatewayOptions{Outside: server.Listener.Addr().String()})
}

// TestNoPaymentWithoutCents: the processor counts an amount of a currency without decimals, or with three, in other units than
// the pages. No payment in one is created there.
func TestNoPaymentWithoutCents(t *testing.T) {
	t.Parallel()
	for currency, payments := range map[string]int{"JPY": 0, "TND": 0, "KWD": 0, "CHF": 1} {
		world := newWorld(t)
		gateway := world.inCurrency(currency, false)
		r := world.Registered(gateway)
		r.Cart.Currency = currency
		if err := gateway.Store.SaveRegistration(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		_, err := gateway.Pay(t.Context(), r.ID)
		if all := world.HeldAll(); len(all) != payments || payments == 0 && flows.CodeOf(err) != flows.CartInvalid {
			t.Errorf("%s: %v, and the processor holds %+v", currency, err, all)
		} else if payments == 1 && (all[0].Currency != currency || all[0].Amount != quarterPassPrice) {
			t.Errorf("%s: the processor holds %+v", currency, all)
		}
	}
}

// TestDebitsWithoutCents: nothing is due now, and the debits that follow would be in such a currency. No mandate is made,
// and the visitor learns that before they are asked for an account.
func TestDebitsWithoutCents(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]flows.Step{
		"HUF": flows.StepFixCart,
		"QQQ": flows.StepFixCart,
		"":    flows.StepFixCart,
		"CHF": flows.StepMandate,
	} {
		t.Run(currency, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.inCurrency(currency, true)
			id, token := world.debtor(gateway, "+33698765432")
			view := must(t, func() (flows.View, error) { return gateway.Registrations.Get(t.Context(), id, token) })
			if view.Step() != want || view.Cart.Total != 0 || view.Cart.Currency != currency {
				t.Errorf("%s, due now %d %s, problems %v", view.Step(), view.Cart.Total, view.Cart.Currency, view.Cart.Problems)
			}
			view, err := gateway.Registrations.CreateMandate(t.Context(), id, token, account)
			if want == flows.StepMandate {
				if err != nil || world.mandates() != 1 {
					t.Errorf("%v, %d mandates", err, world.mandates())
				}
				return
			}
			if flows.CodeOf(err) != flows.CartInvalid || world.mandates() != 0 || len(world.Sim.SMS()) != 0 {
				t.Errorf("%v, %d mandates, %d codes, %+v", err, world.mandates(), len(world.Sim.SMS()), view.Mandate)
			}
			_, err = gateway.Registrations.Pay(t.Context(), id, token, flows.StartPayment{Method: flows.Free})
			if flows.CodeOf(err) != flows.CartInvalid {
				t.Errorf("free: %v", err)
			}
		})
	}
}
