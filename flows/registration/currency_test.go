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
	"testing"

	"frontdesk/flows"
)

// inCurrency starts a gateway whose club system has another currency. In its carts, nothing is due now if they are free.
func (w *world) inCurrency(currency string, free bool) *gateway {
	w.Helper()
	amounts, currencies := regexp.MustCompile(`"totalTI": ?\d+`), regexp.MustCompile(`"EUR"`)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: w.Address})
	proxy.ModifyResponse = func(answer *http.Response) error {
		body, err := io.ReadAll(answer.Body)
		if body = currencies.ReplaceAll(body, []byte(strconv.Quote(currency))); free {
			body = amounts.ReplaceAll(body, []byte(`"totalTI":0`))
		}
		answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		answer.Header.Set("Content-Length", strconv.Itoa(len(body)))
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
		w := newWorld(t)
		g := w.inCurrency(currency, false)
		r := w.Registered(g)
		r.Cart.Currency = currency
		if err := g.Store.SaveRegistration(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		_, err := g.Pay(t.Context(), r.ID)
		if all := w.HeldAll(); len(all) != payments || payments == 0 && flows.CodeOf(err) != flows.CartInvalid {
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
			w := newWorld(t)
			g := w.inCurrency(currency, true)
			id, token := w.debtor(g, "+33698765432")
			view := must(t, func() (flows.View, error) { return g.Registrations.Get(t.Context(), id, token) })
			if view.Step() != want || view.Cart.Total != 0 || view.Cart.Currency != currency {
				t.Errorf("%s, due now %d %s, problems %v", view.Step(), view.Cart.Total, view.Cart.Currency, view.Cart.Problems)
			}
			view, err := g.Registrations.CreateMandate(t.Context(), id, token, account)
			if want == flows.StepMandate {
				if err != nil || w.mandates() != 1 {
					t.Errorf("%v, %d mandates", err, w.mandates())
				}
				return
			}
			if flows.CodeOf(err) != flows.CartInvalid || w.mandates() != 0 || len(w.Sim.SMS()) != 0 {
				t.Errorf("%v, %d mandates, %d codes, %+v", err, w.mandates(), len(w.Sim.SMS()), view.Mandate)
			}
			_, err = g.Registrations.Pay(t.Context(), id, token, flows.StartPayment{Method: flows.Free})
			if flows.CodeOf(err) != flows.CartInvalid {
				t.Errorf("free: %v", err)
			}
		})
	}
}
