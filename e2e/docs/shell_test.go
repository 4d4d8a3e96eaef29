// Package docs_test tests what front-end developers read and copy: it runs every
// example of the contract, every curl command, every snippet and every example
// file against a fresh mock gateway, or compares it with the contract. It also
// holds the code to what contributors read: the layout of the packages.
//
// Start reading at paste in shell_test.go, which runs a page as a reader does.
package docs_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }

// exchange is a request that a command has made, and how it was answered.
type exchange struct {
	Method, Path string
	Status       int
}

// journal makes curl log what it did, next to what it prints, without its progress.
const journal = "#!/bin/sh\nexec %CURL% -s -w '%{stderr}EXCHANGE %{method} %{http_code} %{url_effective}\\n' \"$@\"\n"

// exchanged is a line of the journal.
var exchanged = regexp.MustCompile(`^EXCHANGE (\S+) (\d+) https?://[^/]+([^?#\s]*)`)

// paste runs lines of shell as a reader with the gateway at its usual address, and returns their output
// and their requests. An error of any command fails the test.
func paste(t *testing.T, gateway, lines string) (printed string, made []exchange) {
	t.Helper()
	tools := map[string]string{}
	for _, name := range []string{"bash", "curl", "jq", "openssl"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatalf("the examples need %s: apt-get install %s, or the like", name, name)
		}
		tools[name] = path
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "curl"), []byte(strings.Replace(journal, "%CURL%", tools["curl"], 1)), 0o755); err != nil {
		t.Fatal(err)
	}
	lines = strings.NewReplacer("http://localhost:8080", gateway, "http://127.0.0.1:8081", gateway).Replace(lines)
	command := exec.CommandContext(t.Context(), tools["bash"], "-c", "PATH="+bin+":$PATH\n"+lines)
	command.Dir = t.TempDir()
	var out, complaints strings.Builder
	command.Stdout, command.Stderr = &out, &complaints
	if err := runCommand(command); errors.Is(err, errSilent) {
		t.Fatalf("%v:\n%s\n%s", err, lines, complaints.String())
	}
	for line := range strings.Lines(complaints.String()) {
		if found := exchanged.FindStringSubmatch(line); found != nil {
			status, _ := strconv.Atoi(found[2])
			made = append(made, exchange{found[1], found[3], status})
		} else if strings.TrimSpace(line) != "" {
			t.Errorf("the shell complains: %s", line)
		}
	}
	return out.String(), made
}

// block is a fenced piece of a page, and the words behind its fence.
type block struct {
	Language, File string // File: the file that the block quotes; empty: none
	Text           string
}

var fenced = regexp.MustCompile("(?ms)^ *```(\\w+)(?: (\\S+))?\n(.*?)^ *```$")

// parseBlocks lists the fenced pieces of Markdown.
func parseBlocks(markdown string) (blocks []block) {
	for _, found := range fenced.FindAllStringSubmatch(markdown, -1) {
		blocks = append(blocks, block{Language: found[1], File: found[2], Text: found[3]})
	}
	return blocks
}

// read returns a file of the project as text.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(frontdesktest.Root(), path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// localhost is a gateway's address as readers write it.
func localhost(gateway string) string { return strings.Replace(gateway, "127.0.0.1", "localhost", 1) }
