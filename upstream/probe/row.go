package probe

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// row maps what responses show to one setting of the simulator.
type row struct {
	setting string
	means   string                               // that the setting is not the default
	needs   string                               // what would show it
	see     func(*recorder) (value any, ok bool) // false: it was not seen
}

// rows are the settings that reads can show. A setting of the simulator without a row is listed as one that they cannot.
var rows = []row{
	{"productionMode", "the gateway cannot call everything: ask the provider to grant it", "a read that is not granted", productionMode},
	{"grantedEndpoints", "the reads with status 403 below are missing; the file grants what was not tried, such as all writes",
		"a read that is not granted", grantedEndpoints},
	{"networkNodeShape", "the gateway reads each form", "a network node with children", networkNodeShape},
	{"tokenLifetime", "the gateway follows it", "a token with expires_in", tokenLifetime},
	{"tokenExpiresIn", "the gateway fetches a token every five minutes", "a token", tokenExpiresIn},
	{"pageSize", "the gateway follows the pages", "a list of several pages", pageSize},
	{"maxPageSize", "the gateway does not ask for longer pages", "a list that is longer than a page may be", maxPageSize},
	{"hydraPrefix", "the gateway reads both forms", "a list", hydraPrefix},
	{"mixedPrefix", "the gateway reads both forms", "a list", mixedPrefix},
	{"plainJson", "the gateway asks for JSON-LD", "a list, asked for as plain JSON", plainJSON},
	{"refuseFilters", "the gateway relies on no filter", "a response to an unknown parameter", refuseFilters},
	{"errorShape", "the gateway reads both forms", "an error of the club system", errorShape},
	{"embeddedOffers", "complete ones save the gateway a call for each product", "a product", embeddedOffers},
	{"behaviorIris", "such a behavior counts as its product's", "a product's behavior", behaviorIRIs},
	{"taxRates", "the gateway reads both units", "an offer with a tax rate", taxRates},
	{"dateTimeZone", "the gateway reads both forms", "a record with a date-time", dateTimeZone},
	{"dateTimes", "the gateway turns them into days by the time zones in FRONTDESK_CLUBS_FILE", "a record with a date", dateTimes},
	{"phpJson", "the gateway reads both forms, except in amounts of a sale or a debt", "lists that are all written alike", phpJSON},
	{"countryIso", "the gateway reads the code", "a contact or a club with an address", countryISO},
	{"contactStatus", "the gateway reads both members", "a contact", contactStatus},
	{"formerStatus", "staff see this word", "a former customer among the first contacts", formerStatus},
	{"saleFilters", "the gateway uses no such filter", "a list of sales", saleFilters},
	{"checkouts", "doctor compares them with the account of the card keys", "the registers of a club", checkouts},
	{"onlineCancellation", "members can end their membership online", "the motives of cancellations", onlineCancellation},
	{"saleTerms", "buyers agree to them where FRONTDESK_CLUBS_FILE has no terms", "the terms of sale of a club", saleTerms},
	{"callLimits", "set FRONTDESK_CLUB_LIMIT_HEADERS=on, so that a 429 with these headers counts as refused", "limit headers", callLimits},
}

func productionMode(seen *recorder) (any, bool) { return true, len(seen.refused) > 0 }

// grantedEndpoints are all but those that were refused.
func grantedEndpoints(seen *recorder) (any, bool) {
	granted := slices.DeleteFunc(clubsim.Endpoints(), func(endpoint string) bool { return slices.Contains(seen.refused, endpoint) })
	return granted, len(seen.refused) > 0
}

func networkNodeShape(seen *recorder) (any, bool) {
	children := seen.shapes["GET network_nodes"].kinds("member[].children[]")
	parents := seen.shapes["GET network_nodes"].kinds("member[].parent")
	switch nested, flat := children[object], children[iri]; {
	case parents[iri] > 0 && total(children) == 0:
		return "parent", true
	case nested > 0 && flat == 0:
		return "nested", true
	case flat > 0 && nested == 0:
		return "flat", true
	}
	return nil, false
}

func tokenLifetime(seen *recorder) (any, bool) { return seen.lifetime, seen.lifetime > 0 }

func tokenExpiresIn(seen *recorder) (any, bool) {
	return seen.lifetime > 0, seen.shapes[tokenSeen].kinds("access_token")[text] > 0
}

// pageSize is the length of the first page of each list that has another one.
func pageSize(seen *recorder) (any, bool) {
	return seen.pageLength(func(page page) bool { return page.first && page.asked == 0 })
}

// maxPageSize is never below the usual length: where it seems so, lists differ in their lengths.
func maxPageSize(seen *recorder) (any, bool) {
	length, ok := seen.pageLength(func(page page) bool { return page.asked > page.length })
	usual, known := pageSize(seen)
	if !known {
		usual = clubsim.DefaultSettings().PageSize
	}
	if ok && length.(int) < usual.(int) {
		return nil, false
	}
	longest := slices.MaxFunc(append(seen.pages, page{}), func(a, b page) int { return a.length - b.length }).length
	if !ok && longest > clubsim.DefaultSettings().MaxPageSize { // it is at least that
		return longest, true
	}
	return length, ok
}

// pageLength is the one length of the incomplete pages that are wanted.
func (r *recorder) pageLength(wanted func(page) bool) (any, bool) {
	var lengths []int
	for _, page := range r.pages {
		if page.incomplete && wanted(page) {
			lengths = append(lengths, page.length)
		}
	}
	return onlyOne(lengths)
}

// onlyOne returns the value that all values are.
func onlyOne[T comparable](values []T) (any, bool) {
	if len(values) == 0 || slices.ContainsFunc(values, func(value T) bool { return value != values[0] }) {
		return nil, false
	}
	return values[0], true
}

func hydraPrefix(seen *recorder) (any, bool) {
	var prefixed []bool
	for _, of := range seen.shapes {
		for name, is := range map[string]bool{"hydra:member": true, "member": false} {
			if len(of[name]) > 0 {
				prefixed = append(prefixed, is)
			}
		}
	}
	return onlyOne(prefixed)
}

func mixedPrefix(seen *recorder) (any, bool) {
	var mixed []bool
	for _, of := range seen.shapes {
		for member, view := range map[string]string{"hydra:member": "view", "member": "hydra:view"} {
			if len(of[member]) > 0 && len(of[view])+len(of[other(view)]) > 0 {
				mixed = append(mixed, len(of[view]) > 0)
			}
		}
	}
	return onlyOne(mixed)
}

// other is a name with the prefix of Hydra's members, or without it.
func other(name string) string {
	if bare, prefixed := strings.CutPrefix(name, "hydra:"); prefixed {
		return bare
	}
	return "hydra:" + name
}

func plainJSON(seen *recorder) (any, bool) {
	whole := seen.shapes[plainOperation][""]
	return whole[object] == 0, total(whole) > 0
}

func refuseFilters(seen *recorder) (any, bool) {
	return seen.filtered == http.StatusBadRequest, seen.filtered == http.StatusOK || seen.filtered == http.StatusBadRequest
}

func errorShape(seen *recorder) (any, bool) {
	errors := seen.shapes[errorsSeen]
	switch typed, message := len(errors["@type"]) > 0, len(errors["message"]) > 0; {
	case typed && !message:
		return "hydra", true
	case message && !typed:
		return "plain", true
	}
	return nil, false
}

func embeddedOffers(seen *recorder) (any, bool) {
	of := func(path string) map[string]int { return seen.shapes["GET products"].kinds("member[]" + path) }
	switch products, offers := of("")[object], of(".offers[]")[object]; {
	case products > 0 && total(of(".offers")) == 0:
		return "none", true
	case offers > 0 && total(of(".offers[].repaymentSchedule")) == 0:
		return "summary", true
	case offers > 0 && of(".offers[].repaymentSchedule")[object] == offers:
		return "complete", true
	}
	return nil, false
}

func behaviorIRIs(seen *recorder) (any, bool) {
	of := func(name string) int {
		return total(seen.shapes["GET products"].kinds("member[].productBehaviors[]." + name))
	}
	switch named, linked := of("type"), of("behavior"); {
	case linked > 0 && named == 0:
		return true, true
	case named > 0 && linked == 0:
		return false, true
	}
	return nil, false
}

// taxRates takes a rate of 100 or more as hundredths: no tax is as high as the price.
func taxRates(seen *recorder) (any, bool) {
	if seen.taxRate >= 100 {
		return "hundredths", true
	}
	return "percent", seen.taxRate > 0
}

func dateTimeZone(seen *recorder) (any, bool) {
	return seen.either(zoned, instant, func(path string) bool { return strings.HasSuffix(path, "At") })
}

// dateMembers are dates by the club system's description.
var dateMembers = []string{"birthDate", "date", "startDate", "validFrom", "validThrough"}

func dateTimes(seen *recorder) (any, bool) {
	if written, ok := seen.either(zoned, date, isDate); ok {
		return written, true
	}
	return nil, false
}

func isDate(path string) bool {
	return slices.Contains(dateMembers, path[strings.LastIndexAny(path, ".]")+1:])
}

// either reports whether the values at the wanted paths are all of one kind, or all of the other.
func (r *recorder) either(one, other string, wanted func(path string) bool) (isOne any, ok bool) {
	var ones []bool
	for _, of := range r.shapes {
		for path, kinds := range of {
			for kind := range kinds {
				if wanted(path) && (kind == one || kind == other) {
					ones = append(ones, kind == one)
				}
			}
		}
	}
	return onlyOne(ones)
}

// phpJSON is true if every list has gaps, and false if nothing is written as PHP does.
func phpJSON(seen *recorder) (any, bool) {
	total := map[string]int{}
	for _, of := range seen.shapes {
		for _, kinds := range of {
			for kind, count := range kinds {
				total[kind] += count
			}
		}
	}
	switch {
	case total[gaps] > 0 && total[list] == 0:
		return true, true
	case total[list] > 0 && total[gaps]+total[wholeFloat] == 0:
		return false, true
	}
	return nil, false
}

// countryISO is what contacts show, or else clubs: a probe that ends early has seen no contact.
func countryISO(seen *recorder) (any, bool) {
	for _, at := range [][2]string{{"GET contacts", "member[].address."}, {"GET clubs", "member[]."}, {"GET clubs/{id}", ""}} {
		of := func(name string) int { return total(seen.shapes[at[0]].kinds(at[1] + name)) }
		if of("addressCountryIso")+of("addressCountry") > 0 {
			return of("addressCountryIso") > 0, true
		}
	}
	return nil, false
}

func contactStatus(seen *recorder) (any, bool) {
	of := func(name string) int { return total(seen.shapes["GET contacts"].kinds("member[]." + name)) }
	switch status, state := of("status"), of("state"); {
	case status > 0 && state == 0:
		return "status", true
	case state > 0 && status == 0:
		return "state", true
	}
	return nil, false
}

// formerStatus is the one word of a contact's status that is not documented, if it says so itself.
func formerStatus(seen *recorder) (any, bool) {
	words := slices.Concat(seen.words["contacts.status"], seen.words["contacts.state"])
	return onlyOne(slices.DeleteFunc(words, func(word string) bool { return !strings.Contains(word, "former") }))
}

// saleFilters are known if the sales of no contact are none.
func saleFilters(seen *recorder) (any, bool) {
	switch of := seen.narrowed; {
	case len(seen.ids["GET sales"]) == 0: // an empty list tells nothing
		return nil, false
	case of.status == http.StatusOK:
		return of.length == 0, true
	case of.status == http.StatusNotFound:
		return true, true
	case of.status == http.StatusBadRequest && seen.filtered == http.StatusBadRequest:
		return false, true
	}
	return nil, false
}

// checkouts are played with the account of the processor's double.
func checkouts(seen *recorder) (any, bool) {
	accounts := seen.shapes["GET checkouts"].kinds("member[].paymentProviderConfiguration.accountId")
	status := seen.statuses["GET checkouts"]
	switch {
	case accounts[text] > 0:
		return "own", true
	case len(status) > 0 && status[0] == http.StatusNotFound:
		return "hidden", true
	}
	return nil, false
}

// onlineCancellation exists where its motives can be read.
func onlineCancellation(seen *recorder) (any, bool) {
	status := seen.statuses["GET referentials/cancellation_motives"]
	return slices.Contains(status, http.StatusOK), slices.Contains(status, http.StatusOK) || slices.Contains(status, http.StatusNotFound)
}

// saleTerms exist where those of a club can be asked for.
func saleTerms(seen *recorder) (any, bool) {
	status := seen.statuses["GET identify_sale_terms"]
	return slices.Contains(status, http.StatusOK), slices.Contains(status, http.StatusOK) || slices.Contains(status, http.StatusNotFound)
}

// callLimits are those in the headers; without such headers there are none. A limit that ends later than its window is another
// one than the simulator's, and is left out.
func callLimits(seen *recorder) (any, bool) {
	shown, limits := seen.seen, map[string]int{"perSlice": seen.seen.Spike}
	for name, limit := range map[string]club.CallLimit{"perMinute": shown.Rate, "perDay": shown.Quota} {
		if window := windows[name]; !limit.Reset.After(seen.now().Add(window)) {
			limits[name] = limit.Limit
		}
	}
	if shown.Spike > 0 {
		limits["sliceMs"] = int(shown.Slice.Milliseconds())
	}
	return limits, true
}

// windows are the windows of the simulator's limits.
var windows = map[string]time.Duration{"perMinute": time.Minute, "perDay": 24 * time.Hour}
