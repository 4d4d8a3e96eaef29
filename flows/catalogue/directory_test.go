package catalogue_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/flows/catalogue"
	"frontdesk/upstream/mock"
)

// TestDirectoryProblems: an operator gets all problems of the file at once.
func TestDirectoryProblems(t *testing.T) {
	t.Parallel()
	for file, wants := range map[string][]string{
		"clubs: {11: {fone: 1, phone: 0140000000}}\nclub: {}": {"line 1: fone is not a known key", "line 2: club is not a known key"},
		"clubs: [":      {"is neither YAML nor JSON"},
		"clubs: [1, 2]": {"line 1: cannot construct"},
		`clubs:
  "11/..":
    timeZone: Paris
    currency: euro
    address: {street: 1 rue de Rivoli}
    location: {latitude: 91, longitude: 181}
    phone: 01 40 00 00 00
    email: bastille
    url: lumen.example
    openingHours: [{days: [mon], opens: 6, closes: "25:00"}, {opens: "06:00", closes: "06:00"}]
    images: [{url: "http://lumen.example/a.jpg"}, {url: //evil.example/a.jpg, alt: {de: Halle, fr: Salle}}]
    trader: {vatId: "12"}
    offers:
      "901": {group: flexible, order: -1, earliestStart: 2030-02-01, latestStart: 2030-01-01}
      "902":
        earliestStart: tomorrow
        name: {french: Liberté}
        ages: {min: 20, max: 18}
        extras: ["902"]
        facts: [{fr: Jour, de: Tag}]
    products: {"9/": {name: {fr: " "}, description: {xyz: Sans}}}
    labels: {"Registration fee": {fr: "Frais\nd’inscription"}}`: {
			"clubs.11/..: is not a club's id", `clubs.11/...timeZone: "Paris" must be a time zone`,
			`.currency: "euro" must be`, ".address.city: is missing",
			".location.latitude: must be", ".location.longitude: must be", `.phone: "01 40 00 00 00" must be`,
			`.email: "bastille" must be`, `.url: "lumen.example" must be`,
			`.openingHours[0].days: "mon" must be`, `.openingHours[0].opens: "6" must be`,
			`.openingHours[0].closes: "25:00" must be`, ".openingHours[1].days: is missing",
			".openingHours[1]: opens and closes must differ", ".images[0].url:",
			".images[0].alt: is missing", ".images[1].url:", ".images[1].alt: must have en",
			".trader.name: is missing", ".trader.vatId:", `.offers.901.group: "flexible" is not one of the groups`,
			".offers.901.order: must be", ".offers.901.latestStart: must not be before",
			`.offers.902.earliestStart: "tomorrow" must be`, `.offers.902.name: "french" must be a language`,
			".offers.902.ages: max must not be below min", `.offers.902.extras: "902" must be the id of another`,
			".offers.902.facts: must have en", ".products.9/: must have only letters", ".products.9/.name: must not be empty",
			`.products.9/.description: "xyz" must be a language`, ".labels.Registration fee: must be on one line",
		},
	} {
		_, err := catalogue.ParseDirectory([]byte(file), mock.Documents)
		if err == nil {
			t.Errorf("%s: no error", file)
			continue
		}
		if lines := strings.Count(err.Error(), "\n") + 1; lines < len(wants) {
			t.Errorf("%d problems: %v", lines, err)
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is missing in: %v", want, err)
			}
		}
	}
	for _, file := range []string{"", "{}", `{"clubs": {"11": {"phone": "+33140000000"}}}`, mock.Clubs} {
		if _, err := catalogue.ParseDirectory([]byte(file), mock.Documents); err != nil {
			t.Errorf("%.40q: %v", file, err)
		}
	}
}

// TestDirectoryDefaults: a club's own values override the defaults, offer by offer.
func TestDirectoryDefaults(t *testing.T) {
	t.Parallel()
	clubs, err := catalogue.ParseDirectory([]byte(`
defaults:
  timeZone: Europe/Paris
  phone: "+33100000000"
  groups: {a: {en: One, fr: Un}}
  offers: {"1": {group: a, order: 1}, "2": {order: 2}}
clubs: {11: {phone: "+33100000011", offers: {"2": {group: a, order: 9}}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	own, other := clubs.Details("11"), clubs.Details("12")
	if own.Phone != "+33100000011" || other.Phone != "+33100000000" || own.TimeZone != "Europe/Paris" {
		t.Errorf("the clubs are %+v and %+v", own, other)
	}
	if own.Offers["1"].Order != 1 || own.Offers["2"].Order != 9 || other.Offers["2"].Order != 2 {
		t.Errorf("their offers are %+v and %+v", own.Offers, other.Offers)
	}
	for language, want := range map[string]string{"fr": "Un", "en": "One", "de": "One"} {
		if got := own.Groups["a"].In(language); got != want {
			t.Errorf("in %s the group is %q", language, got)
		}
	}
}

// TestClubsDay: with a time zone, today is the club's date. Without one, any date counts that is today
// somewhere on Earth.
func TestClubsDay(t *testing.T) {
	t.Parallel()
	clubs, err := catalogue.ParseDirectory([]byte(`
clubs:
  paris: {timeZone: Europe/Paris, offers: {"1": {earliestStart: 2026-12-01, latestStart: 2026-12-31}}}
  samoa: {timeZone: Pacific/Pago_Pago}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ club, offer, now, today, earliest, latest, ends string }{
		{"paris", "", "2026-11-24T22:59:59Z", "2026-11-24", "2026-11-24", "2031-11-24", "2026-11-24T23:00:00Z"},
		{"paris", "", "2026-11-24T23:00:00Z", "2026-11-25", "2026-11-25", "2031-11-25", "2026-11-25T23:00:00Z"},
		{"paris", "", "2026-03-28T23:00:00Z", "2026-03-29", "2026-03-29", "2031-03-29", "2026-03-29T22:00:00Z"}, // the clocks change
		{"paris", "1", "2026-11-24T23:00:00Z", "2026-11-25", "2026-12-01", "2026-12-31", "2026-11-25T23:00:00Z"},
		{"paris", "1", "2026-12-05T12:00:00Z", "2026-12-05", "2026-12-05", "2026-12-31", "2026-12-05T23:00:00Z"},
		{"samoa", "", "2026-11-24T10:59:59Z", "2026-11-23", "2026-11-23", "2031-11-23", "2026-11-24T11:00:00Z"},
		{"other", "", "2026-11-24T11:59:59Z", "2026-11-24", "2026-11-23", "2031-11-25", "2026-11-24T12:00:00Z"},
		{"other", "", "2026-11-24T09:59:59Z", "2026-11-24", "2026-11-23", "2031-11-24", "2026-11-24T12:00:00Z"},
		{"other", "", "2026-11-24T12:00:00Z", "2026-11-24", "2026-11-24", "2031-11-25", "2026-11-25T00:00:00Z"},
	} {
		now := must(t, func() (time.Time, error) { return time.Parse(time.RFC3339, test.now) })
		club := clubs.Details(test.club)
		earliest, latest := club.StartDates(now, test.offer)
		today, ends := club.Today(now).Format(time.DateOnly), club.DayEnds(now).UTC().Format(time.RFC3339)
		if today != test.today || earliest != test.earliest || latest != test.latest || ends != test.ends {
			t.Errorf("%s at %s: today %s, from %s to %s, until %s; want %+v", test.club, test.now, today, earliest, latest, ends, test)
		}
	}
}
