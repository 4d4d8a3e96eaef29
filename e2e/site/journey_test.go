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
	"a new member pays by card": func(visitor *siteVisitor) {
		visitor.goTo("/")
		visitor.chooseClub()
		visitor.chooseOffer("subscription", cardOffer)
		visitor.giveDetails()
		due, registration := visitor.due(), visitor.Registration()
		visitor.payByCard()
		visitor.expectMember()
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"direct debit with a mandate and a code": func(visitor *siteVisitor) {
		visitor.goTo("/?club=11")
		visitor.chooseOffer("subscription", frontdesktest.DirectDebit)
		visitor.giveDetails()
		if visitor.Count(`[data-pay]`) != 0 {
			visitor.t.Error("one can pay before the mandate is signed")
		}
		visitor.setUpDirectDebit()
		due, registration := visitor.due(), visitor.Registration()
		visitor.payByCard()
		visitor.expectMember()
		visitor.WaitVisible(`[data-coming="` + frontdesktest.DirectDebit + `"] [data-kind="debit"]`)
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due, codes: 1})
	},
	"a free trial": func(visitor *siteVisitor) {
		visitor.goTo("/?club=11")
		visitor.chooseOffer("test_session", frontdesktest.FreeTrial)
		visitor.giveDetails()
		if due := visitor.due(); due != 0 || visitor.Count(`[data-later]`) != 0 {
			visitor.t.Errorf("%d cents are due, in:\n%s", due, visitor.Text())
		}
		registration := visitor.Registration()
		visitor.Click(`[data-pay]`)
		visitor.expectMember()
		visitor.settled("free")
		visitor.expectRecords(registration, expectedRecords{validated: 1})
	},
	"a visitor pays later at the club": func(visitor *siteVisitor) {
		visitor.fillCart()
		registration := visitor.Registration()
		visitor.Click(`[data-later] summary`)
		visitor.Click(`[data-pay-later]`)
		visitor.expectMember()
		visitor.settled("later")
		visitor.expectRecords(registration, expectedRecords{deferred: 1})
	},
	"a prospect brings their account along": func(visitor *siteVisitor) {
		visitor.fillCart()
		due, registration := visitor.due(), visitor.Registration()
		visitor.Click(`[data-prospect]`)
		visitor.Fill(`[data-field="accessToken"]`, visitor.c.Persona("prospect").AccessToken)
		visitor.Click(`form[data-form="prospect"] [data-continue]`)
		visitor.WaitVisible(`main[data-step="cart"] [data-pay]`)
		visitor.payByCard()
		if number := visitor.expectMember(); number != "13-001003" {
			visitor.t.Errorf("the member is %s, not the contact of the chain", number)
		}
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"a visitor continues on another device": func(visitor *siteVisitor) {
		visitor.fillCart()
		due, registration := visitor.due(), visitor.Registration()
		other := visitor.continueOn(phone)
		other.WaitVisible(`[data-pay]`)
		if other.Registration() != registration || strings.Contains(other.URL(), "resume") {
			visitor.t.Errorf("the other device is at %s", other.URL())
		}
		other.payByCard()
		other.expectMember()
		visitor.Reload()
		visitor.expectMember()
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"a new member stays in touch, and leaves a shared computer": func(visitor *siteVisitor) {
		visitor.fillCart()
		visitor.payByCard()
		visitor.expectMember()
		byMail := `[data-consents-offer] [data-consents="news"] [data-channel="email"]`
		visitor.WaitVisible(byMail)
		if given := visitor.Count(`[data-consents-offer] input:checked`); given != 0 {
			visitor.t.Errorf("%d consents are ticked", given)
		}
		optin := visitor.Attribute(byMail, "data-consent")
		visitor.Click(byMail)
		visitor.Click(`[data-form="consents"] [data-continue]`)
		visitor.WaitVisible(`#consent-` + optin + `-answer[data-answer="changed"]`)
		written := slices.ContainsFunc(visitor.c.Calls(), func(call clubsim.Request) bool {
			return call.Method == "PUT" && strings.HasSuffix(call.Path, "/optins/"+optin)
		})
		if !written {
			visitor.t.Error("the club system did not receive the consent")
		}
		visitor.Reload()
		visitor.WaitVisible(byMail + `:checked`)
		address := visitor.URL()
		visitor.Click(`[data-sign-off]`)
		visitor.WaitVisible(`main[data-step="club"]`)
		visitor.ExpectConsole("status of 401")
		visitor.Open(address)
		visitor.WaitVisible(`main[data-state="missing"]`)
	},
	"a member is invited by the club": func(visitor *siteVisitor) {
		link := visitor.invited("1001")
		visitor.Open(link)
		visitor.WaitVisible(`main[data-step="offer"] [data-offer]`)
		visitor.chooseOffer("subscription", "201")
		visitor.WaitVisible(`[data-pay]`)
		if visitor.Count(`[data-field="givenName"]`) != 0 {
			visitor.t.Error("the club's own member is asked for a name")
		}
		due, registration := visitor.due(), visitor.Registration()
		visitor.payByCard()
		if number := visitor.expectMember(); number != "11-001001" {
			visitor.t.Errorf("the member is %s, not the invited contact", number)
		}
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})

		visitor.ExpectConsole("status of 422")
		visitor.Open(link)
		visitor.WaitVisible(`[data-error="invitation_invalid"]`)
		visitor.WaitVisible(`[data-offer="` + cardOffer + `"] [data-choose]`) // as a newcomer, then
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
	if n := g.Attribute(`[data-mailed]`, "data-mailed"); n != "1" || !strings.Contains(g.TextOf(`[data-mailed]`), "•••@") {
		g.t.Errorf("the confirmation goes to %q", g.TextOf(`[data-mailed]`))
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
