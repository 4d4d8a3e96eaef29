package cmd_test

import (
	"runtime/debug"
	"testing"

	"frontdesk/cmd"
)

// TestRecordedVersion: what a build without the linker's version tells of itself.
func TestRecordedVersion(t *testing.T) {
	t.Parallel()
	const commit = "8011c23efc731a529727e4578578b64e156bb9a8"
	settings := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: commit}, {Key: "vcs.modified", Value: modified}}
	}
	for name, is := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"a clone":                  {&debug.BuildInfo{Main: debug.Module{Version: "v0.9.0"}, Settings: settings("false")}, "v0.9.0"},
		"a shallow clone":          {&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: settings("false")}, commit},
		"a shallow clone, changed": {&debug.BuildInfo{Settings: settings("true")}, commit + "+dirty"},
		"no repository":            {&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "unknown"},
		"nothing recorded":         {nil, "unknown"},
	} {
		if got := cmd.RecordedVersion(is.info); got != is.want {
			t.Errorf("%s: %q, want %q", name, got, is.want)
		}
	}
}
