package clubsim_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/clubsim"
)

// TestSettingsOfAServer checks that the settings of a server are those of each new world, and of one that is reset, and that
// they can be changed until then.
func TestSettingsOfAServer(t *testing.T) {
	t.Parallel()
	settings, err := clubsim.ParseSettings([]byte("pageSize: 7\ntokenLifetime: PT2H\nerrorShape: plain\nwebhookUrl: http://127.0.0.1:1/\n"))
	if err != nil {
		t.Fatal(err)
	}
	server := clubsim.New(clubsim.Config{Now: func() time.Time { return today }, Settings: &settings})
	client := connect(t, server, "demo-settings")
	client.get("products").want(200).wantText(`"hydra:next"`)
	client.get("contacts/0").want(404).wantText(`"message"`)
	client.control("PUT", "settings", body{"pageSize": 9, "clientClubs": []int{11}}).want(200)
	if other := server.World("demo-other").Settings(); other.PageSize != 7 || other.TokenLifetime != 7200 || len(other.ClientClubs) > 0 {
		t.Errorf("another world has %+v", other)
	}
	client.world.Reset()
	if reset := client.world.Settings(); reset.PageSize != 7 || reset.WebhookURL != "http://127.0.0.1:1/" || reset.MaxPageSize != 100 {
		t.Errorf("after a reset: %+v", reset)
	}
}

// TestParseSettings checks that a file with an error is refused with the name of the member.
func TestParseSettings(t *testing.T) {
	t.Parallel()
	for file, text := range map[string]string{
		"":                                 "",
		`{"callLimits":{"perMinute":9}}`:   "",
		"pageSizes: 7":                     `unknown field "pageSizes"`,
		"smsCode: {length: 4}":             `unknown field "length"`,
		"pageSize: many":                   "pageSize: a JSON string instead of a whole number",
		`withdrawnOffers: ["201"]`:         "withdrawnOffers: a JSON string instead of a whole number",
		"callLimits: 5":                    "callLimits: a JSON number instead of an object",
		"networkNodeShape: tree":           `networkNodeShape: "tree" is not one of nested, flat`,
		"tokenLifetime: soon":              "soon",
		"tokenLifetime: 10000000000":       "at most 1000000000", // such a token would have ended long ago
		"maxPageSize: 4611686018427387904": "maxPageSize ≤ 1000000",
		"- pageSize":                       "line 1",
		`{"pageSize": 7`:                   "yaml: line",
	} {
		_, err := clubsim.ParseSettings([]byte(file))
		switch {
		case text == "" && err != nil:
			t.Errorf("%q: %v", file, err)
		case text != "" && (err == nil || !strings.Contains(err.Error(), text)):
			t.Errorf("%q: %v, want %q", file, err, text)
		}
	}
}

// TestMembers checks that responses have the members of the setting, in a list and in a record, also where a list is empty or
// written as PHP does, and that an unknown endpoint or kind is refused.
func TestMembers(t *testing.T) {
	t.Parallel()
	client := newTestClient(t, "demo-members")
	client.control("PUT", "settings", body{"members": body{
		"GET contacts/{id}":    body{"number": "integer", "gender": "absent", "sponsors": "list", "sponsors[].since": "date"},
		"GET contacts":         body{"member[].nationalId": "string", "member[].nothing.below": "string"},
		"getAccountStatistics": body{"totalRealDebt": "string"},
	}}).want(200)
	one := client.get("contacts/1006").want(200) // without tags
	sponsor := one.json["sponsors"].([]any)[0].(body)
	_, hasGender := one.json["gender"]
	if one.number("number") != 1 || hasGender || len(sponsor) != 1 || sponsor["since"] != "2026-12-01" || len(one.json["tags"].([]any)) != 0 {
		t.Errorf("contact: %s", one.raw)
	}
	client.get("contacts").want(200).wantText(`"nationalId":"text"`)
	client.get("stats/accounts/contacts/1002").want(200).wantText(`"totalRealDebt":"12400"`)
	client.get("contacts/999999").want(404)
	client.control("PUT", "settings", body{"phpJson": true}).want(200)
	client.get("contacts").want(200).wantText(`"nationalId":"text"`)
	client.control("PUT", "settings", body{"members": body{"POST contacts": body{}}}).want(400).wantText("POST contacts")
	wrong := body{"members": body{"GET contacts": body{"number": "word"}}}
	client.control("PUT", "settings", wrong).want(400).wantText("is not one of absent, IRI, boolean")
}
