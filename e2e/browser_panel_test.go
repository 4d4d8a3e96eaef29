package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// besideSite opens the site of a mock in a browser, with the panel closed beside it.
func besideSite(t *testing.T, width, height int) (*frontdesktest.Browser, frontdesktest.Panel, *frontdesktest.Client, string) {
	t.Helper()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	b := frontdesktest.NewBrowser(t, width, height)
	return b, b.Panel(), c, strings.Replace(c.URL, "127.0.0.1", "localhost", 1)
}

// TestPanelInBrowser signs a mandate with the code that the panel's phone shows,
// loses the answer of the payment by one of its switches, and begins again.
func TestPanelInBrowser(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"desktop": {1280, 900}, "phone": {390, 844}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, panel, c, site := besideSite(t, size[0], size[1])
			fillIn(b, site+"/?club=11&offer="+directDebit+"&startDate=2031-03-01")
			b.Click(`a[data-mandate]`)
			b.Fill(`[data-field="holder"]`, "Ada Martin")
			panel.See(`.handle`)
			panel.Click(`.handle`)
			panel.Tab("values")
			panel.Click(`[data-value^="FR14"][data-value$="606"]`)
			if iban := b.Value(`[data-field="iban"]`); !strings.EqualFold(iban, goodIBAN) {
				t.Errorf("the panel filled in %q", iban)
			}
			b.Shot("values")
			b.Click(`form[data-form="mandate"] [data-continue]`)
			panel.See(`[data-latest] [data-code]`) // on whatever tab
			panel.Tab("phone")
			panel.See(`.pane [data-code="` + smsCode(c) + `"]`)
			b.Shot("phone")
			panel.Click(`.pane [data-code]`)
			if code := b.Value(`[data-field="code"]`); code != smsCode(c) {
				t.Errorf("the panel filled in %q", code)
			}
			b.Click(`form[data-form="signature"] [data-continue]`)
			b.See(`[data-mandate="signed"]`)

			panel.Tab("faults")
			panel.Click(`[data-fault="lost"]`)
			panel.See(`[data-fault="lost"][aria-checked="true"]`)
			b.Shot("faults")
			b.Click(`[data-pay]`)
			payAt(b, "4242424242424242")
			b.See(`[data-state="attention"]`)
			b.See(`[data-payment="in_doubt"]`)
			panel.See(`[data-fault="lost"][aria-checked="false"]`)
			if r := recordsOf(c); len(r.Ledger.Items) != 1 {
				t.Errorf("the ledger holds %+v", r.Ledger.Items)
			}

			panel.Tab("world")
			b.Shot("world")
			panel.Click(`[data-reset]`)
			b.See(`[data-step="club"] [data-club]`)
			panel.See(`[data-pane="world"]`) // it was open, and is
			if b.Count(`[data-resume]`) != 0 {
				t.Error("after the reset the page still knows its registration")
			}
			if r := recordsOf(c); len(r.Ledger.Items) != 0 {
				t.Errorf("after the reset the ledger holds %+v", r.Ledger.Items)
			}
		})
	}
}

// TestPanelShowsRequests opens the panel by its key, and follows a request to what was asked of the club system.
func TestPanelShowsRequests(t *testing.T) {
	t.Parallel()
	b, panel, c, site := besideSite(t, 1440, 900)
	b.Open(site)
	b.See(`[data-club]`)
	panel.See(`.handle`)
	panel.Key()
	panel.See(`[data-pane="requests"]`)
	panel.Unsee(`.handle`)
	if over := b.Overflow(); over > 0 {
		t.Errorf("the panel makes the page %d pixels too wide", over)
	}
	fillIn(b, site+"/?club=11&offer=201&startDate=2031-03-01")
	b.See(`[data-pay]`)
	start := ""
	for _, answer := range answersOf(c, "demo") {
		if answer.Path == "/v1/registrations" {
			start = answer.TraceID
		}
	}
	row := `details[data-trace="` + start + `"]`
	panel.See(row + `[data-calls="5"]`)
	panel.Click(row + ` summary`)
	for _, operation := range []string{"createContact", "createSale", "addArticle", "checkSale", "getSale"} {
		panel.See(row + ` [data-operation="` + operation + `"]`)
	}
	b.Shot("requests")

	c.Do("POST", "/v1/registrations", `{"clubId": "11", "person": {}}`, frontdesktest.Key("")).Problem(api.InvalidRequest) // from elsewhere, in the same world
	panel.See(`summary .code`)
	if text := panel.Text(); !strings.Contains(text, "invalid_request") {
		t.Errorf("the panel says\n%s", text)
	}
	panel.Click(`[data-key="clear"]`)
	panel.Unsee(row)

	panel.Key()
	panel.See(`.handle`)
	b.Reload()
	panel.See(`.handle`)
	panel.Unsee(`.panel`)
}

// TestPanelKeyIsTheFieldsWhileTyping leaves the key to whoever types.
func TestPanelKeyIsTheFieldsWhileTyping(t *testing.T) {
	t.Parallel()
	b, panel, _, site := besideSite(t, 1280, 900)
	b.Open(site + "/?club=11&offer=201&startDate=2031-03-01")
	panel.See(`.handle`)
	b.Click(`[data-field="givenName"]`)
	panel.Key()
	if name := b.Value(`[data-field="givenName"]`); name != "`" {
		t.Errorf("in the field stands %q", name)
	}
	panel.Unsee(`.panel`)
}

// TestPanelSwitchesWebhooksAndFaults: what it sends is what its curl lines say, and it mends all of it.
func TestPanelSwitchesWebhooksAndFaults(t *testing.T) {
	t.Parallel()
	b, panel, c, site := besideSite(t, 1280, 900)
	faults := func() (list clubsim.Items[clubsim.Fault]) {
		c.Control("GET", "faults", nil).Into(http.StatusOK, &list)
		return list
	}
	webhooks := func() (settings struct{ Webhooks string }) {
		c.Do("GET", "/sandbox/settings", nil).Into(http.StatusOK, &settings)
		return settings
	}
	c.Control("PUT", "faults", `[{"match": {"path": "/optins"}, "kind": "malformed"}]`).Into(http.StatusOK, nil)
	b.Open(site)
	panel.Key()
	panel.Tab("faults")
	for _, fault := range []string{"slow", "sms", "lost"} {
		panel.Click(`[data-fault="` + fault + `"]`)
		panel.See(`[data-fault="` + fault + `"][aria-checked="true"]`)
	}
	var kinds []string
	for _, fault := range faults().Items {
		kinds = append(kinds, fault.Kind)
	}
	// What is for every call comes last, or the others would never hit.
	if got := strings.Join(kinds, " "); got != "malformed error_before error_before drop_after delay" {
		t.Errorf("switched on: %s", got)
	}
	panel.Click(`[data-fault="slow"]`)
	panel.See(`[data-fault="slow"][aria-checked="false"]`)
	if left := faults(); len(left.Items) != 4 {
		t.Errorf("left: %+v", left)
	}
	panel.Click(`input[value="late"]`)
	frontdesktest.Eventually(t, "webhooks are late", func() bool { return webhooks().Webhooks == "late" })
	c.Do("PUT", "/sandbox/settings", map[string]string{"webhooks": "drop"}).Into(http.StatusOK, nil) // by curl
	panel.See(`input[value="drop"]:checked`)
	panel.Click(`[data-mend]`)
	panel.Unsee(`[data-mend]`)
	if left := faults(); len(left.Items) != 0 || webhooks().Webhooks != "normal" {
		t.Errorf("left: %+v, webhooks %s", left, webhooks().Webhooks)
	}
}

// TestPanelEntersAnotherWorld: the page works in the world that the panel has chosen, after a reload too.
func TestPanelEntersAnotherWorld(t *testing.T) {
	t.Parallel()
	b, panel, c, site := besideSite(t, 1280, 900)
	b.Open(site)
	panel.Key()
	panel.Click(`[data-world]`)
	for _, wrong := range []string{"acme", "demo-/"} {
		typeIn(b, wrong)
		panel.Click(`[data-enter]`)
		panel.See(`[data-said="failed"]`)
	}
	typeIn(b, "demo-elsewhere")
	panel.Click(`[data-enter]`)
	b.See(`[data-club]`)
	b.Reload()
	b.See(`[data-club]`)
	panel.See(`[data-pane="world"]`)
	if text := panel.Text(); !strings.Contains(text, "demo-elsewhere") {
		t.Errorf("the panel says\n%s", text)
	}
	elsewhere := *c
	elsewhere.World = "demo-elsewhere"
	if calls := elsewhere.Calls(); len(calls) == 0 {
		t.Error("the page does not work in the world that was chosen")
	}
	panel.Click(`[data-advance="P1D"]`)
	panel.See(`[data-clock="set"]`)
}

// typeIn fills in the name of a world.
func typeIn(b *frontdesktest.Browser, world string) {
	b.Panel().See(`[data-field="world"]`)
	b.Panel().Fill(`[data-field="world"]`, world)
}

// TestPanelPersonas: a click makes the developer somebody, by the addresses to
// which the club's logins lead back.
func TestPanelPersonas(t *testing.T) {
	t.Parallel()
	b, panel, _, site := besideSite(t, 1280, 900)
	b.Open(site)
	panel.Key()
	panel.Tab("people")
	if n := panel.Count(`[data-persona]`); n != 6 || panel.Count(`[data-bring]`) != 0 {
		t.Errorf("%d personas; without a registration %d accounts can be brought into it", n, panel.Count(`[data-bring]`))
	}
	panel.Click(`[data-sign-in="debtor"]`)
	b.See(`main[data-step]`)
	frontdesktest.Eventually(t, "the login leads back", func() bool { return strings.Contains(panel.Arrived(), "/?me#identityToken=eyJ") })

	fillIn(b, site+"/?club=11&offer=201&startDate=2031-03-01")
	b.See(`[data-pay]`)
	registration := b.Registration()
	panel.Click(`[data-bring="prospect"]`)
	frontdesktest.Eventually(t, "the club system's login leads back", func() bool {
		return strings.Contains(panel.Arrived(), "/?registration="+registration+"&step=prospect#accessToken=")
	})
}

// TestPanelKeepsNobodyOut holds each of its tabs against the rules of accessibility.
func TestPanelKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"desktop": {1280, 900}, "phone": {390, 844}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, panel, _, site := besideSite(t, size[0], size[1])
			b.Open(site)
			b.See(`[data-club]`)
			panel.See(`.handle`)
			panel.Audit("closed")
			panel.Key()
			for _, tab := range []string{"requests", "people", "phone", "values", "faults", "world"} {
				panel.Tab(tab)
				panel.Audit(tab)
			}
			if over := b.Overflow(); over > 0 {
				t.Errorf("the panel makes the page %d pixels too wide", over)
			}
		})
	}
}
