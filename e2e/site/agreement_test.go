package site_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// Click clicks an element. Before an order, it ticks the boxes that no page ticks by itself.
func (g *siteVisitor) Click(selector string) {
	g.t.Helper()
	if strings.HasSuffix(selector, `[data-pay]`) || strings.HasSuffix(selector, `[data-pay-later]`) {
		g.agree(selector)
	}
	g.browser.Click(selector)
}

// agree ticks the boxes above an order button, once the button is there.
func (g *siteVisitor) agree(button string) {
	g.t.Helper()
	g.WaitVisible(button)
	for g.Count(`[data-agree]:not(:checked)`) > 0 {
		g.browser.Click(`[data-agree]:not(:checked)`)
	}
}

// agreed returns the documents that the displayed registration's payment has, each with its language.
func (g *siteVisitor) agreed(registration string) string {
	g.t.Helper()
	return g.Eval(`fetch("/v1/registrations/` + registration + `").then((response) => response.json())
		.then(({payment}) => payment.agreements.map(({document, language}) => document + " " + language).join())`)
}

// TestAgreementsAboveTheOrder: the documents stand above the essential terms, with links to the exact bytes. The request to start early
// has a box of its own, which is not ticked: without it, nothing is sent, and the box says so.
func TestAgreementsAboveTheOrder(t *testing.T) {
	t.Parallel()
	for kind, device := range devices {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			visitor := newSiteVisitor(t, device)
			visitor.SetLanguage("fr-FR")
			visitor.fillCart()
			registration := visitor.Registration()
			for _, name := range []string{"terms", "privacy", "withdrawal_information", "early_start_request"} {
				visitor.WaitVisible(`[data-agreements] a[data-document="` + name + `"][target="_blank"][href*="/v1/clubs/11/documents/"]`)
			}
			order := visitor.Eval(`["[data-agreements]", "[data-essentials]", "[data-pay]"].map((one) => document.querySelector(one))
				.every((one, at, all) => !at || all[at - 1].compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING).toString()`)
			if order != "true" || visitor.Count(`[data-agree]:checked`) != 0 {
				t.Error("the agreements are not above the order, or a box is ticked")
			}
			visitor.Screenshot("agreements")
			visitor.browser.Click(`[data-pay]`)
			visitor.WaitVisible(`[data-agree="early_start_request"][aria-invalid="true"]:focus`)
			if says := visitor.TextOf(`[data-agree-error="early_start_request"]`); !strings.Contains(says, "Cochez la case") {
				t.Errorf("the box says %q", says)
			}
			if len(visitor.payments(registration)) != 0 {
				t.Error("a payment has begun without the agreement")
			}
			for _, language := range []string{"en", "fr"} { // the step is shown again, and the box still says so
				visitor.browser.Click(`[data-language]`)
				visitor.WaitVisible(`html[lang="` + language + `"] [data-agree="early_start_request"][aria-invalid="true"]`)
			}
			visitor.browser.Click(`[data-agree="early_start_request"]`)
			visitor.WaitVisible(`[data-agree="early_start_request"]:checked:not([aria-invalid="true"])`)
			visitor.pay()
			const want = "terms fr,privacy fr,withdrawal_information fr,early_start_request fr"
			if got := visitor.agreed(registration); got != want {
				t.Errorf("the payment has %s", got)
			}
			visitor.enterDeclined()
			visitor.enterCard(frontdesktest.ApprovedCard)
			visitor.expectMember()
			if got := visitor.agreed(registration); got != want {
				t.Errorf("after another card the payment has %s", got)
			}
		})
	}
}

// TestNoEarlyStart: who starts after the right of withdrawal has ended is not asked for anything.
func TestNoEarlyStart(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + frontdesktest.Day(20))
	visitor.giveDetails()
	visitor.WaitVisible(`[data-agreements="3"]`)
	registration := visitor.Registration()
	if visitor.Count(`[data-agree]`) != 0 {
		t.Error("there is a box to tick")
	}
	visitor.payByCard()
	visitor.expectMember()
	if got := visitor.agreed(registration); got != "terms en,privacy en,withdrawal_information en" {
		t.Errorf("the payment has %s", got)
	}
}

// TestChangedDocument: if the club has another version since the page was shown, nothing is paid, and the page shows the new one.
func TestChangedDocument(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.ExpectConsole("status of 422")
	visitor.fillCart()
	registration := visitor.Registration()
	visitor.Eval(`(() => {
		const send = window.fetch;
		window.fetch = (path, options) => {
			if (String(path).endsWith("/payment") && !window.changed) {
				window.changed = true;
				options = {...options, body: options.body.replace("2026-11", "2026-10")};
			}
			return send(path, options);
		};
		return "";
	})()`)
	visitor.Click(`[data-pay]`)
	visitor.WaitVisible(`[data-error="agreement_missing"]`)
	if len(visitor.payments(registration)) != 0 {
		t.Error("a payment has begun with another version")
	}
	visitor.payByCard()
	visitor.expectMember()
}

// TestEditedDocument: the operator edits a document under the same version, and the gateway restarts, while a buyer looks at the order.
// Nothing is paid; the page says so in the buyer's language, names and links the new text, and takes back the tick. The order then has
// the new text.
func TestEditedDocument(t *testing.T) {
	t.Parallel()
	for language, says := range map[string][2]string{
		"en-GB": {"has changed what you agree to", "Request to start early"},
		"fr-FR": {"a modifié ce que vous acceptez", "Demande de début anticipé"},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			env, clubs := frontdesktest.NewEnv(t), frontdesktest.ApprovedClubs(t)
			gateway, c := env.Gateway(t, "FRONTDESK_CLUBS_FILE="+clubs)
			visitor := newSiteVisitorAt(t, phone, c, gateway)
			visitor.SetLanguage(language)
			visitor.fillCart()
			registration, address := visitor.Registration(), `a[data-document="early_start_request"]`
			visitor.agree(`[data-pay]`)
			visitor.WaitVisible(address)
			before := visitor.Eval(`document.querySelector('` + address + `').href`)
			visitor.AllowConsole("net::ERR_") // while it restarts
			gateway.Kill()
			text := []byte("What the club says now")
			frontdesktest.Must(t, os.WriteFile(filepath.Join(filepath.Dir(clubs), "early.txt"), text, 0o600))
			env.Gateway(t, "FRONTDESK_CLUBS_FILE="+clubs, "FRONTDESK_ADDR="+strings.TrimPrefix(gateway.URL, "http://"))

			visitor.ExpectConsole("status of 422")
			visitor.browser.Click(`[data-pay]`)
			visitor.WaitVisible(`[data-error="agreement_missing"]`)
			visitor.WaitVisible(address + `:not([href="` + before + `"])`)
			hash := sha256.Sum256(text)
			if after := visitor.Eval(`document.querySelector('` + address + `').href`); !strings.HasSuffix(after, hex.EncodeToString(hash[:])) {
				t.Errorf("the page links %s, and before %s", after, before)
			}
			said := visitor.TextOf(`[data-error="agreement_missing"]`)
			if !strings.Contains(said, says[0]) || !strings.Contains(said, says[1]) {
				t.Errorf("the page says %q", said)
			}
			if visitor.Count(`[data-agree]:checked`) > 0 || len(visitor.payments(registration)) != 0 {
				t.Error("the box is still ticked, or a payment has begun")
			}
			visitor.Screenshot("document-changed")
			visitor.payByCard()
			visitor.expectMember()
			agreed := visitor.Eval(`fetch("/v1/registrations/` + registration + `").then((response) => response.json())
				.then(({payment}) => payment.agreements.map(({sha256}) => sha256).join())`)
			if !strings.HasSuffix(agreed, hex.EncodeToString(hash[:])) {
				t.Errorf("the payment has %s", agreed)
			}
		})
	}
}

// TestDocumentInBrowser: a document is readable by everybody, and is not part of the site.
func TestDocumentInBrowser(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.fillCart()
	visitor.WaitVisible(`a[data-document="terms"]`)
	visitor.Open(visitor.Eval(`document.querySelector('a[data-document="terms"]').href`))
	visitor.WaitVisible(`h1`)
	if visitor.Text() == "" || visitor.Overflow() > 0 {
		t.Errorf("it is %d too wide, or empty:\n%s", visitor.Overflow(), visitor.Text())
	}
	if origin := visitor.Eval(`window.origin`); origin != "null" {
		t.Errorf("the document acts as %s", origin)
	}
}
