package site_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// orderLabels are the words that the law accepts, by language and by what the order is.
var orderLabels = map[string]map[api.OrderButton]string{
	"en": {
		api.ButtonWithObligation: "Order with obligation to pay", api.ButtonPayNow: "Pay now", api.ButtonFree: "Sign up for free",
	},
	"fr": {
		api.ButtonWithObligation: "Commander avec obligation de paiement", api.ButtonPayNow: "Payer maintenant",
		api.ButtonFree: "S’inscrire gratuitement",
	},
}

// orderButtons are the buttons that order, wherever they are.
const orderButtons = `[data-pay], [data-pay-later], [data-pay-card]`

// shownButton is a button that orders, with what stands directly above it.
type shownButton struct {
	Label, Above, Terms string
	Later, Hidden       bool
}

// orderButtons returns the buttons of the page. What stands above is the name of a data attribute, or else the element itself.
func (g *siteVisitor) orderButtons() []shownButton {
	g.t.Helper()
	return frontdesktest.Eval[[]shownButton](g.Browser, `[...document.querySelectorAll("`+orderButtons+`")].map((button) => {
		const above = button.previousElementSibling;
		const between = button.previousSibling === above;
		return {
			label: (button.querySelector(".when-idle") ?? button).textContent.trim(),
			above: between && above?.matches("[data-essentials]") ? "essentials" : button.parentElement.innerHTML.slice(0, 200),
			terms: above?.textContent ?? "",
			later: button.matches("[data-pay-later]"),
			hidden: !button.checkVisibility(),
		};
	})`)
}

// expectOrder checks every order button of the page against the registration: its words, and that the essential terms stand
// directly above it.
func (g *siteVisitor) expectOrder(language string) api.Order {
	g.t.Helper()
	order := g.order()
	buttons := g.orderButtons()
	if len(buttons) == 0 {
		g.t.Errorf("the page has no order button:\n%s", g.Text())
	}
	follows := len(order.Essentials.Debits) > 0 || order.Essentials.Recurrence != nil || order.Essentials.Basis != api.Exact
	for _, button := range buttons {
		want := orderLabels[language][order.Button]
		if button.Later || follows {
			want = orderLabels[language][api.ButtonWithObligation]
		}
		if button.Label != want {
			g.t.Errorf("a button of %s says %q, want %q", order.Button, button.Label, want)
		}
		if button.Above != "essentials" {
			g.t.Errorf("above %q stands %s", button.Label, button.Above)
		}
		if follows && !slices.ContainsFunc([]string{"direct debit", "prélèvement"}, func(word string) bool {
			return strings.Contains(button.Terms, word)
		}) {
			g.t.Errorf("the terms above %q hide the debits: %s", button.Label, button.Terms)
		}
	}
	return order
}

// order returns the order of the displayed registration.
func (g *siteVisitor) order() api.Order {
	g.t.Helper()
	return *frontdesktest.Eval[api.Registration](
		g.Browser, `fetch("/v1/registrations/`+g.Registration()+`", {headers: {Accept: "application/json"}}).then((r) => r.json())`,
	).Order
}

// TestOrderButtonInBrowser walks the demo's carts: whenever a debit follows, the button says that the order obliges to pay, and the
// essential terms stand directly above it.
func TestOrderButtonInBrowser(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, offer string
		button      api.OrderButton
	}{
		{"paid once", cardOffer, api.ButtonPayNow},
		{"free", frontdesktest.FreeTrial, api.ButtonFree},
		{"endless", frontdesktest.DirectDebit, api.ButtonWithObligation},
		{"a term", "1101", api.ButtonWithObligation},
		{"priced by the week", "1701", api.ButtonWithObligation},
		{"prorated", "1301", api.ButtonWithObligation},
		{"goods", "4001", api.ButtonPayNow},
	} {
		for _, language := range []string{"en", "fr"} {
			t.Run(test.name+" "+language, func(t *testing.T) {
				t.Parallel()
				visitor := newSiteVisitor(t, phone)
				place := "/?club=11&offer=" + test.offer + "&startDate=" + tomorrow() + "&lang=" + language
				if test.button == api.ButtonWithObligation {
					place += "&debitDay=10"
				}
				visitor.goTo(place)
				visitor.giveDetails()
				if test.button == api.ButtonWithObligation {
					visitor.setUpDirectDebit()
				}
				visitor.WaitVisible(`[data-pay]`)
				if order := visitor.expectOrder(language); order.Button != test.button {
					t.Errorf("the order is %+v", order)
				}
				if isGoods := test.offer == "4001"; isGoods != (visitor.Count(`[data-guarantee]`) == 1) ||
					isGoods != (visitor.Count(`[data-handed-over]`) > 0) {
					t.Errorf("the notice on the legal guarantee: %t", !isGoods)
				}
				visitor.Inspect("order-" + test.offer)
				if test.button == api.ButtonFree {
					return
				}
				visitor.Click(`[data-later] summary`)
				visitor.expectOrder(language)
				visitor.pay()
				visitor.expectOrder(language)
				visitor.Inspect("order-" + test.offer + "-card")
				visitor.enterDeclined()
				visitor.expectOrder(language)
				visitor.enterCard(frontdesktest.ApprovedCard)
				visitor.expectMember()
			})
		}
	}
}

// TestOrderWhileOffersFail: while the club's offers cannot be read, the order stays the one that the buyer has seen.
func TestOrderWhileOffersFail(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.fillCart()
	visitor.WaitVisible(`[data-essentials]`)
	seen := visitor.expectOrder("en")
	visitor.c.Control("PUT", "faults", `[{"match":{"method":"GET","path":"/products"},"kind":"error_before","status":500}]`).Into(200, nil)
	visitor.c.Control("PUT", "settings", `{}`).Into(200, nil) // the gateway forgets what it has read
	visitor.AllowConsole("status of 50")
	visitor.Reload()
	visitor.WaitVisible(`[data-essentials]`)
	if order := visitor.expectOrder("en"); !reflect.DeepEqual(order, seen) {
		t.Errorf("the order was %+v and is %+v", seen, order)
	}
}

// TestGuaranteeNotice: where the club has the EU's notice on the legal guarantee, the order page shows that picture above an order of
// goods, and asks for no agreement to it.
func TestGuaranteeNotice(t *testing.T) {
	t.Parallel()
	gateway, c := frontdesktest.NewEnv(t).Gateway(t, "FRONTDESK_CLUBS_FILE="+frontdesktest.ApprovedClubs(t))
	visitor := newSiteVisitorAt(t, phone, c, gateway)
	visitor.goTo("/?club=11&offer=4001&startDate=" + tomorrow())
	visitor.giveDetails()
	visitor.Await("the notice is loaded", `(() => {
		const picture = document.querySelector("[data-guarantee] .guarantee img");
		const before = document.querySelector("[data-essentials]");
		return picture?.naturalWidth > 0 && picture.alt !== "" && picture.clientHeight > picture.clientWidth &&
			!!(picture.compareDocumentPosition(before) & Node.DOCUMENT_POSITION_FOLLOWING);
	})()`)
	visitor.Inspect("guarantee")
	for _, agreement := range frontdesktest.Value(visitor.order().Agreements) {
		if agreement.Document == "guarantee_notice" {
			t.Error("the order asks for an agreement to the notice")
		}
	}
}
