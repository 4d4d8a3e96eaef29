package cmd_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"frontdesk/cmd"
)

var update = flag.Bool("update", false, "write docs/reference/configuration.md instead of comparing it")

// TestConfigurationReference compares the configuration reference with the options.
func TestConfigurationReference(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "docs", "reference", "configuration.md")
	var want bytes.Buffer
	cmd.WriteReference(&want)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s differs from the options: run go generate ./cmd", path)
	}
}
