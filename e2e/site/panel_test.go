package site_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mail"
)

// mockSite opens the site in mock mode in a browser, with the panel closed.
func mockSite(t *testing.T, width, height int) (*siteVisitor, panel) {
	t.Helper()
	gateway := frontdesktest.NewMock(t)
	g := newSiteVisitorAt(t, device{width, height}, frontdesktest.NewClient(t, gateway.URL), gateway)
	return g, panel{g.browser}
}

// TestPanelInBrowser signs a mandate with the code that the panel's phone shows, drops the response of
// the payment with one of its switches, and starts again.
func TestPanelInBrowser(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"desktop": {1280, 900}, "phone": {390, 844}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			visitor, panel := mockSite(t, size[0], size[1])
			visitor.goTo("/?club=11&offer=" + frontdesktest.DirectDebit + "&startDate=2031-03-01")
			visitor.giveDetails()
			visitor.Fill(`[data-field="holder"]`, "Ada Martin")
			panel.WaitVisible(`.handle`)
			panel.Click(`.handle`)
			panel.OpenTab("values")
			panel.Click(`[data-value^="FR14"][data-value$="606"]`)
			frontdesktest.Eventually(t, "the panel fills in the account", func() bool {
				return strings.EqualFold(visitor.Value(`[data-field="iban"]`), frontdesktest.GoodIBAN)
			})
			visitor.Screenshot("values")
			visitor.Click(`form[data-form="mandate"] [data-continue]`)
			panel.WaitVisible(`[data-latest] [data-code]`) // on any tab
			panel.OpenTab("phone")
			panel.WaitVisible(`.pane [data-code="` + visitor.code() + `"]`)
			visitor.Screenshot("phone")
			panel.Click(`.pane [data-code]`)
			frontdesktest.Eventually(t, "the panel fills in the code", func() bool { return visitor.Value(`[data-field="code"]`) == visitor.code() })
			visitor.Click(`form[data-form="signature"] [data-continue]`)
			visitor.WaitVisible(`[data-mandate="signed"]`)

			panel.OpenTab("faults")
			panel.Click(`[data-fault="lost"]`)
			panel.WaitVisible(`[data-fault="lost"][aria-checked="true"]`)
			visitor.Screenshot("faults")
			visitor.pay()
			visitor.enterCard(frontdesktest.ApprovedCard)
			visitor.WaitVisible(`[data-state="attention"]`)
			visitor.WaitVisible(`[data-payment="in_doubt"]`)
			panel.WaitVisible(`[data-fault="lost"][aria-checked="false"]`)
			if r := visitor.c.Records(); len(r.Ledger) != 1 {
				t.Errorf("the ledger holds %+v", r.Ledger)
			}

			panel.OpenTab("world")
			visitor.Screenshot("world")
			visitor.AllowConsole("status of 404") // the page may read its registration before it goes to its start
			panel.Click(`[data-reset]`)
			visitor.WaitVisible(`[data-step="club"] [data-club]`)
			panel.WaitVisible(`[data-pane="world"]`) // it stayed open
			if visitor.Count(`[data-resume]`) != 0 {
				t.Error("after the reset the page still knows its registration")
			}
			if r := visitor.c.Records(); len(r.Ledger) != 0 {
				t.Errorf("after the reset the ledger holds %+v", r.Ledger)
			}
		})
	}
}

// TestPanelShowsRequests opens the panel with its key, and follows a request to its calls to the club
// system.
func TestPanelShowsRequests(t *testing.T) {
	t.Parallel()
	visitor, panel := mockSite(t, 1440, 900)
	visitor.goTo("/")
	visitor.WaitVisible(`[data-club]`)
	panel.WaitVisible(`.handle`)
	panel.PressKey()
	panel.WaitVisible(`[data-pane="requests"]`)
	panel.WaitHidden(`.handle`)
	if over := visitor.Overflow(); over > 0 {
		t.Errorf("the panel makes the page %d pixels too wide", over)
	}
	visitor.goTo("/?club=11&offer=201&startDate=2031-03-01")
	visitor.giveDetails()
	visitor.WaitVisible(`[data-pay]`)
	start := ""
	for _, response := range answersOf(visitor.c, "demo") {
		if response.Path == "/v1/registrations" {
			start = response.TraceID
		}
	}
	row := `details[data-trace="` + start + `"]`
	panel.WaitVisible(row + `[data-calls="5"]`)
	panel.Click(row + ` summary`)
	for _, operation := range []string{"createContact", "createSale", "addArticle", "checkSale", "getSale"} {
		panel.WaitVisible(row + ` [data-operation="` + operation + `"]`)
	}
	visitor.Screenshot("requests")

	visitor.c.Do("POST", "/v1/registrations", `{"clubId": "11", "person": {}}`, frontdesktest.Key("")).
		Problem(api.InvalidRequest)
		// from outside the page, in the same world
	panel.WaitVisible(`summary .code`)
	if text := panel.Text(); !strings.Contains(text, "invalid_request") {
		t.Errorf("the panel says\n%s", text)
	}
	panel.Click(`[data-key="clear"]`)
	panel.WaitHidden(row)

	panel.PressKey()
	panel.WaitVisible(`.handle`)
	visitor.Reload()
	panel.WaitVisible(`.handle`)
	panel.WaitHidden(`.panel`)
}

// TestPanelKeyIgnoredInFields checks that typing the panel's key in a field does not open the panel.
func TestPanelKeyIgnoredInFields(t *testing.T) {
	t.Parallel()
	g, panel := mockSite(t, 1280, 900)
	g.goTo("/?club=11&offer=201&startDate=2031-03-01")
	panel.WaitVisible(`.handle`)
	g.Click(`[data-field="givenName"]`)
	panel.PressKey()
	if name := g.Value(`[data-field="givenName"]`); name != "`" {
		t.Errorf("the field contains %q", name)
	}
	panel.WaitHidden(`.panel`)
}

// TestPanelSwitchesWebhooksAndFaults checks that the panel's requests match its curl lines, and that it
// can undo all of them.
func TestPanelSwitchesWebhooksAndFaults(t *testing.T) {
	t.Parallel()
	visitor, panel := mockSite(t, 1280, 900)
	faults := func() (list clubsim.Items[clubsim.Fault]) {
		visitor.c.Control("GET", "faults", nil).Into(http.StatusOK, &list)
		return list
	}
	webhooks := func() sandbox.WebhookMode { return visitor.c.ProcessorSettings().Webhooks }
	visitor.c.Control("PUT", "faults", `[{"match": {"path": "/optins"}, "kind": "malformed"}]`).Into(http.StatusOK, nil)
	visitor.goTo("/")
	panel.PressKey()
	panel.OpenTab("faults")
	for _, fault := range []string{"slow", "sms", "lost"} {
		panel.Click(`[data-fault="` + fault + `"]`)
		panel.WaitVisible(`[data-fault="` + fault + `"][aria-checked="true"]`)
	}
	var kinds []string
	for _, fault := range faults().Items {
		kinds = append(kinds, fault.Kind)
	}
	// The fault of every call comes last, or the others would never hit.
	if got := strings.Join(kinds, " "); got != "malformed error_before error_before drop_after delay" {
		t.Errorf("switched on: %s", got)
	}
	panel.Click(`[data-fault="slow"]`)
	panel.WaitVisible(`[data-fault="slow"][aria-checked="false"]`)
	if left := faults(); len(left.Items) != 4 {
		t.Errorf("left: %+v", left)
	}
	panel.Click(`input[value="late"]`)
	frontdesktest.Eventually(t, "webhooks are late", func() bool { return webhooks() == "late" })
	visitor.c.SetProcessor(map[string]string{"webhooks": "drop"}) // with curl
	panel.WaitVisible(`input[value="drop"]:checked`)
	panel.Click(`[data-mend]`)
	panel.WaitHidden(`[data-mend]`)
	if left := faults(); len(left.Items) != 0 || webhooks() != "normal" {
		t.Errorf("left: %+v, webhooks %s", left, webhooks())
	}
}

// TestPanelProvokesProblems has operations of the gateway answer with problems that are chosen from the contract's, until the panel
// removes them.
func TestPanelProvokesProblems(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"desktop": {1280, 900}, "phone": {390, 844}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			visitor, panel := mockSite(t, size[0], size[1])
			visitor.ExpectConsole("503 (Service Unavailable)")
			visitor.goTo("/?club=11&offer=201&startDate=2031-03-01")
			visitor.giveDetails()
			visitor.WaitVisible(`[data-pay]`)
			panel.Click(`.handle`)
			panel.OpenTab("faults")
			panel.Choose(`[data-operations]`, "GET /v1/clubs")
			panel.Choose(`[data-operations]`, "POST /v1/registrations/{id}/payment")
			panel.Choose(`[data-problem-code]`, "processor_unavailable")
			visitor.Screenshot("problem")
			panel.Click(`[data-problem="always"]`)
			panel.WaitVisible(`[data-mend]`)
			visitor.Click(`[data-pay]`)
			visitor.WaitVisible(`[data-error="processor_unavailable"]`)
			panel.Click(`[data-fault="slow-api"]`)
			panel.WaitVisible(`[data-fault="slow-api"][aria-checked="true"]`)
			var faults clubsim.Items[clubsim.Fault]
			visitor.c.Control("GET", "faults", nil).Into(http.StatusOK, &faults)
			if len(faults.Items) != 2 || faults.Items[0].Code != "processor_unavailable" || faults.Items[1].Kind != "delay" {
				t.Errorf("the faults are %+v", faults.Items)
			}
			panel.Click(`[data-mend]`)
			panel.WaitHidden(`[data-mend]`)
			visitor.Screenshot("provoked")
		})
	}
}

// TestPanelSwitchesWorld checks that the page works in the world chosen in the panel, even after a
// reload.
func TestPanelSwitchesWorld(t *testing.T) {
	t.Parallel()
	visitor, panel := mockSite(t, 1280, 900)
	visitor.goTo("/")
	panel.PressKey()
	panel.Click(`[data-world]`)
	for _, wrong := range []string{"acme", "demo-/"} {
		enterWorld(panel, wrong)
		panel.Click(`[data-enter]`)
		panel.WaitVisible(`[data-said="failed"]`)
	}
	enterWorld(panel, "demo-elsewhere")
	panel.Click(`[data-enter]`)
	elsewhere := *visitor.c
	elsewhere.World = "demo-elsewhere"
	// The old page shows clubs, too, so only the requests to the new world show that the new page is
	// there.
	frontdesktest.Eventually(t, "the page works in the world that was chosen", func() bool { return len(elsewhere.Calls()) > 0 })
	visitor.WaitVisible(`[data-club]`)
	visitor.Reload()
	visitor.WaitVisible(`[data-club]`)
	panel.WaitVisible(`[data-pane="world"]`)
	if text := panel.Text(); !strings.Contains(text, "demo-elsewhere") {
		t.Errorf("the panel says\n%s", text)
	}
	panel.Click(`[data-advance="P1D"]`)
	panel.WaitVisible(`[data-clock="set"]`)
	panel.Click(`[data-key="leap-back"]`)
	panel.WaitVisible(`[data-clock="real"]`)
	problem := elsewhere.Do("GET", "/v1/clubs/99/products", nil).Problem(api.ClubNotFound)
	panel.OpenTab("requests") // what is new is above what is of a later day
	panel.WaitVisible(`.requests li:first-child [data-trace="` + *problem.TraceId + `"]`)
}

// TestOpenPageSaysThatItIsGone: a page that shows a registration says that it is gone once its world is reset: after its stream was opened
// again, without the ten seconds until it polls.
func TestOpenPageSaysThatItIsGone(t *testing.T) {
	t.Parallel()
	visitor, _ := mockSite(t, 1280, 900)
	visitor.ExpectConsole("status of 404")
	visitor.goTo("/?club=11&offer=201&startDate=2031-03-01")
	visitor.giveDetails()
	visitor.WaitVisible(`[data-pay]`)
	registration := "/v1/registrations/" + visitor.Registration()
	at := func(path string, status int) (times []time.Time) {
		for _, response := range answersOf(visitor.c, "demo") {
			if response.Path == path && response.Status == status {
				times = append(times, response.At)
			}
		}
		return times
	}
	visitor.c.Control("POST", "reset", nil).Into(http.StatusNoContent, nil)
	visitor.WaitVisible(`main[data-state="missing"]`)
	visitor.says("We cannot show this sign-up here")
	visitor.Screenshot("gone")
	refused, polls := at(registration+"/events", http.StatusNotFound), at(registration, http.StatusNotFound)
	if len(refused) == 0 || len(polls) == 0 || polls[0].Sub(refused[0]) > 8*time.Second {
		t.Errorf("the stream was refused at %v, and the page polled at %v", refused, polls)
	}
	visitor.Click(`[data-restart]`)
	visitor.WaitVisible(`[data-club]`)
	if visitor.Count(`[data-resume]`) != 0 {
		t.Error("the page still knows the registration")
	}
}

// TestPanelClockEndsTheSignUp: the page follows the clock that the panel moves, and the visitor starts again in the world's new day.
func TestPanelClockEndsTheSignUp(t *testing.T) {
	t.Parallel()
	visitor, panel := mockSite(t, 1280, 900)
	visitor.goTo("/?club=11&offer=201&startDate=2031-03-01")
	visitor.giveDetails()
	visitor.WaitVisible(`[data-pay]`)
	panel.PressKey()
	panel.OpenTab("world")
	panel.Click(`[data-advance="P1D"]`)
	panel.WaitVisible(`[data-clock="set"]`)
	visitor.WaitVisible(`main[data-state="expired"]`)
	visitor.says("It was left open for too long")
	panel.PressKey()
	visitor.goTo("/?club=11&offer=201&startDate=2031-03-01")
	visitor.giveDetails()
	visitor.payByCard()
	visitor.expectMember()
}

// enterWorld fills in the name of a world.
func enterWorld(p panel, world string) {
	p.WaitVisible(`[data-field="world"]`)
	p.Fill(`[data-field="world"]`, world)
}

// TestPanelPersonas: a click logs the developer in as a persona, through the return
// addresses of the club's logins.
func TestPanelPersonas(t *testing.T) {
	t.Parallel()
	visitor, panel := mockSite(t, 1280, 900)
	visitor.goTo("/")
	panel.PressKey()
	panel.OpenTab("people")
	if n := panel.Count(`[data-persona]`); n != 9 || panel.Count(`[data-bring]`) != 0 {
		t.Errorf("%d personas; without a registration %d accounts can be brought into it", n, panel.Count(`[data-bring]`))
	}
	panel.Click(`[data-sign-in="debtor"]`)
	visitor.WaitVisible(`main[data-step]`)
	panel.AwaitLoadedAt("/?me#identityToken=eyJ") // the club's login redirects back

	visitor.goTo("/?club=11&offer=201&startDate=2031-03-01")
	visitor.giveDetails()
	visitor.WaitVisible(`[data-pay]`)
	registration := visitor.Registration()
	panel.Click(`[data-bring="prospect"]`)
	panel.AwaitLoadedAt("/?registration=" + registration + "&step=prospect#accessToken=") // the club system's login redirects back
}

// TestPanelAccessibility checks each tab against the rules of accessibility.
func TestPanelAccessibility(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"desktop": {1280, 900}, "phone": {390, 844}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			visitor, panel := mockSite(t, size[0], size[1])
			visitor.goTo("/")
			visitor.WaitVisible(`[data-club]`)
			panel.WaitVisible(`.handle`)
			panel.Audit("closed")
			panel.PressKey()
			for _, tab := range []string{"requests", "people", "phone", "values", "faults", "world"} {
				panel.OpenTab(tab)
				panel.Audit(tab)
			}
			if over := visitor.Overflow(); over > 0 {
				t.Errorf("the panel makes the page %d pixels too wide", over)
			}
		})
	}
}

// TestPanelMailbox: a mail appears while the panel is open, looks as in a mail program, and its link to the site opens in this page.
func TestPanelMailbox(t *testing.T) {
	t.Parallel()
	visitor, panel := mockSite(t, 1280, 900)
	visitor.goTo("/")
	panel.WaitVisible(`.handle`)
	panel.Click(`.handle`)
	panel.OpenTab("mail")
	panel.WaitVisible(`.pane .empty`)
	client, err := mail.New(mail.Config{URL: "smtp://" + visitor.gateway.AddressOf("mails"), From: "signup@clubs.example", NameWorld: true})
	frontdesktest.Must(t, err)
	link := visitor.home + "/?club=11&offer=201&startDate=2031-03-01"
	html, text := mail.Render(mail.Page{Language: "en", Title: "Your contract", Blocks: []mail.Block{
		{Paragraphs: []string{"It is confirmed."}, Link: &mail.Link{Text: "Read it again", URL: link}},
	}})
	frontdesktest.Must(t, client.Send(t.Context(), mail.Message{ID: "one", Organisation: "demo", To: "ada@visitor.example", Language: "en",
		Subject: "Your contract", Text: text, HTML: html}, time.Now()))
	panel.WaitVisible(`[data-mail]`)
	if words := panel.Text(); !strings.Contains(words, "ada@visitor.example") || !strings.Contains(words, "Your contract") {
		t.Errorf("the panel says\n%s", words)
	}
	visitor.Screenshot("mail")
	panel.Click(`[data-follow="` + link + `"]`)
	visitor.WaitVisible(`[data-field="givenName"]`)
	visitor.goTo("/sim/demo/_control/mail/1")
	visitor.WaitVisible(`h1`)
	visitor.Screenshot("mail-page")
}
