package cmd

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker (-X frontdesk/cmd.version=…) in builds without a
// repository; empty otherwise.
var version string

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version.", Args: exactArgs(),
		Run: func(*cobra.Command, []string) { fmt.Println("frontdesk", builtVersion()) },
	}
}

// builtVersion returns the version that the linker set, or else the one that the Go
// tool recorded.
func builtVersion() string {
	if version != "" {
		return version
	}
	info, _ := debug.ReadBuildInfo()
	return recordedVersion(info)
}

// recordedVersion returns what the Go tool recorded of the repository: the tag, or the
// day and the commit after it, with "+dirty" if files differ from the commit; only the
// commit if the clone is too shallow for the rest; "unknown" if it recorded nothing,
// because go run does so only with -buildvcs=true, and go build not with -buildvcs=false.
func recordedVersion(info *debug.BuildInfo) string {
	if info == nil {
		return "unknown"
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	found := map[string]string{}
	for _, setting := range info.Settings {
		found[setting.Key] = setting.Value
	}
	commit := found["vcs.revision"]
	if commit == "" {
		return "unknown"
	}
	if found["vcs.modified"] == "true" {
		commit += "+dirty"
	}
	return commit
}
