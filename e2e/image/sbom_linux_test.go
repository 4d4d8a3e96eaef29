package image_test

import (
	"debug/buildinfo"
	"encoding/json"
	"os/exec"
	"testing"
)

// checkMaterials compares the bill of materials with the linked modules.
func checkMaterials(t *testing.T, binary string) {
	write := exec.Command("go", "run", "./e2e/sbom", binary, version)
	write.Dir = root(t)
	out, err := write.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var bill struct {
		BOMFormat  string
		Metadata   struct{ Component struct{ PURL string } }
		Components []struct{ PURL string }
	}
	if err := json.Unmarshal(out, &bill); err != nil {
		t.Fatal(err)
	}
	if bill.BOMFormat != "CycloneDX" {
		t.Errorf("its format is %q", bill.BOMFormat)
	}
	if bill.Metadata.Component.PURL != "pkg:golang/frontdesk@"+version {
		t.Errorf("it is about %q", bill.Metadata.Component.PURL)
	}
	listed := map[string]bool{}
	for _, component := range bill.Components {
		listed[component.PURL] = true
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Deps) == 0 || len(listed) != len(info.Deps)+1 { // and the standard library
		t.Errorf("it lists %d components of %d modules", len(listed), len(info.Deps))
	}
	for _, module := range info.Deps {
		if !listed["pkg:golang/"+module.Path+"@"+module.Version] {
			t.Errorf("%s is linked and not listed", module.Path)
		}
	}
	write = exec.Command("go", "run", "./e2e/sbom", "go.mod", version)
	write.Dir = root(t)
	if err := write.Run(); err == nil {
		t.Error("a file other than a binary has a bill of materials")
	}
}
