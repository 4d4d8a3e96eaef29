package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// fillPerson gives somebody's details and goes on to the cart.
func fillPerson(b *frontdesktest.Browser) {
	person := frontdesktest.Person()
	for field, text := range map[string]string{
		"givenName": person.GivenName, "familyName": person.FamilyName, "birthDate": person.BirthDate, "email": person.Email,
		"mobile": person.Mobile, "street": person.Address.Street, "postalCode": person.Address.PostalCode, "city": person.Address.City,
	} {
		b.Fill(`[data-field="`+field+`"]`, text)
	}
	b.Click(`form[data-form="person"] [data-continue]`)
}

// smsCode is the latest code in the simulator's outbox.
func smsCode(c *frontdesktest.Client) string {
	var outbox struct{ Items []clubsim.SMS }
	c.Do("GET", "/sim/demo/_control/sms", nil).Into(http.StatusOK, &outbox)
	if len(outbox.Items) == 0 {
		return ""
	}
	return outbox.Items[len(outbox.Items)-1].Code
}

// TestDirectDebitInBrowser sets direct debit up, with a slip in the account and
// one in the code, and pays what is due by card.
func TestDirectDebitInBrowser(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"desktop": {1280, 900}, "phone": {390, 844}, "small": {320, 640}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
			b := frontdesktest.NewBrowser(t, size[0], size[1])
			b.Open(strings.Replace(c.URL, "127.0.0.1", "localhost", 1) + "/?club=11&offer=" + directDebit + "&startDate=2031-03-01")
			fillPerson(b)
			b.See(`a[data-mandate]`)
			b.Shot("cart")
			if b.Count(`[data-pay]`) != 0 {
				t.Error("one can pay before the mandate is signed")
			}
			b.Click(`a[data-mandate]`)
			b.Fill(`[data-field="holder"]`, "Ada Martin")
			b.Fill(`[data-field="iban"]`, strings.Replace(goodIBAN, "606", "607", 1))
			b.Click(`form[data-form="mandate"] [data-continue]`)
			b.See(`[data-field="iban"][aria-invalid="true"]`)
			b.Shot("account-wrong")
			b.Fill(`[data-field="iban"]`, goodIBAN)
			b.Shot("account")
			b.Click(`form[data-form="mandate"] [data-continue]`)
			b.See(`[data-attempts="5"]`)
			b.See(`[data-resend="later"]`)
			b.Shot("code")
			b.Fill(`[data-field="code"]`, wrong(smsCode(c)))
			b.Click(`form[data-form="signature"] [data-continue]`)
			b.See(`[data-attempts="4"]`)
			b.Shot("code-wrong")
			b.Reload()
			b.See(`[data-attempts="4"]`)
			if text := b.Text(); strings.Contains(text, "2004 1010") || !strings.Contains(text, "FR** **** 2606") {
				t.Errorf("the account is shown as:\n%s", text)
			}
			b.Fill(`[data-field="code"]`, smsCode(c))
			b.Click(`form[data-form="signature"] [data-continue]`)
			b.See(`[data-mandate="signed"]`)
			b.Shot("signed")
			b.Click(`[data-pay]`)
			payAt(b, "4242424242424242")
			b.See(`[data-member]`)
			if r := recordsOf(c); len(r.Ledger.Items) != 1 || !r.Audit.OK {
				t.Errorf("the records are %+v", r)
			}
		})
	}
}

// TestOtherAccountInBrowser gives an account up for another one.
func TestOtherAccountInBrowser(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	b := frontdesktest.NewBrowser(t, 390, 844)
	b.Open(strings.Replace(c.URL, "127.0.0.1", "localhost", 1) + "/?club=11&offer=" + directDebit + "&startDate=2031-03-01")
	fillPerson(b)
	b.Click(`a[data-mandate]`)
	b.Fill(`[data-field="holder"]`, "Ada Martin")
	b.Fill(`[data-field="iban"]`, goodIBAN)
	b.Click(`form[data-form="mandate"] [data-continue]`)
	b.Click(`[data-cancel]`)
	b.See(`form[data-form="mandate"]`)
	b.Fill(`[data-field="holder"]`, "Ada Martin")
	b.Fill(`[data-field="iban"]`, "DE89 3704 0044 0532 0130 00")
	b.Click(`form[data-form="mandate"] [data-continue]`)
	b.See(`[data-error="sms_limited"]`)
	b.Shot("too-soon")
}

// TestAccountInBrowser brings an account in that another club of the chain knows.
func TestAccountInBrowser(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	b := frontdesktest.NewBrowser(t, 1280, 900)
	b.Open(strings.Replace(c.URL, "127.0.0.1", "localhost", 1) + "/?club=11&offer=201&startDate=2031-03-01")
	fillPerson(b)
	b.Click(`[data-prospect]`)
	b.Fill(`[data-field="accessToken"]`, "not.mine")
	b.Click(`form[data-form="prospect"] [data-continue]`)
	b.See(`[data-field="accessToken"][aria-invalid="true"]`)
	b.Shot("account-wrong")
	var personas struct{ Items []clubsim.Persona }
	c.Do("GET", "/sim/demo/_control/personas", nil).Into(http.StatusOK, &personas)
	for _, persona := range personas.Items {
		if persona.Key == "prospect" {
			b.Fill(`[data-field="accessToken"]`, persona.AccessToken)
		}
	}
	b.Shot("account")
	b.Click(`form[data-form="prospect"] [data-continue]`)
	b.Click(`[data-pay]`)
	payAt(b, "4242424242424242")
	b.See(`[data-member]`)
	if number := b.Attribute(`[data-member]`, "data-member"); number != "13-001003" {
		t.Errorf("the member is %s, not who the chain knew", number)
	}
}
