package probe_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"frontdesk/upstream/clubsim"
)

// randomSettings draws those settings that reads can show. The world's number decides on the rarer ones, so that some world has
// each of them.
func randomSettings(random *rand.Rand, world int) map[string]any {
	flip := func() bool { return random.IntN(2) == 0 }
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	pageSize := 10 + random.IntN(21)
	settings := map[string]any{
		"networkNodeShape":   pick("nested", "flat", "parent"),
		"tokenLifetime":      600 + random.IntN(6000),
		"tokenExpiresIn":     world%4 > 0,
		"pageSize":           pageSize,
		"maxPageSize":        pageSize + random.IntN(41-pageSize),
		"hydraPrefix":        flip(),
		"countryIso":         flip(),
		"mixedPrefix":        flip(),
		"plainJson":          flip(),
		"refuseFilters":      flip(),
		"taxRates":           pick("percent", "hundredths"),
		"contactStatus":      pick("status", "state"),
		"checkouts":          pick("hidden", "own"),
		"saleFilters":        flip(),
		"onlineCancellation": flip(),
		"saleTerms":          flip(),
		"errorShape":         pick("hydra", "plain"),
		"embeddedOffers":     pick("none", "summary", "complete"),
		"behaviorIris":       flip(),
		"dateTimeZone":       flip(),
		"dateTimes":          flip(),
		"phpJson":            world%4 == 1,
		"formerStatus":       pick("former_customer", "former_member", "former"),
	}
	if world%2 == 0 {
		settings["callLimits"] = map[string]int{
			"perMinute": 1000 + random.IntN(9000),
			"perDay":    20_000 * random.IntN(2),
			"perSlice":  30,
			"sliceMs":   200,
		}
	}
	if world%3 == 0 {
		refused := []string{"GET optins", "GET class_events", "GET attendees", "GET allowed_debit_days", "GET stats/accounts/contacts/{id}"}
		refused = refused[:1+random.IntN(len(refused))]
		settings["productionMode"] = true
		settings["grantedEndpoints"] = slices.DeleteFunc(clubsim.Endpoints(), func(endpoint string) bool {
			return slices.Contains(refused, endpoint)
		})
	}
	if world%2 == 1 {
		settings["members"] = map[string]map[string]string{
			"GET contacts": {
				"member[].nationalId":          pick("string", "null", "integer"),
				"member[].sponsors":            "list",
				"member[].sponsors[]":          "object",
				"member[].sponsors[].since":    "date",
				"member[].address.region.code": "string", // the simulator's addresses have no region
			},
			"GET contacts/{id}": {"gender": "absent", "number": "integer"},
			"GET clubs/{id}":    {"networkNode": "absent", "openingHours": "object", "openingHours.monday": "IRI"},
			"GET offers":        {"member[].totalTaxes": "fraction", "member[].repaymentSchedule.occurrences[].label": "string"},
		}
	}
	return settings
}

func encode(settings map[string]any) []byte {
	encoded, err := json.Marshal(settings)
	if err != nil {
		panic(err)
	}
	return encoded
}

// TestPlayedWorlds probes worlds with random settings, has the simulator play the file that the probe writes, and compares a
// journey in both. To show that the journey is sensitive, it leaves each setting out of a file, which must change the journey.
func TestPlayedWorlds(t *testing.T) {
	t.Parallel()
	const worlds = 20
	seed := rand.Uint64()
	var sensitive sync.Map // by setting: whether a journey has shown that it was missing
	t.Run("worlds", func(t *testing.T) {
		for number := range worlds {
			t.Run(fmt.Sprint(number), func(t *testing.T) {
				t.Parallel()
				settings := randomSettings(rand.New(rand.NewPCG(seed, uint64(number))), number) // #nosec G404 G115 -- of a test
				t.Logf("seed %d: %s", seed, encode(settings))
				origin := install(t, encode(settings))
				report, journey := origin.mustProbe(), origin.journey()
				expectSame(t, journey, install(t, report.File()).journey())
				for name := range settings {
					file := maps.Clone(report.Settings)
					delete(file, name)
					_, invalid := clubsim.ParseSettings(encode(file)) // with a page longer than pages may be
					if shown, _ := sensitive.LoadOrStore(name, false); shown != true && invalid == nil {
						sensitive.CompareAndSwap(name, false, !slices.Equal(journey, install(t, encode(file)).journey()))
					}
				}
			})
		}
	})
	for name, shown := range sensitive.Range {
		if shown != true {
			t.Errorf("seed %d: no journey shows that %s is missing", seed, name)
		}
	}
}

func expectSame(t *testing.T, origin, played []string) {
	t.Helper()
	for i := range origin {
		at := 0
		for at < min(len(origin[i]), len(played[i])) && origin[i][at] == played[i][at] {
			at++
		}
		if origin[i] != played[i] {
			request, _, _ := strings.Cut(origin[i], " [")
			t.Errorf("%s, from byte %d on:\n%.150s\nis played as\n%.150s", request, at, origin[i][max(0, at-50):], played[i][max(0, at-50):])
		}
	}
}
