package journey_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

var inFrench = [2]string{"Accept-Language", "fr"}

// TestMandateText: a mandate has all that the SEPA rulebook asks for, in the visitor's language. The text that the code signed, and when,
// stay as they are, also after the gateway was killed.
func TestMandateText(t *testing.T) {
	t.Parallel()
	d := newDebtor(t)
	mandate := *d.mandate(api.SignatureAwaitingCode).Mandate
	address := frontdesktest.Value(mandate.Creditor.Address)
	if mandate.Creditor.Name != "Lumen Fitness" || frontdesktest.Value(mandate.Creditor.Identifier) != "FR49ZZZ000001" ||
		frontdesktest.Value(address.Street) != "1 rue de Rivoli" || frontdesktest.Value(address.PostalCode) != "75004" ||
		address.City != "Paris" || frontdesktest.Value(address.Country) != "FR" {
		t.Errorf("the creditor is %+v", mandate.Creditor)
	}
	if mandate.Type != "recurrent" || mandate.PreNotificationDays != 14 || mandate.SignedAt != nil ||
		!strings.HasPrefix(frontdesktest.Value(mandate.Reference), "FD-11-") {
		t.Errorf("the mandate is %+v", mandate)
	}
	for _, part := range []string{
		"Lumen Fitness", "FR49ZZZ000001", "1 rue de Rivoli, 75004 Paris, FR", "your bank to debit", "8 weeks", "14 days",
	} {
		if !strings.Contains(mandate.Text, part) {
			t.Errorf("%q is missing in %q", part, mandate.Text)
		}
	}
	var shown, signed api.Registration
	d.Do("GET", d.path, nil, inFrench).Into(http.StatusOK, &shown)
	if !strings.Contains(shown.Mandate.Text, "dans les 8 semaines") {
		t.Errorf("in French it is %q", shown.Mandate.Text)
	}
	key := frontdesktest.Key("")
	d.Do("POST", d.path+"/mandate/signature", api.Signature{Code: frontdesktest.WrongCode(d.code())}, frontdesktest.Key("")).
		Problem(api.CodeWrong)
	if wrong := d.read().Mandate; wrong.SignedAt != nil || !strings.Contains(wrong.Text, "8 weeks") {
		t.Errorf("after a wrong code it is %+v", wrong)
	}
	sign := func() (registration api.Registration) {
		t.Helper()
		d.Do("POST", d.path+"/mandate/signature", api.Signature{Code: d.code()}, key, inFrench).Into(http.StatusCreated, &registration)
		return registration
	}
	signed = sign()
	if signed.Mandate.SignedAt == nil || signed.Mandate.Text != shown.Mandate.Text {
		t.Fatalf("after the signature it is %+v", signed.Mandate)
	}
	d.gateway.Kill()
	env := frontdesktest.Env{Upstreams: d.upstreams, Redis: d.redis}
	d.gateway, _ = env.Gateway(t, "FRONTDESK_CLUBS_FILE="+frontdesktest.ApprovedClubs(t)) // the club has another creditor
	d.URL = d.gateway.URL
	for _, later := range []api.Registration{sign(), d.read()} { // a replay, and in English
		if *later.Mandate.SignedAt != *signed.Mandate.SignedAt || later.Mandate.Text != shown.Mandate.Text ||
			!reflect.DeepEqual(later.Mandate.Creditor, signed.Mandate.Creditor) {
			t.Errorf("later it is %+v", later.Mandate)
		}
	}
}

// TestUsualMandateText: a club without a text of its own has the usual one, in each language.
func TestUsualMandateText(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		clubs      string
		creditor   string
		identifier string
		parts      map[string][]string // by language
	}{
		"a creditor": {`FRONTDESK_CLUBS={"defaults": {"creditor": {"name": "Gym 4711", "identifier": "FR72ZZZ123456",
			"address": {"street": "1 rue du Lac", "postalCode": "75004", "city": "Paris", "country": "FR"}}}}`,
			"Gym 4711", "FR72ZZZ123456", map[string][]string{
				"en": {"Gym 4711, 1 rue du Lac, 75004 Paris, FR", "FR72ZZZ123456", "eight weeks", "14 days"},
				"fr": {"FR72ZZZ123456", "huit semaines", "14 jours"},
			}},
		"a notice of a day": {
			`FRONTDESK_CLUBS={"defaults": {"preNotificationDays": 1, "trader": {"name": "Lumen SAS"}}}`, "Lumen SAS", "",
			map[string][]string{"en": {"Lumen SAS", "1 day before"}, "fr": {"1 jour avant"}},
		},
		"nothing known": {"FRONTDESK_CLUBS={}", "Lumen Bastille", "", map[string][]string{"en": {"Lumen Bastille", "14 days"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := frontdesktest.NewEnv(t)
			_, c := env.Gateway(t, test.clubs)
			registration := c.RegisterWith("11", frontdesktest.Person(), frontdesktest.DebitItem("2031-03-01"))
			path := "/v1/registrations/" + registration.Id
			c.Do("POST", path+"/mandate", api.NewMandate{Holder: "Ada Martin", Iban: frontdesktest.GoodIBAN}, frontdesktest.Key("")).
				Into(http.StatusCreated, nil)
			for language, parts := range test.parts {
				c.Do("GET", path, nil, [2]string{"Accept-Language", language}).Into(http.StatusOK, &registration)
				mandate := registration.Mandate
				if mandate.Creditor.Name != test.creditor || frontdesktest.Value(mandate.Creditor.Identifier) != test.identifier {
					t.Errorf("the creditor is %+v", mandate.Creditor)
				}
				for _, part := range parts {
					if !strings.Contains(mandate.Text, part) {
						t.Errorf("%q is missing in %q", part, mandate.Text)
					}
				}
			}
		})
	}
}
