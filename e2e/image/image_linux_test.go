// Package image_test builds the image of the Dockerfile and runs it, without a
// registry and without a network, from packages that are already compiled here.
package image_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// version is stamped into the image that is tested.
const version = "v1.2.3-test"

// largest bounds the unpacked image, in bytes. The binary becomes twice as large once any reachable
// code looks methods up by name (html/template, or reflect's MethodByName): the linker then keeps every
// exported method. To find the cause, look before <ReflectMethod> in: go build -ldflags=-dumpdep .
const largest = 36_000_000

// TestImage builds the image once and checks all of it.
func TestImage(t *testing.T) {
	builder := newBuilder(t)
	golang := builder.golang("linux/" + runtime.GOARCH)
	builder.buildah("bud", "--isolation", "chroot", "--format", "docker", "--build-context", "golang:1.26=container-image://"+golang,
		"--build-arg", "VERSION="+version, "--volume", goEnv(t, "GOROOT")+":/usr/local/go:ro",
		"--volume", goEnv(t, "GOMODCACHE")+":/go/pkg/mod", "--volume", goEnv(t, "GOCACHE")+":/root/.cache/go-build",
		"--tag", "localhost/frontdesk", root(t))
	t.Run("configuration", func(t *testing.T) {
		checkConfiguration(t, builder.buildah("inspect", "--type", "image", "localhost/frontdesk"))
	})
	container := strings.TrimSpace(builder.buildah("from", "--pull-never", "localhost/frontdesk"))
	image := readOnly(t, strings.TrimSpace(builder.buildah("mount", container)))
	t.Run("files", func(t *testing.T) { checkFiles(t, image) })
	t.Run("version", func(t *testing.T) {
		if out, err := image.command("version").Output(); err != nil || string(out) != "frontdesk "+version+"\n" {
			t.Errorf("%v, %q", err, out)
		}
	})
	t.Run("materials", func(t *testing.T) { checkMaterials(t, image.folder+"/frontdesk") })
	t.Run("runs", func(t *testing.T) { checkRuns(t, image) })
	t.Run("released", func(t *testing.T) { checkReleased(t, builder) })
}

// checkReleased builds the images of a release, as docker buildx does for goreleaser: each from the program of its platform,
// which is a text here.
func checkReleased(t *testing.T, builder *builder) {
	release := t.TempDir()
	copyFile(t, filepath.Join(root(t), "Dockerfile"), filepath.Join(release, "Dockerfile"))
	for _, platform := range []string{"linux/amd64", "linux/arm64"} {
		program := filepath.Join(release, platform, "frontdesk")
		if err := errors.Join(os.MkdirAll(filepath.Dir(program), 0o755), os.WriteFile(program, []byte(platform), 0o755)); err != nil {
			t.Fatal(err)
		}
		builder.buildah("bud", "--isolation", "chroot", "--format", "docker", "--platform", platform, "--target", "released",
			"--build-context", "golang:1.26=container-image://"+builder.golang(platform), "--tag", "localhost/released", release)
		container := strings.TrimSpace(builder.buildah("from", "--pull-never", "--platform", platform, "localhost/released"))
		inside, err := os.ReadFile(strings.TrimSpace(builder.buildah("mount", container)) + "/frontdesk")
		if err != nil || string(inside) != platform {
			t.Errorf("the image for %s has the program for %q (%v)", platform, inside, err)
		}
		got := builder.buildah("inspect", "--type", "image", "--format", "{{.OCIv1.OS}}/{{.OCIv1.Architecture}}", "localhost/released")
		if strings.TrimSpace(got) != platform {
			t.Errorf("the image for %s is one for %s", platform, got)
		}
	}
}

// checkConfiguration checks what an orchestrator reads of the image.
func checkConfiguration(t *testing.T, inspected string) {
	var image struct {
		Docker struct {
			Config struct {
				User         string
				Entrypoint   []string
				Cmd          []string
				ExposedPorts map[string]any
				Labels       map[string]string
				Healthcheck  struct{ Test []string }
			} `json:"config"`
		}
	}
	if err := json.Unmarshal([]byte(inspected), &image); err != nil {
		t.Fatal(err)
	}
	config := image.Docker.Config
	if config.User != "65532:65532" {
		t.Errorf("it runs as %q", config.User)
	}
	if got := strings.Join(config.Entrypoint, " ") + strings.Join(config.Cmd, " "); got != "/frontdesk" {
		t.Errorf("it runs %q", got)
	}
	if got := strings.Join(config.Healthcheck.Test, " "); got != "CMD /frontdesk health" {
		t.Errorf("its health is asked by %q", got)
	}
	if _, ok := config.ExposedPorts["8080/tcp"]; !ok || len(config.ExposedPorts) != 1 {
		t.Errorf("it exposes %v", config.ExposedPorts)
	}
	if config.Labels["org.opencontainers.image.version"] != version || config.Labels["org.opencontainers.image.licenses"] != "Apache-2.0" {
		t.Errorf("labels: %v", config.Labels)
	}
}

// checkFiles expects the binary and the certificates, and nothing else: no shell, no tool, no file that
// was sent to the build by mistake.
func checkFiles(t *testing.T, image image) {
	var size int64
	found := map[string]bool{}
	err := filepath.WalkDir(image.folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		size += info.Size()
		found[strings.TrimPrefix(path, image.folder)] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || !found["/frontdesk"] || !found["/etc/ssl/certs/ca-certificates.crt"] {
		t.Errorf("it holds %v", found)
	}
	if size > largest {
		t.Errorf("it unpacks to %d bytes, of at most %d", size, largest)
	}
}

// checkRuns starts mock mode without root, on a read-only file system.
func checkRuns(t *testing.T, image image) {
	gateway := image.start(t)
	var clubs, products struct {
		Items []struct{ ID string }
	}
	gateway.get(t, "/healthz", nil)
	gateway.get(t, "/v1/clubs", &clubs)
	if len(clubs.Items) == 0 {
		t.Fatal("there are no clubs")
	}
	gateway.get(t, "/v1/clubs/"+clubs.Items[0].ID+"/products", &products)
	if len(products.Items) == 0 {
		t.Error("the catalogue is empty")
	}
	if out, err := image.command("health", "--addr", ":"+gateway.port).CombinedOutput(); err != nil {
		t.Errorf("health: %v: %s", err, out)
	}
	gateway.stop(t)
	out, err := image.command("health", "--addr", ":"+gateway.port).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the gateway does not respond") {
		t.Errorf("of a gateway that has ended health says %v, %s", err, out)
	}
	if out, err := image.command("health", "--addr", "8080").CombinedOutput(); err == nil || !strings.Contains(string(out), "FRONTDESK_ADDR") {
		t.Errorf("of an address without a host health says %v, %s", err, out)
	}
}

func (g *gateway) get(t *testing.T, path string, into any) {
	t.Helper()
	response, err := http.Get("http://127.0.0.1:" + g.port + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, response.Status)
	}
	if into == nil {
		return
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func root(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(here))
}
