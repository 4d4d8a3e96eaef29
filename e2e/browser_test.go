package e2e_test

import (
	"os/exec"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// signUp walks the site from the choice of a club to the cart.
func signUp(b *frontdesktest.Browser, c *frontdesktest.Client, site string) {
	club := c.Club()
	b.Open(site)
	b.Click(`[data-club="` + club + `"]`)
	offer := `[data-offer="` + c.CardOffer(club).Id + `"] [data-choose]`
	b.See(offer)
	b.Shot("offers")
	b.Click(offer)
	b.Click(`dialog [data-continue], [data-continue]`)
	enter(b)
	b.See(`[data-pay]`)
	b.Shot("cart")
}

// freeTrial is the simulator's offer of a trial session.
const freeTrial = "3801"

// fillIn opens the step that asks who registers, and answers.
func fillIn(b *frontdesktest.Browser, address string) {
	b.Open(address)
	enter(b)
}

// enter gives one's details.
func enter(b *frontdesktest.Browser) {
	person := frontdesktest.Person()
	for field, text := range map[string]string{
		"givenName": person.GivenName, "familyName": person.FamilyName, "birthDate": person.BirthDate, "email": string(person.Email),
		"mobile": person.Mobile, "street": person.Address.Street, "postalCode": person.Address.PostalCode, "city": person.Address.City,
	} {
		b.Fill(`[data-field="`+field+`"]`, text)
	}
	b.Shot("person")
	b.Click(`form[data-form="person"] [data-continue]`)
}

// payAt enters a card on the processor's hosted page.
func payAt(b *frontdesktest.Browser, card string) {
	b.See(`#card`)
	b.Shot("processor")
	b.Fill(`#card`, card)
	b.Click(`[data-action="pay"]`)
}

func TestSignupInBrowser(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"desktop": {1280, 900}, "phone": {390, 844}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
			site := strings.Replace(c.URL, "127.0.0.1", "localhost", 1)
			b := frontdesktest.NewBrowser(t, size[0], size[1])
			signUp(b, c, site)
			b.DoubleClick(`[data-pay]`)
			payAt(b, "4242424242424242")
			b.See(`[data-member]`)
			b.Shot("member")
			if number := b.Attribute(`[data-member]`, "data-member"); number == "" || !strings.Contains(b.Text(), number) {
				t.Errorf("the member's number %q is not shown in:\n%s", number, b.Text())
			}
			b.Reload()
			b.See(`[data-member]`)
			if b.Count(`[data-pay]`) != 0 {
				t.Error("a member can still press pay")
			}
			r := recordsOf(c)
			if len(r.Ledger.Items) != 1 {
				t.Fatalf("the ledger holds %+v", r.Ledger.Items)
			}
			expectOnePayment(t, r, int64(r.Ledger.Items[0].Amount))
		})
	}
}

func TestDeclineAndChallengeInBrowser(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	site := strings.Replace(c.URL, "127.0.0.1", "localhost", 1)
	b := frontdesktest.NewBrowser(t, 1280, 900)
	signUp(b, c, site)
	b.Click(`[data-pay]`)
	payAt(b, "4000000000000002")
	b.See(`[data-step="declined"], [role="alert"]`)
	payAt(b, "4000002500003155")
	b.Click(`[data-action="approve"]`)
	b.See(`[data-member]`)
	if r := recordsOf(c); len(r.Ledger.Items) != 1 || !r.Audit.OK {
		t.Errorf("the records are %+v", r)
	}
}

// TestInvitedInBrowser follows a link of the club: somebody whom the club knows is asked for no details.
func TestInvitedInBrowser(t *testing.T) {
	t.Parallel()
	s := newSetting(t)
	gateway, _ := s.gateway(t)
	link, err := exec.CommandContext(t.Context(), frontdesktest.Binary(t), "invite", "--contact", "1001", "--club", "11", "--by", "ada",
		"--ops-addr", gateway.Ops()).Output()
	if err != nil {
		t.Fatal(err)
	}
	b := frontdesktest.NewBrowser(t, 1280, 900)
	b.Open(strings.TrimSpace(string(link)))
	offer := `[data-offer="201"] [data-choose]`
	b.See(offer)
	b.Click(offer)
	b.Click(`dialog [data-continue], [data-continue]`)
	b.See(`[data-pay]`)
	if b.Count(`[data-field="givenName"]`) != 0 {
		t.Error("the club's own member is asked for a name")
	}
	b.Click(`[data-pay]`)
	payAt(b, "4242424242424242")
	b.See(`[data-member="11-001001"]`)
	s.expectOnePayment(t, 14900)

	b.Open(strings.TrimSpace(string(link)))
	b.See(`[data-error="invitation_invalid"]`)
	b.See(offer) // as a newcomer, then
}

func TestLostAnswerInBrowser(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	site := strings.Replace(c.URL, "127.0.0.1", "localhost", 1)
	b := frontdesktest.NewBrowser(t, 1280, 900)
	signUp(b, c, site)
	c.Do("PUT", "/sim/demo/_control/faults", `[{"match":{"method":"POST","path":"/sales/*/payments"},"kind":"drop_after","times":1}]`)
	b.Click(`[data-pay]`)
	payAt(b, "4242424242424242")
	b.See(`[data-state="attention"]`)
	b.Shot("attention")
	if b.Count(`[data-pay]`) != 0 || !strings.Contains(strings.ToLower(b.Text()), "not pay again") {
		t.Errorf("in doubt the page says:\n%s", b.Text())
	}
	if r := recordsOf(c); len(r.Ledger.Items) != 1 {
		t.Errorf("the ledger holds %+v", r.Ledger.Items)
	}
}

// TestFreeTrialInBrowser: what costs nothing is confirmed by one button, and nobody is sent to pay.
func TestFreeTrialInBrowser(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	b := frontdesktest.NewBrowser(t, 1280, 900)
	fillIn(b, strings.Replace(c.URL, "127.0.0.1", "localhost", 1)+"/?club="+c.Club()+"&offer="+freeTrial)
	b.See(`[data-pay]`)
	b.Shot("free")
	if due := b.Attribute(`[data-due]`, "data-due"); due != "0" || b.Count(`[data-later]`) != 0 {
		t.Errorf("due is %s, in:\n%s", due, b.Text())
	}
	b.Click(`[data-pay]`)
	b.See(`[data-member]`)
	b.Shot("booked")
	if how := b.Attribute(`[data-settled]`, "data-settled"); how != "free" {
		t.Errorf("settled as %q, in:\n%s", how, b.Text())
	}
	if r := recordsOf(c); len(r.Ledger.Items) != 0 || !r.Audit.OK {
		t.Errorf("the records are %+v", r)
	}
}

// TestPayLaterInBrowser: the visitor chooses to pay at the club.
func TestPayLaterInBrowser(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	b := frontdesktest.NewBrowser(t, 1280, 900)
	signUp(b, c, strings.Replace(c.URL, "127.0.0.1", "localhost", 1))
	b.Click(`[data-later] summary`)
	b.Shot("later")
	b.Click(`[data-pay-later]`)
	b.See(`[data-member]`)
	if how := b.Attribute(`[data-settled]`, "data-settled"); how != "later" || !strings.Contains(b.Text(), "You pay at the club by") {
		t.Errorf("settled as %q, in:\n%s", how, b.Text())
	}
	if r := recordsOf(c); len(r.Ledger.Items) != 0 || !r.Audit.OK {
		t.Errorf("the records are %+v", r)
	}
}
