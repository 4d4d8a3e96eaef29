package site_test

import (
	"encoding/json"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// says checks that each text is visible on the page.
func (g *siteVisitor) says(texts ...string) {
	g.t.Helper()
	for _, text := range texts {
		if all := strings.ReplaceAll(g.Text(), "\u00a0", " "); !strings.Contains(all, text) {
			g.t.Errorf("%q cannot be seen, but:\n%s", text, all)
		}
	}
}

// TestOffersOnAPhone checks that the offers are grouped as the operator configured, with a link to each
// group, one recommendation, the most important terms, and a picture of the club, in the visitor's
// language.
func TestOffersOnAPhone(t *testing.T) {
	t.Parallel()
	for language, words := range map[string]struct {
		groups    []string
		about     []string
		recommend string
	}{
		"en-GB": {
			[]string{"No commitment", "Fixed term", "Paid once"},
			[]string{
				"Ages 60 and over", "Weekday mornings with a coach", "Ages 14 to 17", "Monday to Friday, 9:00 to 17:00",
				"€93.90 due today", "€704.00", "Access Badge, €5.00",
				"€5.90 per week, until you cancel, debited every month (about €25.57)", "per month for 3 months",
				"debited every 4 weeks (€27.60)",
			}, "Recommended",
		},
		"fr-FR": {
			[]string{"Sans engagement", "Avec engagement", "Paiement en une fois"},
			[]string{
				"Dès 60 ans", "De 14 à 17 ans", "Heures creuses", "Engagement 12", "Noctambule annuel",
				"93,90 € à payer aujourd’hui", "Badge d’accès, 5,00 €", "Frais d’inscription",
			}, "Recommandée",
		},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			visitor := newSiteVisitor(t, phone)
			visitor.SetLanguage(language)
			visitor.goTo("/?club=11")
			visitor.WaitVisible(`[data-about]`)
			visitor.says(append(words.groups, words.about...)...)
			n, said := visitor.Count(`[data-recommended]`), visitor.TextOf(`.offer-list:first-of-type > :first-child [data-recommended]`)
			if n != 1 || said != words.recommend {
				t.Errorf("%d offers are recommended; the first one says %q", n, said)
			}
			for i, name := range words.groups {
				visitor.Eval(`(document.querySelectorAll("[data-jump]")[` + string(rune('0'+i)) + `].click(), "")`)
				visitor.Await(
					"the group "+name+" is at the top",
					`document.activeElement.matches("h2") && document.activeElement.innerText === "`+name+`" &&
						document.activeElement.getBoundingClientRect().top < innerHeight / 3`,
				)
			}
			visitor.Screenshot("group")
			visitor.Eval(`(document.querySelector("[data-image]").scrollIntoView(), "")`)
			visitor.Await("the club's picture is shown", `document.querySelector("[data-image]").naturalWidth > 0`)
			visitor.Screenshot("club")
			visitor.expectFits()
		})
	}
}

// TestCategoryAfterAReload checks that a reload, and the way back from an offer, show the category that the visitor chose.
func TestCategoryAfterAReload(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goTo("/?club=11")
	visitor.Click(`label:has([data-category="counter"])`)
	visitor.Reload()
	visitor.WaitVisible(`[data-category="counter"]:checked`)
	visitor.Click(`[data-offer] [data-choose]`)
	visitor.WaitVisible(`form[data-form="person"]`)
	visitor.Click(`.back`)
	visitor.WaitVisible(`[data-category="counter"]:checked`)
	visitor.Back()
	visitor.WaitVisible(`form[data-form="person"]`)
	visitor.goTo("/?club=11&category=none-such")
	visitor.WaitVisible(`[data-category="subscription"]:checked`)
	visitor.WaitVisible(`[data-offer] [data-choose]`)
}

// TestCategoryOfAnInvitation: a visitor whose invitation was refused can look at all offers, without a new attempt for each.
func TestCategoryOfAnInvitation(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.ExpectConsole("status of 422")
	visitor.goTo("/?club=11&invitation=" + strings.Repeat("A", 43))
	visitor.WaitVisible(`[data-error="invitation_invalid"]`)
	visitor.WaitVisible(`[data-offer] [data-choose]`)
	visitor.Click(`label:has([data-category="counter"])`)
	visitor.WaitVisible(`[data-category="counter"]:checked`)
	visitor.WaitVisible(`[data-error="invitation_invalid"]`)
	starts := `performance.getEntriesByType("resource").filter(({ name }) => name.endsWith("/v1/registrations")).length`
	if n := frontdesktest.Eval[int](visitor.Browser, starts); n != 1 {
		t.Errorf("the invitation was sent %d times", n)
	}
}

// TestConsentsOnTheLastPage checks that a new member can allow what the club may send, and that the
// club has the consent.
func TestConsentsOnTheLastPage(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.fillCart()
	visitor.payByCard()
	visitor.WaitVisible(`[data-consents-offer]`)
	visitor.says("You’re in!", "Stay in touch", "News", "Save")
	if n := visitor.Count(`[data-consents-offer] input:checked`); n != 0 {
		t.Errorf("%d consents are ticked before the visitor has said anything", n)
	}
	registration := visitor.Registration()
	id := visitor.Attribute(`[data-consents="news"] input[data-channel="email"]`, "data-consent")
	visitor.Click(`label[for="consent-` + id + `"]`)
	visitor.Await("one change can be saved", `document.querySelector("#save").innerText === "Save 1 change"`)
	const asks = `String(!dispatchEvent(new Event("beforeunload", { cancelable: true })))`
	if visitor.Eval(asks) != "true" {
		t.Error("the browser would leave the page without asking about the change")
	}
	visitor.Click(`#save`)
	visitor.WaitVisible(`[data-saved="1"]`)
	visitor.says("Your choice is saved.")
	if visitor.Eval(asks) != "false" {
		t.Error("the browser asks about a change that is saved")
	}
	visitor.Screenshot("saved")
	var allowed struct{ Items []api.Consent }
	response := visitor.Eval(`fetch("/v1/registrations/` + registration + `/consents").then((response) => response.text())`)
	if err := json.Unmarshal([]byte(response), &allowed); err != nil {
		t.Fatal(err)
	}
	for _, consent := range allowed.Items {
		if !consent.Locked && consent.Authorized != (consent.Id == id) {
			t.Errorf("the club has %+v", consent)
		}
	}
	if visitor.calls("updateOptin") != 1 {
		t.Errorf("%d consents were changed at the club", visitor.calls("updateOptin"))
	}
}

// TestSandboxPage checks that a developer sees the payments of one world, and can change its settings.
func TestSandboxPage(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, desktop)
	visitor.fillCart()
	visitor.payByCard()
	visitor.expectMember()
	visitor.goTo(frontdesktest.MerchantPage)
	visitor.says(visitor.c.World, "1, newest first", "€459.00", "captured", "of this world")
	visitor.Screenshot("payments")
	visitor.Eval(`(document.querySelector("[name=webhooks]").value = "late", "")`)
	visitor.Click(`form[action="settings"] button`)
	visitor.Await("the page of the server has the setting", `document.querySelector("[name=webhooks] option[selected]")?.text === "late"`)
	if webhooks := visitor.c.ProcessorSettings().Webhooks; webhooks != "late" {
		t.Errorf("the world's webhooks are %q", webhooks)
	}
	other := visitor.c.WithT(t)
	other.World = "demo-of-another-test"
	if webhooks := other.ProcessorSettings().Webhooks; webhooks != "normal" {
		t.Errorf("another world's webhooks are %q", webhooks)
	}
	visitor.UseWorld(&frontdesktest.Client{})
	visitor.goTo(frontdesktest.MerchantPage + "?world=" + other.World)
	visitor.says("No payment yet.")
}
