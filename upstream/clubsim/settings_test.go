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
		"":                               "",
		`{"callLimits":{"perMinute":9}}`: "",
		"pageSizes: 7":                   `unknown field "pageSizes"`,
		"smsCode: {length: 4}":           `unknown field "length"`,
		"pageSize: many":                 "pageSize: must not be a string",
		"networkNodeShape: tree":         `networkNodeShape: "tree" is not one of nested, flat`,
		"tokenLifetime: soon":            "soon",
		"- pageSize":                     "line 1",
		`{"pageSize": 7`:                 "yaml: line",
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
