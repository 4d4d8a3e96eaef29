package e2e_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// logIn opens a place of the site as the club's login does for a persona.
func logIn(b *frontdesktest.Browser, c *frontdesktest.Client, place, persona string) {
	b.Open(siteOf(c) + place + "#identityToken=" + c.Persona(persona).IdentityToken)
}

// expectNoToken holds that nothing of a login is left in the address.
func expectNoToken(t *testing.T, b *frontdesktest.Browser) {
	t.Helper()
	if address := b.Address(); strings.ContainsAny(address, "#") || strings.Contains(address, "oken") {
		t.Errorf("the browser is at %s", address)
	}
}

// TestMemberInBrowser: who is logged in at the club sees what it knows of them, until they leave.
func TestMemberInBrowser(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	b := frontdesktest.NewBrowser(t, 390, 844)
	b.Open(siteOf(c))
	b.Click(`[data-log-in]`)
	b.See(`[data-form="login"]`)
	b.Shot("to log in")
	logIn(b, c, "/?me", "debtor") // on the page that is open: only the fragment is another one
	b.See(`[data-me="11-001002"]`)
	expectNoToken(t, b)
	b.Shot("debtor")
	if debt := b.Attribute(`[data-debt]`, "data-debt"); debt != "12400" || b.Attribute(`[data-status-of-me]`, "data-status-of-me") != "customer" || b.Overflow() > 0 {
		t.Errorf("the debt is %s, the page %d pixels too wide:\n%s", debt, b.Overflow(), b.Text())
	}
	b.Reload()
	b.See(`[data-me="11-001002"]`)
	b.Click(`[data-log-out]`)
	b.See(`[data-logged-out="left"]`)
	b.Reload()
	b.See(`[data-logged-out=""] [data-form="login"]`)
	if strings.Contains(b.Text(), "11-001002") {
		t.Errorf("somebody who has left is still shown:\n%s", b.Text())
	}

	b.Expect("status of 401")
	b.Open(siteOf(c) + "/?me&step=consents#identityToken=" + strings.Replace(c.Persona("customer").IdentityToken, ".", ".x", 1))
	b.See(`[data-logged-out="expired"]`)
	b.Shot("refused")
}

// TestLoginEndsInBrowser: the page forgets who the visitor is when the login's word ends, and says so.
func TestLoginEndsInBrowser(t *testing.T) {
	t.Parallel()
	const secret = "a secret that is long enough for anybody"
	c := frontdesktest.NewClient(t, frontdesktest.Start(t, "FRONTDESK_IDENTITY_SECRET="+secret).URL)
	b := frontdesktest.NewBrowser(t, 1280, 900)
	now := time.Now()
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "1001", "club": "11", "iat": now.Unix(), "exp": now.Add(8 * time.Second).Unix()}).SignedString([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	b.Open(siteOf(c) + "/?me&step=consents#identityToken=" + token)
	b.See(`[data-consents="news"]`)
	b.See(`[data-logged-out="expired"]`)
	b.Shot("expired")
	if b.Count(`[data-consent]`) != 0 {
		t.Error("consents are shown to nobody")
	}
}

// TestConsentsInBrowser gives and withdraws consents, and is told of each what became of it.
func TestConsentsInBrowser(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"desktop": {1280, 900}, "small phone": {320, 640}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
			b := frontdesktest.NewBrowser(t, size[0], size[1])
			logIn(b, c, "/?me", "customer")
			b.Click(`[data-way="consents"]`)
			byMail, bySMS := `[data-consents="news"] [data-channel="email"]`, `[data-consents="partners"] [data-channel="text_message"]`
			b.See(byMail)
			if locked := b.Count(`[data-consents="legal"] input:disabled:checked`); locked != 3 || b.Overflow() > 0 {
				t.Errorf("%d of 3 mandatory consents cannot be changed, the page is %d pixels too wide", locked, b.Overflow())
			}
			news, partners := b.Attribute(byMail, "data-consent"), b.Attribute(bySMS, "data-consent")
			b.Click(byMail)
			b.Click(bySMS)
			b.Shot("wishes")
			c.Control("PUT", "faults", `[{"match":{"method":"PUT","path":"/optins/`+partners+`"},"kind":"error_before","status":500}]`).Into(http.StatusOK, nil)
			b.Click(`[data-form="consents"] [data-continue]`)
			b.See(`[data-saved="1"][data-failed="1"]`)
			b.See(`#consent-` + news + `-answer[data-answer="changed"]`)
			b.See(`#consent-` + partners + `-answer[data-answer="failed"]`)
			b.Shot("partly")
			c.Control("PUT", "faults", `[]`).Into(http.StatusOK, nil)
			b.Click(`[data-form="consents"] [data-continue]`)
			b.See(`#consent-` + partners + `-answer[data-answer="changed"]`)
			b.See(`[data-receipts="2"]`)
			b.Reload()
			b.See(byMail + `:checked`)
			b.See(bySMS + `:checked`)
			b.Click(byMail)
			b.Click(`[data-form="consents"] [data-continue]`)
			b.See(`#consent-` + news + `-answer[data-answer="changed"]`)
			b.Shot("withdrawn")
			expectConsents(t, c, map[string]bool{news: false, partners: true})
		})
	}
}

// expectConsents holds what the club system was told at last of a customer's consents.
func expectConsents(t *testing.T, c *frontdesktest.Client, want map[string]bool) {
	t.Helper()
	var list api.ConsentList
	c.As("customer").Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &list)
	for _, consent := range list.Items {
		if consent.Authorized != (want[consent.Id] || consent.Locked) {
			t.Errorf("the club system holds %+v", consent)
		}
	}
	writes := 0
	for _, call := range c.Calls() {
		if call.Method == "PUT" && strings.Contains(call.Path, "/optins/") && call.Status < http.StatusBadRequest {
			writes++
		}
	}
	if writes != 3 {
		t.Errorf("the club system was written to %d times, want 3", writes)
	}
}

// latestCode is the code of the latest SMS.
func latestCode(c *frontdesktest.Client) string {
	var outbox clubsim.Items[clubsim.SMS]
	c.Control("GET", "sms", nil).Into(http.StatusOK, &outbox)
	if len(outbox.Items) == 0 {
		return ""
	}
	return outbox.Items[len(outbox.Items)-1].Code
}

// slipIn is a code with a slip in it.
func slipIn(code string) string {
	n, _ := strconv.Atoi(code[:1])
	return strconv.Itoa((n+1)%10) + code[1:]
}

// TestTransferInBrowser moves to another club, with a slip in the code and a reload in between.
func TestTransferInBrowser(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	b := frontdesktest.NewBrowser(t, 390, 844)
	logIn(b, c, "/?me", "former")
	b.Click(`[data-way="transfer"]`)
	b.Click(`label:has([data-to="13"])`)
	b.Shot("where to")
	if b.Count(`[data-to="12"]`) != 0 || b.Count(`[data-to]`) != 2 {
		t.Errorf("one can move to where one is, or to another chain:\n%s", b.Text())
	}
	b.Click(`[data-form="transfer"] [data-continue]`)
	b.See(`[data-transfer="awaiting_code"] [data-attempts="5"]`)
	b.See(`[data-resend="later"]`)
	b.Expect("status of 422")
	b.Fill(`[data-field="code"]`, slipIn(latestCode(c)))
	b.Click(`[data-form="signature"] [data-continue]`)
	b.See(`[data-error="code_wrong"]`)
	b.See(`[data-attempts="4"]`)
	b.Reload()
	b.See(`[data-transfer="awaiting_code"] [data-attempts="4"]`)
	b.Shot("code")
	b.Fill(`[data-field="code"]`, latestCode(c))
	b.Click(`[data-form="signature"] [data-continue]`)
	b.See(`[data-moved="13"]`)
	b.Shot("moved")
	if club := c.Persona("former").ClubID; !strings.HasSuffix(club, "/clubs/13") {
		t.Errorf("the club system has them in %s", club)
	}
	b.Reload()
	b.See(`[data-moved="13"]`)
	logIn(b, c, "/?me", "former")
	b.See(`[data-me="12-001004"] [data-status-of-me="former_customer"]`)
	if text := b.Text(); !strings.Contains(text, "Lyon") {
		t.Errorf("the new club is not shown:\n%s", text)
	}
}

// TestMemberBuysInBrowser: who is logged in has a price list of their own, and is asked for no details.
func TestMemberBuysInBrowser(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	b := frontdesktest.NewBrowser(t, 1280, 900)
	logIn(b, c, "/?me", "debtor")
	b.Click(`[data-way="buy"]`)
	b.See(`[data-own]`)
	b.See(`[data-choose]`)
	if b.Count(`[data-category="subscription"]`) != 0 && b.Count(`[data-offer="201"]`) != 0 {
		t.Error("a debtor is offered what the club does not sell to debtors")
	}
	logIn(b, c, "/?me&club=11", "customer")
	offer := `[data-offer="201"] [data-choose]`
	b.See(offer)
	b.Shot("own offers")
	b.Click(offer)
	b.Click(`dialog [data-continue]`)
	b.See(`[data-pay]`)
	if b.Count(`[data-correct]`) != 0 || b.Count(`[data-prospect]`) != 0 {
		t.Error("the club's own member is asked who they are")
	}
	b.Click(`[data-pay]`)
	b.See(`#card`)
	b.Fill(`#card`, "4242424242424242")
	b.Click(`[data-action="pay"]`)
	b.See(`[data-member="11-001001"]`)
	r := recordsOf(c)
	if len(r.Ledger.Items) != 1 || !strings.HasSuffix(r.Ledger.Items[0].ContactID, "/1001") {
		t.Fatalf("the ledger holds %+v", r.Ledger.Items)
	}
	expectOnePayment(t, r, int64(r.Ledger.Items[0].Amount))
}

// TestAccountByLoginInBrowser brings an account along by way of the club's login.
func TestAccountByLoginInBrowser(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	b := frontdesktest.NewBrowser(t, 1280, 900)
	b.Open(siteOf(c) + "/?club=11&offer=201&startDate=2031-03-01")
	detailsOf(b)
	b.Click(`[data-prospect]`)
	b.See(`[data-form="prospect"]`)
	b.Expect("status of 422")
	b.Open(b.Address() + "#accessToken=not.mine")
	b.Click(`[data-bring]`)
	b.See(`[data-error="access_token_refused"]`)
	b.See(`[data-form="prospect"]`) // to be logged in to once more
	b.Open(b.Address() + "#accessToken=" + c.Persona("prospect").AccessToken)
	b.See(`[data-logged-in]`)
	b.Shot("logged in")
	expectNoToken(t, b)
	b.Click(`[data-bring]`)
	b.Click(`[data-pay]`)
	b.See(`#card`)
	b.Fill(`#card`, "4242424242424242")
	b.Click(`[data-action="pay"]`)
	b.See(`[data-member="13-001003"]`)
	if r := recordsOf(c); len(r.Ledger.Items) != 1 || !strings.HasSuffix(r.Ledger.Items[0].ContactID, "/1003") || !r.Audit.OK {
		t.Errorf("the records are %+v", r)
	}
}
