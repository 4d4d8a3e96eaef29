package probe

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"frontdesk/upstream/clubsim"
)

// Report is what a probe has found. Nothing in it is a value of a record.
type Report struct {
	// Settings are those with which the simulator plays the installation, as far as they were seen.
	Settings    map[string]any
	Differences []Difference
	NotSeen     []Gap
	Unreadable  []string // settings that no read shows
	Calls       int
	Halted      error // why the probe ended early; nil: it did not

	failures map[string]int // reads that the club system refuses, or that have no JSON: their status
}

// Difference is a row of the table: what the installation does otherwise than the simulator's default world.
type Difference struct {
	Where     string // a setting, or an operation with a path
	Here      string
	Simulator string
	Means     string
}

// Gap is what could not be seen, and what would show it.
type Gap struct{ What, Needs string }

// newReport reads the settings out of what was recorded.
func newReport(seen *source) *Report {
	report := &Report{
		Settings:   map[string]any{},
		Unreadable: unreadableSettings(),
		Calls:      seen.calls,
		Halted:     seen.halted,
		failures:   map[string]int{},
	}
	defaults := members(clubsim.DefaultSettings())
	for _, row := range rows {
		value, ok := row.see(seen.recorder)
		if !ok {
			report.NotSeen = append(report.NotSeen, Gap{row.setting, row.needs})
			continue
		}
		report.Settings[row.setting] = value
		if usual := defaults[row.setting]; !within(value, usual) {
			report.Differences = append(report.Differences, Difference{row.setting, short(asText(value)), short(asText(usual)), row.means})
		}
	}
	report.Differences = append(report.Differences, unreadable(seen)...)
	report.Differences = append(report.Differences, unknownWords(seen)...)
	for _, operation := range slices.Sorted(maps.Keys(seen.statuses)) {
		status := seen.statuses[operation][0]
		if seen.shapes[operation] != nil || status == http.StatusNoContent {
			continue
		}
		what := "another response than status %d"
		if status < http.StatusMultipleChoices {
			what = "JSON: the response has none, although its status is %d"
		}
		report.NotSeen = append(report.NotSeen, Gap{operation, fmt.Sprintf(what, status)})
		if status != http.StatusUnauthorized && status != http.StatusTooManyRequests && status < 500 {
			report.failures[operation] = status
		}
	}
	return report
}

// unreadableSettings lists those without a row.
func unreadableSettings() (names []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[clubsim.Settings]()) {
		name := field.Tag.Get("json")
		if !slices.ContainsFunc(rows, func(row row) bool { return row.setting == name }) && name != membersSetting {
			names = append(names, name)
		}
	}
	return names
}

// played returns the settings with which the simulator plays what was seen.
func (r *Report) played() (clubsim.Settings, error) { return clubsim.ParseSettings(r.File()) }

// File is the content of the settings file.
func (r *Report) File() []byte {
	encoded, err := json.MarshalIndent(r.Settings, "", "  ")
	if err != nil {
		panic(err) // they are texts, numbers, lists and maps
	}
	return append(encoded, '\n')
}

// unreadable lists what the client cannot read.
func unreadable(seen *source) (found []Difference) {
	const means = "the gateway does without these records: have them corrected, or report it"
	for _, kind := range seen.client.Unreadable() {
		here := fmt.Sprintf("unreadable in %d records", kind.Count)
		found = append(found, Difference{kind.Operation + " " + kind.Field, here, "readable", means})
	}
	for _, failure := range seen.failed {
		here := strings.TrimPrefix(failure.Seen(), ", ")
		difference := Difference{failure.Operation, here, "readable", "the gateway cannot work with it: report it"}
		if !slices.Contains(found, difference) {
			found = append(found, difference)
		}
	}
	slices.SortFunc(found, func(a, b Difference) int { return strings.Compare(a.Where, b.Where) })
	return found
}

// unknownWords lists the words that neither the description nor a setting has.
func unknownWords(seen *source) (found []Difference) {
	former, _ := formerStatus(seen.recorder)
	for _, path := range slices.Sorted(maps.Keys(seen.words)) {
		words := slices.DeleteFunc(slices.Sorted(slices.Values(seen.words[path])), func(word string) bool { return word == former })
		if len(words) > 0 {
			found = append(found, Difference{path, strings.Join(words, ", "), strings.Join(enumerations[path], ", "),
				"the gateway passes the word on, and no rule of it applies"})
		}
	}
	return found
}

// within reports whether a setting is the same as another one, or the same part of it.
func within(value, other any) bool {
	part, whole := members(value), members(other)
	for name := range part {
		if asText(part[name]) != asText(whole[name]) {
			return false
		}
	}
	return part != nil || asText(value) == asText(other)
}

// asText writes a setting for people, without quotes around words.
func asText(value any) string {
	encoded, _ := json.Marshal(value)
	return strings.Trim(string(encoded), `"`)
}

// short shortens a long list.
func short(text string) string {
	const width = 60
	if len(text) > width {
		return text[:width-3] + "..."
	}
	return text
}
