package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// misfortunes are what happens to people in the middle of a payment. Each ends
// with one payment, or with the page saying that there is a doubt.
var misfortunes = map[string]func(*guest){
	"they press pay twice": func(g *guest) {
		due, registration := g.due(), g.Registration()
		g.DoubleClick(`[data-pay]`)
		g.enterCard(goodCard)
		g.becomesMember()
		g.leaves(registration, trace{recorded: due, taken: due})
	},
	"they reload wherever they are": func(g *guest) {
		due, registration := g.due(), g.Registration()
		g.Reload()
		g.pay()
		g.Reload()
		g.Click(`[data-action="cancel"]`)
		g.See(`[data-payment="requires_action"]`)
		g.Reload()
		g.See(`[data-payment="requires_action"]`)
		if g.Count(`[data-pay]`) != 0 {
			g.t.Error("one can pay anew while a payment waits")
		}
		g.fails(clubsim.Fault{Match: recording, Kind: "delay", DelayMs: 1500})
		g.Click(`a[data-continue]`)
		g.enterCard(goodCard)
		g.See(`[data-payment="processing"], [data-member]`)
		g.Reload()
		g.becomesMember()
		g.leaves(registration, trace{recorded: due, taken: due})
	},
	"they go back from the processor's page": func(g *guest) {
		due, registration := g.due(), g.Registration()
		g.pay()
		g.Back()
		g.See(`[data-payment="requires_action"]`)
		if g.Count(`[data-pay]`) != 0 || g.Registration() != registration {
			g.t.Errorf("one can pay anew at %s", g.Address())
		}
		g.Click(`a[data-continue]`)
		g.enterCard(goodCard)
		g.becomesMember()
		g.Back()
		g.Back()
		g.See(`[data-member], [data-action="return"], main[data-step="offer"]`)
		g.leaves(registration, trace{recorded: due, taken: due})
	},
	"they have two tabs": func(g *guest) {
		due, registration := g.due(), g.Registration()
		other := g.inAnotherTab()
		other.HoldRequests("*/v1/registrations/*/events") // or it would see the payment begin, and its button would be gone
		other.Open(g.Address())
		other.See(`[data-pay]`)
		g.Click(`[data-pay]`)
		other.Click(`[data-pay]`)
		g.See(`#card`)
		other.See(`#card`)
		g.enterCard(goodCard)
		other.enterCard(goodCard)
		g.becomesMember()
		other.becomesMember()
		g.leaves(registration, trace{recorded: due, taken: due})
	},
	"the answer to the recording is lost": func(g *guest) {
		due, registration := g.due(), g.Registration()
		g.fails(clubsim.Fault{Match: recording, Kind: "drop_after"})
		g.payByCard()
		g.See(`main[data-state="attention"] [data-payment="in_doubt"], main[data-state="attention"] [data-message]`)
		g.Reload()
		g.See(`main[data-state="attention"]`)
		if g.Count(`[data-pay], main [data-continue]`) != 0 || !strings.Contains(strings.ToLower(g.Text()), "not pay again") {
			g.t.Errorf("in doubt the page says:\n%s", g.Text())
		}
		g.leaves(registration, trace{recorded: due, taken: due})
	},
	"the answer to their pay button is lost": func(g *guest) {
		due, registration := g.due(), g.Registration()
		g.Expect("ERR_CONNECTION_RESET")
		answer := g.HoldAnswers("*/v1/registrations/*/payment")
		g.Click(`[data-pay]`)
		answer.Lose()
		g.enterCard(goodCard)
		g.becomesMember()
		g.leaves(registration, trace{recorded: due, taken: due})
	},
	"they close the laptop": func(g *guest) {
		due, registration := g.due(), g.Registration()
		g.pay()
		g.Click(`[data-action="cancel"]`)
		processor := g.processor()
		g.Sleep()
		g.c.Do("POST", processor+"/confirm", map[string]string{"card": goodCard}).Into(http.StatusOK, nil)
		frontdesktest.Eventually(g.t, "it is recorded", func() bool { return g.calls("createPayment") == 1 })
		g.Wake()
		g.becomesMember()
		g.leaves(registration, trace{recorded: due, taken: due})
	},
	"their card is declined, and the next one's bank asks first": func(g *guest) {
		due, registration := g.due(), g.Registration()
		g.pay()
		g.enterCard(declinedCard)
		g.See(`[role="alert"]`)
		g.enterCard(askingCard)
		g.Click(`[data-action="approve"]`)
		g.becomesMember()
		g.leaves(registration, trace{recorded: due, taken: due})
	},
}

// TestInTheMiddleOfAPayment: whatever happens, nobody pays twice or in vain.
func TestInTheMiddleOfAPayment(t *testing.T) {
	t.Parallel()
	for name, happens := range misfortunes {
		for kind, device := range devices {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				g := newGuest(t, device)
				g.fillCart()
				happens(g)
			})
		}
	}
}

// processor is the page to which the site sends who wants to finish their payment.
func (g *guest) processor() string {
	g.t.Helper()
	g.See(`a[data-continue]`)
	return g.Attribute(`a[data-continue]`, "href")
}

// jump is how far the parts of a page may move on their own, in thousandths of
// its size: half of what is called good, since people press buttons that cost money.
const jump = 50

// TestSlowNetwork: on a slow network the shape of what comes is shown first, and
// nothing jumps when it has come.
func TestSlowNetwork(t *testing.T) {
	t.Parallel()
	for kind, device := range devices {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			g := newGuest(t, device)
			g.logIn("/?me", "former")
			g.See(`[data-way]`)
			g.Slow()
			registration := g.registered(directDebit, frontdesktest.Person())
			for _, page := range []struct{ name, place, seen string }{
				{"clubs", "/", `[data-club]`},
				{"offers", "/?club=11", `[data-offer]`},
				{"person", "/?club=11&offer=" + cardOffer + "&startDate=" + today(), `[data-summary]`},
				{"cart", "/?registration=" + registration.Id, `[data-plan]`},
				{"me", "/?me", `[data-way]`},
				{"consents", "/?me&step=consents", `[data-consent]`},
				{"transfer", "/?me&step=transfer", `[data-to]`},
			} {
				answers := g.HoldRequests("*/v1/*")
				g.goTo(page.place)
				g.See(`.bone`)
				g.Shot(page.name + "-waiting")
				answers.Release()
				g.See(page.seen)
				if shift, parts := g.Shift(); shift >= jump {
					t.Errorf("%s jumps by %d thousandths:\n%s", page.name, shift, parts)
				}
			}
		})
	}
}
