// Package release_test builds a release twice, each in a folder of its own and for this platform alone, and uses it as
// its users do: the archive, and the npm packages from a registry on this machine.
package release_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }

// TestRelease builds what make release-snapshot builds, and uses it.
func TestRelease(t *testing.T) {
	t.Parallel()
	source := commit(t)
	run(t, source, "make", "release-snapshot")
	t.Run("archive", func(t *testing.T) { checkArchive(t, source) })
	t.Run("npx", func(t *testing.T) { checkNpx(t, source) })
	t.Run("two builds, one checksum", func(t *testing.T) {
		again := commit(t)
		run(t, again, "make", "release-snapshot")
		first, second := published(t, source), published(t, again)
		if len(first) < 5 || !maps.Equal(first, second) {
			t.Errorf("the first build has\n%v\nand the second\n%v", first, second)
		}
	})
	t.Run("a plain build tells its commit", func(t *testing.T) { checkPlainBuild(t, source) })
}

// commit copies the project's files into a new repository, with one commit that is the same each time, and a tag.
func commit(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	files := run(t, frontdesktest.Root(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for file := range strings.SplitSeq(strings.TrimSuffix(files, "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(frontdesktest.Root(), file))
		if os.IsNotExist(err) { // was removed since the last commit
			continue
		}
		if file == ".goreleaser.yaml" {
			content = forThisPlatform(t, content)
		}
		frontdesktest.Must(t, err)
		frontdesktest.Must(t, os.MkdirAll(filepath.Join(folder, filepath.Dir(file)), 0o755))
		frontdesktest.Must(t, os.WriteFile(filepath.Join(folder, file), content, 0o755))
	}
	const tools = "e2e/web/node_modules"
	frontdesktest.Must(t, os.Symlink(filepath.Join(frontdesktest.Root(), tools), filepath.Join(folder, tools)))
	run(t, folder, "git", "init", "--quiet", "--initial-branch=main")
	run(t, folder, "git", "add", ".")
	run(t, folder, "git", "commit", "--quiet", "--message=Everything")
	run(t, folder, "git", "tag", "v1.2.3")
	return folder
}

// forThisPlatform leaves one of the six platforms, because each of the others compiles all packages again.
func forThisPlatform(t *testing.T, config []byte) []byte {
	t.Helper()
	const systems, processors = "goos: [linux, darwin, windows]", "goarch: [amd64, arm64]"
	text := string(config)
	if !strings.Contains(text, systems) || !strings.Contains(text, processors) {
		t.Fatal("a release is no longer built for the six platforms")
	}
	return []byte(strings.NewReplacer(systems, "goos: ["+runtime.GOOS+"]", processors, "goarch: ["+runtime.GOARCH+"]").Replace(text))
}

// run runs a command in a folder, as the author of the commit, and returns what it prints.
func run(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2030-01-15T12:00:00Z", "GIT_COMMITTER_DATE=2030-01-15T12:00:00Z",
		"GIT_AUTHOR_NAME=Frontdesk", "GIT_COMMITTER_NAME=Frontdesk", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_EMAIL=a@example.com")
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, log.String())
	}
	return string(out)
}

// published returns the checksums of what a release publishes.
func published(t *testing.T, source string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	for _, pattern := range []string{"release/*.tar.gz", "release/*.json", "release/*.txt", "npm/*"} {
		files, err := fs.Glob(os.DirFS(filepath.Join(source, "artefacts")), pattern)
		frontdesktest.Must(t, err)
		for _, file := range files {
			if file != "release/metadata.json" && file != "release/artifacts.json" { // goreleaser's own notes, which are not published
				sums[file] = checksum(t, filepath.Join(source, "artefacts", file))
			}
		}
	}
	return sums
}

func checksum(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	frontdesktest.Must(t, err)
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

// version returns the version of a release.
func version(t *testing.T, source string) string {
	t.Helper()
	var metadata struct{ Version string }
	content, err := os.ReadFile(filepath.Join(source, "artefacts/release/metadata.json"))
	frontdesktest.Must(t, err)
	frontdesktest.Must(t, json.Unmarshal(content, &metadata))
	return metadata.Version
}

// checkArchive compares the checksums, unpacks the archive and starts its binary, and compares the bill of materials with it.
func checkArchive(t *testing.T, source string) {
	name := fmt.Sprintf("frontdesk_%s_%s_%s", version(t, source), runtime.GOOS, runtime.GOARCH)
	release, unpacked := filepath.Join(source, "artefacts/release"), t.TempDir()
	sums, err := os.ReadFile(filepath.Join(release, "checksums.txt"))
	frontdesktest.Must(t, err)
	for _, file := range []string{name + ".tar.gz", name + ".cdx.json"} {
		if !strings.Contains(string(sums), checksum(t, filepath.Join(release, file))+"  "+file+"\n") {
			t.Errorf("checksums.txt is wrong about %s:\n%s", file, sums)
		}
	}
	run(t, unpacked, "tar", "-xzf", filepath.Join(release, name+".tar.gz"))
	for _, file := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		if _, err := os.Stat(filepath.Join(unpacked, file)); err != nil {
			t.Error(err)
		}
	}
	binary := filepath.Join(unpacked, "frontdesk")
	if said := run(t, unpacked, binary, "version"); said != "frontdesk v"+version(t, source)+"\n" {
		t.Errorf("its version is %q", said)
	}
	bill, err := os.ReadFile(filepath.Join(release, name+".cdx.json"))
	frontdesktest.Must(t, err)
	if want := run(t, source, "go", "run", "./e2e/sbom", binary, "v"+version(t, source)); string(bill) != want {
		t.Errorf("the bill of materials is\n%s\nand not that of the binary", bill)
	}
	environment := []string{"FRONTDESK_ADDR=127.0.0.1:0", "FRONTDESK_OPS_ADDR=127.0.0.1:0"}
	gateway, err := frontdesktest.Launch(t.Context(), frontdesktest.GatewayReady, environment, binary)
	frontdesktest.Must(t, err)
	gateway.EndWith(t)
	responds(t, gateway)
}

// responds reads the configuration of a gateway.
func responds(t *testing.T, gateway *frontdesktest.Process) {
	t.Helper()
	response, err := http.Get(frontdesktest.GatewayURL(gateway.Output()) + "/v1/config")
	frontdesktest.Must(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the configuration is %s", response.Status)
	}
}

// checkPlainBuild builds without goreleaser, before and after a change to a file.
func checkPlainBuild(t *testing.T, source string) {
	head := run(t, source, "git", "rev-parse", "--short=12", "HEAD")
	run(t, source, "git", "tag", "--delete", "v1.2.3")
	says := func() string {
		binary := filepath.Join(t.TempDir(), "frontdesk")
		run(t, source, "env", "CGO_ENABLED=0", "go", "build", "-buildvcs=true", "-trimpath", "-o", binary, ".")
		return strings.TrimSpace(run(t, source, binary, "version"))
	}
	if said := says(); !strings.HasSuffix(said, "-"+strings.TrimSpace(head)) {
		t.Errorf("at the commit %s it says %q", head, said)
	}
	frontdesktest.Must(t, os.WriteFile(filepath.Join(source, "README.md"), nil, 0o644))
	if said := says(); !strings.HasSuffix(said, "-"+strings.TrimSpace(head)+"+dirty") {
		t.Errorf("at the changed commit %s it says %q", head, said)
	}
}
