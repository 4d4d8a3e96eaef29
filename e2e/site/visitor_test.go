package site_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
)

// device is the size of the visitor's screen.
type device struct{ width, height int }

var (
	phone   = device{390, 844}
	desktop = device{1280, 900}
	devices = map[string]device{"phone": phone, "desktop": desktop}
)

// Cards with a known effect, and offers that lead through the whole site.
const (
	declinedCard  = "4000000000000002"
	challengeCard = "4000002500003155" // the bank asks first

	cardOffer = "101" // a year, paid by card
)

// siteVisitor is a visitor of the signup site, in a world of their own. Its methods are named after the
// visitor's actions; each waits for its effect.
type siteVisitor struct {
	browser
	t       *testing.T
	c       *frontdesktest.Client
	gateway *frontdesktest.Process
	home    string // the site's address
}

func newSiteVisitor(t *testing.T, with device) *siteVisitor {
	t.Helper()
	c, gateway := frontdesktest.NewWorld(t)
	return newSiteVisitorAt(t, with, c, gateway)
}

// newSiteVisitorAt returns a guest of a gateway's site, in the world of a front end.
func newSiteVisitorAt(t *testing.T, with device, c *frontdesktest.Client, gateway *frontdesktest.Process) *siteVisitor {
	t.Helper()
	return &siteVisitor{
		browser: newBrowser(t, with, c),
		t:       t,
		c:       c,
		gateway: gateway,
		home:    strings.Replace(gateway.URL, "127.0.0.1", "localhost", 1),
	}
}

// onAnotherDevice returns the same guest on another device.
func (g *siteVisitor) onAnotherDevice(with device) *siteVisitor {
	g.t.Helper()
	other := *g
	other.browser = newBrowser(g.t, with, g.c)
	return &other
}

// resumeLink makes the link that continues the displayed order on another device.
func (g *siteVisitor) resumeLink() string {
	g.t.Helper()
	g.Click(`[data-more] summary`)
	g.Click(`[data-elsewhere]`)
	g.WaitVisible(`[data-resume-link]`)
	return g.Value(`[data-resume-link]`)
}

// continueOn continues the displayed order on another device.
func (g *siteVisitor) continueOn(with device) *siteVisitor {
	g.t.Helper()
	other := g.onAnotherDevice(with)
	other.Open(g.resumeLink())
	return other
}

// inAnotherTab returns the same guest in another tab of the same browser.
func (g *siteVisitor) inAnotherTab() *siteVisitor {
	g.t.Helper()
	other := *g
	other.Browser = g.NewTab()
	other.observeLayoutShifts()
	return &other
}

// goTo opens a place of the site, such as "/?club=11".
func (g *siteVisitor) goTo(place string) {
	g.t.Helper()
	g.Open(g.home + place)
}

func (g *siteVisitor) chooseClub() {
	g.t.Helper()
	g.Click(`[data-club="11"]`)
	g.WaitVisible(`main[data-step="offer"] [data-offer]`)
}

// chooseOffer finds an offer among those of its kind, and chooses it from tomorrow on.
func (g *siteVisitor) chooseOffer(kind, offer string) {
	g.t.Helper()
	g.Click(`label:has([data-category="` + kind + `"])`)
	g.Click(`[data-offer="` + offer + `"] [data-choose]`)
	g.WaitVisible(`dialog [data-continue], main:not([data-step="offer"])`)
	if g.Count(`dialog [data-field="startDate"]`) > 0 {
		g.Fill(`dialog [data-field="startDate"]`, tomorrow())
	}
	if g.Count(`dialog`) > 0 {
		g.Click(`dialog [data-continue]`)
	}
}

// showVariant shows an offer on its product's card.
func (g *siteVisitor) showVariant(offer string) {
	g.t.Helper()
	g.Click(`label:has([data-variant="` + offer + `"])`)
	g.WaitVisible(`[data-offer="` + offer + `"]`)
}

// fillDetails fills in the form of personal details.
func (g *siteVisitor) fillDetails() {
	g.t.Helper()
	person := frontdesktest.Person()
	for field, text := range map[string]string{
		"givenName": person.GivenName, "familyName": person.FamilyName, "birthDate": person.BirthDate, "email": person.Email,
		"mobile": person.Mobile, "street": person.Address.Street, "postalCode": person.Address.PostalCode, "city": person.Address.City,
	} {
		g.Fill(`[data-field="`+field+`"]`, text)
	}
}

// giveDetails submits personal details, and waits for the next step: the mandate, or the cart.
func (g *siteVisitor) giveDetails() {
	g.t.Helper()
	g.fillDetails()
	g.Click(`form[data-form="person"] [data-continue]`)
	g.WaitVisible(`main[data-step="cart"] [data-due], form[data-form="mandate"]`)
}

// fillCart takes the shortest way to a cart that can be paid by card.
func (g *siteVisitor) fillCart() {
	g.t.Helper()
	g.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	g.giveDetails()
	g.WaitVisible(`[data-pay]`)
}

// cardFields are the processor's, on the site and on the gateway's card page, once a card can be entered.
const cardFields = `[data-card-fields="ready"] iframe`

// pay presses the one button, which leads to the card fields.
func (g *siteVisitor) pay() {
	g.t.Helper()
	g.Click(`[data-pay]`)
	g.WaitVisible(cardFields)
}

// enterCard enters a card.
func (g *siteVisitor) enterCard(card string) {
	g.t.Helper()
	g.WaitVisible(cardFields)
	g.FillCard(card)
	g.Click(`[data-pay-card]`)
}

// enterDeclined enters a card that is declined.
func (g *siteVisitor) enterDeclined() {
	g.t.Helper()
	g.ExpectConsole("status of 402")
	g.enterCard(declinedCard)
	g.WaitVisible(`[data-payment="declined"]`)
}

// approve approves the payment on the page of the bank.
func (g *siteVisitor) approve() {
	g.t.Helper()
	g.Click(`[data-answer="true"]`)
}

func (g *siteVisitor) payByCard() {
	g.t.Helper()
	g.pay()
	g.enterCard(frontdesktest.ApprovedCard)
}

// setUpDirectDebit enters a bank account, and signs with the code from the SMS.
func (g *siteVisitor) setUpDirectDebit() {
	g.t.Helper()
	g.giveAccount(frontdesktest.GoodIBAN)
	g.WaitVisible(`[data-attempts="5"]`)
	g.enterCode(g.code())
	g.WaitVisible(`[data-mandate="signed"]`)
}

func (g *siteVisitor) giveAccount(iban string) {
	g.t.Helper()
	g.Fill(`[data-field="holder"]`, "Ada Martin")
	g.Fill(`[data-field="iban"]`, iban)
	g.Click(`form[data-form="mandate"] [data-continue]`)
}

// unfoldDebits shows, next to the account, what it will be debited.
func (g *siteVisitor) unfoldDebits() {
	g.t.Helper()
	g.Click(`form[data-form="mandate"] [data-debits]:not([open]) summary`)
}

func (g *siteVisitor) enterCode(code string) {
	g.t.Helper()
	g.Fill(`[data-field="code"]`, code)
	g.Click(`form[data-form="signature"] [data-continue]`)
}

// code returns the latest code that was sent to any phone.
func (g *siteVisitor) code() string {
	g.t.Helper()
	sent := g.messages()
	if len(sent) == 0 {
		g.t.Fatal("no code was sent")
	}
	return sent[len(sent)-1].Code
}

// expectMember waits for the welcome, which must survive a reload, and returns the member's number.
func (g *siteVisitor) expectMember() string {
	g.t.Helper()
	g.WaitVisible(`main[data-state="completed"] [data-member]`)
	number := g.Attribute(`[data-member]`, "data-member")
	if number == "" || !strings.Contains(g.Text(), number) {
		g.t.Errorf("the member's number %q is not shown in:\n%s", number, g.Text())
	}
	g.Reload()
	g.WaitVisible(`[data-member="` + number + `"]`)
	if g.Count(`[data-pay]`) != 0 {
		g.t.Error("a member can still press pay")
	}
	return number
}

// due returns the amount that the cart shows as due now, in cents.
func (g *siteVisitor) due() int64 {
	g.t.Helper()
	due, _ := strconv.ParseInt(g.Attribute(`[data-due]`, "data-due"), 10, 64)
	return due
}

// expectedRecords is what a journey leaves in the club system and at the processor.
type expectedRecords struct {
	recorded   int64 // cents that the club system holds, of one payment of the sale
	captured   int64 // cents that the card processor took, in one payment
	deferred   int   // sales whose payment the club system has deferred
	validated  int   // sales that cost nothing, and were validated
	codes      int   // SMS
	unfinished int   // payments at the card processor whose money was not taken
}

// expectRecords compares the records of the club system and of the card processor with
// what the visitor did, and checks that no visitor has paid twice.
func (g *siteVisitor) expectRecords(registration string, want expectedRecords) {
	g.t.Helper()
	r := g.c.Records()
	if !r.Audit.OK || len(r.Ledger) > 1 {
		g.t.Errorf("the ledger holds %+v; the audit finds %+v", r.Ledger, r.Audit)
	}
	got := expectedRecords{codes: len(g.messages()), deferred: g.calls("postponeDue"), validated: g.calls("transitionSale")}
	for _, entry := range r.Ledger {
		got.recorded += int64(entry.Amount - entry.OnAccount)
	}
	for _, payment := range g.payments(registration) {
		got.captured += payment.Captured - payment.Refunded
		if payment.Captured == 0 {
			got.unfinished++
		}
	}
	if got != want {
		g.t.Errorf("the records outside are %+v, want %+v", got, want)
	}
}

// messages returns the SMS that were sent in the visitor's world.
func (g *siteVisitor) messages() []clubsim.SMS {
	g.t.Helper()
	var outbox clubsim.Items[clubsim.SMS]
	g.c.Control("GET", "sms", nil).Into(http.StatusOK, &outbox)
	return outbox.Items
}

// calls counts how often the club system has carried out an operation in the visitor's world.
func (g *siteVisitor) calls(operation string) (n int) {
	g.t.Helper()
	for _, call := range g.c.Calls() {
		if call.Operation == operation && call.Status < 300 {
			n++
		}
	}
	return n
}

// payments returns the card processor's payments of a registration.
func (g *siteVisitor) payments(registration string) (own []sandbox.Payment) {
	g.t.Helper()
	for _, payment := range g.c.ProcessorPayments() {
		if payment.Metadata["fd_registration"] == registration {
			own = append(own, payment)
		}
	}
	return own
}

// setFault makes the club system fail at the next calls of a kind, once unless said otherwise.
func (g *siteVisitor) setFault(fault clubsim.Fault) {
	g.t.Helper()
	if fault.Times == nil {
		fault.Times = frontdesktest.Times(1)
	}
	g.c.Control("PUT", "faults", []clubsim.Fault{fault}).Into(http.StatusOK, nil)
}

// tomorrow is a start date that stays valid if the club's midnight passes during a test.
func tomorrow() string { return frontdesktest.Day(1) }

// createRegistration makes a registration without the site, and opens it in the visitor's browser.
func (g *siteVisitor) createRegistration(offer string, person *api.Person) api.Registration {
	g.t.Helper()
	start := tomorrow()
	var registration api.Registration
	g.c.Token = ""
	body := api.StartRegistration{ClubId: "11", Person: person, Items: &[]api.NewItem{{OfferId: offer, StartDate: &start}}}
	g.c.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	g.c.Token = *registration.Token
	g.SetCookie(g.home, "frontdesk-"+registration.Id, g.c.Token)
	return registration
}

// money formats an amount in cents as on an English page.
func money(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }
