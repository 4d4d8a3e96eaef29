package site_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// journeys are the journeys through the signup site, each from its first page to its end, with the
// records that it leaves in the club system and at the processor.
var journeys = map[string]func(*siteVisitor){
	"a new member pays by card": func(g *siteVisitor) {
		g.goTo("/")
		g.chooseClub()
		g.chooseOffer("subscription", cardOffer)
		g.giveDetails()
		due, registration := g.due(), g.Registration()
		g.payByCard()
		g.expectMember()
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"direct debit with a mandate and a code": func(g *siteVisitor) {
		g.goTo("/?club=11")
		g.chooseOffer("subscription", frontdesktest.DirectDebit)
		g.giveDetails()
		if g.Count(`[data-pay]`) != 0 {
			g.t.Error("one can pay before the mandate is signed")
		}
		g.setUpDirectDebit()
		due, registration := g.due(), g.Registration()
		g.payByCard()
		g.expectMember()
		g.WaitVisible(`[data-coming="` + frontdesktest.DirectDebit + `"] [data-kind="debit"]`)
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due, codes: 1})
	},
	"a free trial": func(g *siteVisitor) {
		g.goTo("/?club=11")
		g.chooseOffer("test_session", frontdesktest.FreeTrial)
		g.giveDetails()
		if due := g.due(); due != 0 || g.Count(`[data-later]`) != 0 {
			g.t.Errorf("%d cents are due, in:\n%s", due, g.Text())
		}
		registration := g.Registration()
		g.Click(`[data-pay]`)
		g.expectMember()
		g.settled("free")
		g.expectRecords(registration, expectedRecords{validated: 1})
	},
	"a visitor pays later at the club": func(g *siteVisitor) {
		g.fillCart()
		registration := g.Registration()
		g.Click(`[data-later] summary`)
		g.Click(`[data-pay-later]`)
		g.expectMember()
		g.settled("later")
		g.expectRecords(registration, expectedRecords{deferred: 1})
	},
	"a prospect brings their account along": func(g *siteVisitor) {
		g.fillCart()
		due, registration := g.due(), g.Registration()
		g.Click(`[data-prospect]`)
		g.Fill(`[data-field="accessToken"]`, g.c.Persona("prospect").AccessToken)
		g.Click(`form[data-form="prospect"] [data-continue]`)
		g.WaitVisible(`main[data-step="cart"] [data-pay]`)
		g.payByCard()
		if number := g.expectMember(); number != "13-001003" {
			g.t.Errorf("the member is %s, not the contact of the chain", number)
		}
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"a visitor continues on another device": func(g *siteVisitor) {
		g.fillCart()
		due, registration := g.due(), g.Registration()
		other := g.continueOn(phone)
		other.WaitVisible(`[data-pay]`)
		if other.Registration() != registration || strings.Contains(other.URL(), "resume") {
			g.t.Errorf("the other device is at %s", other.URL())
		}
		other.payByCard()
		other.expectMember()
		g.Reload()
		g.expectMember()
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"a new member stays in touch, and leaves a shared computer": func(g *siteVisitor) {
		g.fillCart()
		g.payByCard()
		g.expectMember()
		byMail := `[data-consents-offer] [data-consents="news"] [data-channel="email"]`
		g.WaitVisible(byMail)
		if given := g.Count(`[data-consents-offer] input:checked`); given != 0 {
			g.t.Errorf("%d consents are ticked", given)
		}
		optin := g.Attribute(byMail, "data-consent")
		g.Click(byMail)
		g.Click(`[data-form="consents"] [data-continue]`)
		g.WaitVisible(`#consent-` + optin + `-answer[data-answer="changed"]`)
		written := slices.ContainsFunc(g.c.Calls(), func(call clubsim.Request) bool {
			return call.Method == "PUT" && strings.HasSuffix(call.Path, "/optins/"+optin)
		})
		if !written {
			g.t.Error("the club system did not receive the consent")
		}
		g.Reload()
		g.WaitVisible(byMail + `:checked`)
		address := g.URL()
		g.Click(`[data-sign-off]`)
		g.WaitVisible(`main[data-step="club"]`)
		g.ExpectConsole("status of 401")
		g.Open(address)
		g.WaitVisible(`main[data-state="missing"]`)
	},
	"a member is invited by the club": func(g *siteVisitor) {
		link := g.invited("1001")
		g.Open(link)
		g.WaitVisible(`main[data-step="offer"] [data-offer]`)
		g.chooseOffer("subscription", "201")
		g.WaitVisible(`[data-pay]`)
		if g.Count(`[data-field="givenName"]`) != 0 {
			g.t.Error("the club's own member is asked for a name")
		}
		due, registration := g.due(), g.Registration()
		g.payByCard()
		if number := g.expectMember(); number != "11-001001" {
			g.t.Errorf("the member is %s, not the invited contact", number)
		}
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})

		g.ExpectConsole("status of 422")
		g.Open(link)
		g.WaitVisible(`[data-error="invitation_invalid"]`)
		g.WaitVisible(`[data-offer="` + cardOffer + `"] [data-choose]`) // as a newcomer, then
	},
}

// TestJourneys runs every journey through the site, on a phone and on a desktop.
func TestJourneys(t *testing.T) {
	t.Parallel()
	for name, walk := range journeys {
		for kind, device := range devices {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				walk(newSiteVisitor(t, device))
			})
		}
	}
}

// settled checks that the page says how the registration was settled.
func (g *siteVisitor) settled(method string) {
	g.t.Helper()
	if how := g.Attribute(`[data-settled]`, "data-settled"); how != method {
		g.t.Errorf("settled as %q, in:\n%s", how, g.Text())
	}
}

// invited returns the link that the club's staff make for a contact.
func (g *siteVisitor) invited(contact string) string {
	g.t.Helper()
	var made struct{ URL string }
	g.c.Do("POST", "http://"+g.gateway.OpsAddress()+"/ops/invitations", map[string]string{"contactId": contact, "clubId": "11"}).
		Into(http.StatusOK, &made)
	return made.URL
}
