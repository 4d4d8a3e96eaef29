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
// tool found in the repository.
func builtVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}
