package probe

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"

	"frontdesk/upstream/clubsim"
)

// Change is what an installation does otherwise than when a settings file was written.
type Change struct {
	What    string // a setting, or an operation with a path
	Was, Is string
}

// asPlayed is the kind of a member that does not differ from the simulator's.
const asPlayed = "as in the simulator"

// Drift compares the installation with a former file. What either of the two did not see does not count as a change, unless a read that
// worked then was refused now.
func (r *Report) Drift(former []byte) ([]Change, error) {
	if _, err := clubsim.ParseSettings(former); err != nil {
		return nil, err
	}
	var file map[string]any
	if err := yaml.Unmarshal(former, &file); err != nil {
		return nil, err
	}
	if len(file) == 0 {
		return nil, errors.New("the file has no settings")
	}
	before, now := members(file[membersSetting]), members(r.Settings[membersSetting])
	delete(file, membersSetting)
	was, is := leaves(file), leaves(r.Settings)
	var changes []Change
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if latest, seen := is[name]; seen && latest != was[name] {
			changes = append(changes, Change{name, was[name], latest})
		}
	}
	for _, operation := range slices.Sorted(maps.Keys(before)) {
		changes = append(changes, r.membersDrift(operation, before[operation], now[operation])...)
	}
	return changes, nil
}

// membersDrift compares the members of an operation's responses.
func (r *Report) membersDrift(operation string, before, now any) (changes []Change) {
	if now == nil {
		if status := r.failures[operation]; status != 0 {
			changes = append(changes, Change{operation, "readable", fmt.Sprintf("not readable, status %d", status)})
		}
		return changes
	}
	was, is := leaves(before), leaves(now)
	for path := range was {
		if is[path] == "" {
			is[path] = asPlayed
		}
	}
	for _, path := range slices.Sorted(maps.Keys(is)) {
		if former := cmp.Or(was[path], asPlayed); former != is[path] {
			changes = append(changes, Change{operation + " " + path, former, is[path]})
		}
	}
	return changes
}

// leaves returns the values of settings as texts, those of a group by their path, such as callLimits.perMinute.
func leaves(value any) map[string]string {
	found := map[string]string{}
	for name, member := range members(value) {
		group := members(member)
		for below, value := range group {
			found[name+"."+below] = asText(value)
		}
		if group == nil {
			found[name] = asText(member)
		}
	}
	return found
}

// members returns an object's members; nil for any other value.
func members(value any) (found map[string]any) {
	encoded, _ := json.Marshal(value)
	_ = json.Unmarshal(encoded, &found) // another value has none
	return found
}
