package probe

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// membersSetting is the setting for what no other one plays: members that the installation's records have in addition, lack,
// or write otherwise.
const membersSetting = "members"

// absent is the kind of a member that no record has.
const absent = "absent"

// needs says what a member is for, by record. The gateway does without the others.
var needs = map[string]string{
	"allowed_debit_days.date":               "buyers choose it",
	"clubs.code":                            "sales and payments name it: no sale can be made without it",
	"contacts.clubId":                       "the gateway finds the contact's club by it",
	"contacts.number":                       "sales and mandates name it",
	"contacts.status":                       "who may buy what depends on it",
	"network_nodes.children":                "the gateway finds the chains by it",
	"network_nodes.clubId":                  "the gateway finds the clubs by it",
	"offers.name":                           "visitors read it",
	"offers.repaymentSchedule":              "the schedule of debits depends on it",
	"offers.rhythmBilling":                  "the schedule of debits depends on it",
	"offers.totalPriceTI":                   "it is the price",
	"optins.contact":                        "consents are shown to their contact only",
	"products.name":                         "visitors read it",
	"products.productBehaviors":             "what the buyer must give depends on it",
	"products.type":                         "the catalogue is sorted by it",
	"sales.articles":                        "they show that the sale is as agreed: set FRONTDESK_CLUB_SALE_WITHOUT_ARTICLES",
	"sales.state":                           "it shows whether a sale is settled: set FRONTDESK_CLUB_SALE_STATE",
	"sales.totalTI":                         "it is what the buyer pays",
	"stats/accounts/contacts.totalRealDebt": "it is the contact's debt",
}

// compare compares the shapes of the installation's responses with those of the simulator that plays it.
func (r *Report) compare(installation, played *source) {
	for _, operation := range slices.Sorted(maps.Keys(played.statuses)) {
		if installation.statuses[operation] == nil {
			r.NotSeen = append(r.NotSeen, Gap{operation, "a call, for which there was no record, or which is after the early end"})
		}
	}
	found := map[string]map[string]string{}
	for _, operation := range slices.Sorted(maps.Keys(installation.shapes)) {
		if operation == errorsSeen || operation == tokenSeen {
			continue
		}
		simulated := played.shapes[operation]
		if simulated == nil {
			statuses := append(played.statuses[operation], http.StatusNotFound)
			r.Differences = append(r.Differences,
				Difference{operation, "status 200", fmt.Sprintf("status %d", statuses[0]), "the gateway does not call it"})
			continue
		}
		found[operation] = changed(installation.shapes[operation], simulated)
		r.describe(operation, found[operation], simulated)
	}
	r.Settings[membersSetting] = found
}

// changed returns the kind of each member that differs, by path. A kind that says nothing, such as null, differs from none.
func changed(here, simulated shape) map[string]string {
	found := map[string]string{}
	for _, path := range paths(here, simulated) {
		ours, theirs := here.kinds(path), simulated.kinds(path)
		above, name := parent(path), path[strings.LastIndexAny(path, ".")+1:]
		isEntry := strings.HasSuffix(path, "[]")
		switch _, extra := found[above]; {
		case path == "" || name == "@context" || strings.Contains(path, "*") || strings.HasPrefix(path, "view"):
		case extra && !isEntry && rare(total(ours), here.kinds(above)[object]):
		case len(theirs) == 0 && (extra || !isEntry && simulated.kinds(above)[object] > 0):
			found[path] = mainKind(ours)
		case len(ours) == 0 && !isEntry && here.kinds(above)[object] > 0 && total(theirs) >= simulated.kinds(above)[object]:
			found[path] = absent
		case len(ours) > 0 && len(theirs) > 0 && !extra && differ(telling(ours), telling(theirs)):
			found[path] = mainKind(ours)
		}
	}
	return found
}

// rare reports whether so few of the objects have a member that its name may be a value, such as a nickname.
func rare(have, objects int) bool { return objects < 2 || 2*have < objects }

// paths returns the paths of two shapes, those above others first.
func paths(shapes ...shape) []string {
	all := map[string]bool{}
	for _, of := range shapes {
		for path := range of {
			all[plain(path)] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// parent is the path above another one.
func parent(path string) string {
	if above, isEntry := strings.CutSuffix(path, "[]"); isEntry {
		return above
	}
	return path[:max(0, strings.LastIndex(path, "."))]
}

// telling returns the kinds of values that were seen, without null. PHP writes lists as objects, and empty objects as lists.
func telling(kinds map[string]int) map[string]int {
	seen := maps.Clone(kinds)
	delete(seen, null)
	for kind, alike := range map[string][]string{gaps: {list}, emptyList: {list, object}, emptyObject: {object}} {
		if seen[kind] > 0 {
			delete(seen, kind)
			for _, other := range alike {
				seen[other]++
			}
		}
	}
	return seen
}

// differ reports whether two members have no kind in common.
func differ(ours, theirs map[string]int) bool {
	for kind := range ours {
		if theirs[kind] > 0 {
			return false
		}
	}
	return len(ours) > 0 && len(theirs) > 0
}

// mainKind is the most frequent kind, of those that say most; empty if nothing was seen.
func mainKind(kinds map[string]int) string {
	says := func(kind string) int { return slices.Index([]string{null, emptyObject, emptyList, gaps, kind}, kind) }
	seen := slices.Sorted(maps.Keys(kinds))
	if len(seen) == 0 {
		return ""
	}
	most := slices.MaxFunc(seen, func(a, b string) int {
		return cmp.Or(cmp.Compare(says(a), says(b)), cmp.Compare(kinds[a], kinds[b]))
	})
	if most == gaps {
		return list
	}
	return most
}

func total(kinds map[string]int) (sum int) {
	for _, count := range kinds {
		sum += count
	}
	return sum
}

// describe adds a row for each member that differs, without those within another one.
func (r *Report) describe(operation string, members map[string]string, simulated shape) {
	for _, path := range slices.Sorted(maps.Keys(members)) {
		if _, within := members[parent(path)]; within {
			continue
		}
		usual := mainKind(simulated.kinds(path))
		means := needs[recordOf(operation)+"."+strings.TrimPrefix(path, "member[].")]
		switch {
		case usual == "":
			usual, means = absent, "the gateway does not read it"
		case means == "":
			means = "the gateway does without it"
		}
		r.Differences = append(r.Differences, Difference{operation + " " + path, members[path], usual, means})
	}
}
