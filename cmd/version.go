package cmd

import (
	"fmt"
	"runtime/debug"
)

// version is written by the linker (-X frontdesk/cmd.version=…), for builds that have no
// repository to read it from; empty otherwise.
var version string

type versionCommand struct{}

// Run prints what was built.
func (c *versionCommand) Run() error {
	fmt.Println("frontdesk", builtVersion())
	return nil
}

// builtVersion is what the build was told, or else what the Go tool found in the
// repository.
func builtVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}
