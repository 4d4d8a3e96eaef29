package handlers_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestConfig: front ends read the configuration from the API instead of hard-coding it.
func TestConfig(t *testing.T) {
	t.Parallel()
	read := func(environment ...string) (config api.Config) {
		c := frontdesktest.NewClient(t, frontdesktest.Start(t, environment...).URL)
		c.Do("GET", "/v1/config", nil).Into(http.StatusOK, &config)
		return config
	}
	offered := func(config api.Config) (all []string) {
		for _, method := range config.Methods {
			for _, audience := range method.Audience {
				all = append(all, string(method.Method)+" to "+string(audience))
			}
		}
		return all
	}

	today, mock := frontdesktest.Day(0), read()
	if now := frontdesktest.Day(0); now != today { // midnight has passed meanwhile
		today, mock = now, read()
	}
	if mock.Mode != api.Mock || mock.Challenge != nil {
		t.Errorf("mock mode's configuration is %+v", mock)
	}
	card := mock.Card
	if key, script := value(card.PublishableKey), value(card.ScriptUrl); card.Processor != "stripe" || key != "pk_test_sandbox_demo" ||
		!strings.HasSuffix(script, "/sandbox/v3/") {
		t.Errorf("mock mode's card processor is %s with %s at %s", card.Processor, key, script)
	}
	if want := []api.Feature{api.FeatureLogin, api.FeatureStaff}; !slices.Equal(mock.Features, want) {
		t.Errorf("the features are %v, not %v", mock.Features, want)
	}
	everyone := []string{"card to visitor", "card to contact", "card to staff", "later to visitor", "later to contact", "later to staff",
		"free to visitor", "free to contact", "free to staff", "desk to staff"}
	if got := offered(mock); !slices.Equal(got, everyone) {
		t.Errorf("offered are %v, not %v", got, everyone)
	}
	fields := map[string]api.PersonField{}
	for _, field := range mock.Person {
		fields[field.Pointer] = field
	}
	if code := fields["/address/postalCode"]; !code.Required || value(code.MinLength) != 1 ||
		value(code.MaxLength) != 20 || value(code.Pattern) == "" {
		t.Errorf("a postal code is %+v", code)
	}
	if gender := fields["/gender"]; gender.Required || !slices.Equal(value(gender.Allowed), []string{"female", "male", "other"}) {
		t.Errorf("a gender is %+v", gender)
	}
	for name, format := range map[string]string{"/birthDate": "date", "/email": "email", "/mobile": ""} {
		if value(fields[name].Format) != format {
			t.Errorf("%s is %+v", name, fields[name])
		}
	}
	last, err := time.Parse(time.DateOnly, today)
	if year := last.AddDate(5, 0, 0).Format(time.DateOnly); err != nil || mock.StartDates.Latest != year {
		t.Errorf("the last start date is %s, not %s", mock.StartDates.Latest, year)
	}

	set := read(
		"FRONTDESK_CAPTCHA_URL=https://api.hcaptcha.com/siteverify",
		"FRONTDESK_CAPTCHA_SECRET=the secret",
		"FRONTDESK_CAPTCHA_SITE_KEY=site-key-1",
		"FRONTDESK_METHODS=visitor:card,contact:card+later,staff:desk,later-days:10",
		"FRONTDESK_SMS_COUNTRIES=FR,BE")
	if set.Challenge == nil || set.Challenge.Provider != api.ChallengeProviderHcaptcha ||
		frontdesktest.Value(set.Challenge.SiteKey) != "site-key-1" {
		t.Errorf("the configuration is %+v", set)
	}
	got, want := offered(set), []string{"card to visitor", "card to contact", "later to contact", "desk to staff"}
	if !slices.Equal(got, want) {
		t.Errorf("offered are %v, not %v", got, want)
	}
	if latest := frontdesktest.Value(set.Methods[1].LatestDueDate); latest != frontdesktest.Day(10) {
		t.Errorf("the latest due date is %s", latest)
	}
	if countries := frontdesktest.Value(set.MobileCountries); !slices.Equal(countries, []string{"FR", "BE"}) {
		t.Errorf("codes are sent to %v", countries)
	}
}
