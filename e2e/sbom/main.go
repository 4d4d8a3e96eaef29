// Command sbom writes the bill of materials of a binary (CycloneDX, JSON). It lists the modules
// that the Go tool has recorded in the binary: only those that were linked, not all of go.mod.
//
//	go run ./e2e/sbom BINARY VERSION >frontdesk.cdx.json
package main

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY VERSION")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(to io.Writer, binary, version string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	bill := cdx.NewBOM()
	program := component(cdx.ComponentTypeApplication, info.Main.Path, version)
	bill.Metadata = &cdx.Metadata{Component: &program}
	// The standard library is a component, too, because most advisories are about it.
	components := []cdx.Component{component(cdx.ComponentTypeLibrary, "stdlib", strings.TrimPrefix(info.GoVersion, "go"))}
	references := []string{components[0].BOMRef}
	for _, module := range info.Deps {
		if module.Replace != nil { // was linked in place of it
			module = module.Replace
		}
		linked := component(cdx.ComponentTypeLibrary, module.Path, module.Version)
		components, references = append(components, linked), append(references, linked.BOMRef)
	}
	bill.Components = &components
	bill.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &references}}
	return cdx.NewBOMEncoder(to, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bill)
}

func component(kind cdx.ComponentType, path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cdx.Component{
		BOMRef:     url,
		Type:       kind,
		Name:       path,
		Version:    version,
		PackageURL: url,
	}
}
