package cmd_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/cmd"
)

var update = flag.Bool("update", false, "write the pages in docs/reference instead of comparing them")

// TestReference compares the generated reference pages with the options and the commands.
func TestReference(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(io.Writer){"configuration.md": cmd.WriteConfiguration, "cli.md": cmd.WriteCommands} {
		path := filepath.Join("..", "docs", "reference", name)
		var want bytes.Buffer
		write(&want)
		if *update {
			if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s differs from the code: run go generate ./cmd", path)
		}
	}
}

// TestEveryOptionHasItsReason checks that the reference says of each option who sets it and what happens without it: an option
// without an answer is a constant.
func TestEveryOptionHasItsReason(t *testing.T) {
	t.Parallel()
	for name, answers := range cmd.Options() {
		for _, answer := range answers {
			if !strings.HasSuffix(answer, ".") {
				t.Errorf("--%s: %q is not a sentence", name, answer)
			}
		}
	}
}
