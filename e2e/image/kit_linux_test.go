package image_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// builder runs buildah on its own storage, which is removed afterwards.
type builder struct {
	t       *testing.T
	storage string
}

func newBuilder(t *testing.T) *builder {
	t.Helper()
	if os.Geteuid() != 0 {
		refuse := t.Skip
		if os.Getenv("CI") != "" { //nolint:forbidigo // there nothing is skipped
			refuse = t.Fatal
		}
		refuse("this test builds the image and runs it as nobody, which takes root: sudo make check")
	}
	if _, err := exec.LookPath("buildah"); err != nil {
		t.Fatal("this test needs buildah: apt-get install buildah, or the like")
	}
	b := &builder{t: t, storage: t.TempDir()}
	t.Cleanup(func() {
		b.buildah("rm", "--all") // unmounts what is mounted
	})
	return b
}

// buildah runs one command and returns what it prints.
func (b *builder) buildah(args ...string) string {
	b.t.Helper()
	var errors bytes.Buffer
	cmd := exec.Command(
		"buildah",
		append([]string{"--storage-driver", "vfs", "--root", b.storage + "/root", "--runroot", b.storage + "/run"}, args...)...)
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf("buildah %s: %v\n%s\n%s", strings.Join(args, " "), err, out, errors.String())
	}
	return string(out)
}

// golang makes a replacement for the official image for a platform, from what is on this machine: a
// shell and certificates. The Go tool itself, the modules and the compiled packages are mounted when
// the build runs.
func (b *builder) golang(platform string) (name string) {
	b.t.Helper()
	content := b.t.TempDir()
	files := []string{"/etc/ssl/certs/ca-certificates.crt", "/bin/sh"}
	libraries, err := exec.Command("ldd", "/bin/sh").Output()
	if err != nil {
		b.t.Fatal(err)
	}
	files = append(files, regexp.MustCompile(`/\S+`).FindAllString(string(libraries), -1)...)
	for _, file := range files {
		copyFile(b.t, file, filepath.Join(content, file))
	}
	if err := os.Mkdir(filepath.Join(content, "tmp"), 0o777); err != nil {
		b.t.Fatal(err)
	}
	recipe := filepath.Join(b.t.TempDir(), "Dockerfile")
	text := "FROM scratch\nCOPY . /\nENV PATH=/usr/local/go/bin:/bin GOPATH=/go HOME=/root GOPROXY=" + goEnv(b.t, "GOPROXY") + "\n"
	if err := os.WriteFile(recipe, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	name = "localhost/golang:" + path.Base(platform)
	b.buildah("bud", "--isolation", "chroot", "--file", recipe, "--platform", platform, "--tag", name, content)
	return name
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, content, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// image is an unpacked image that is read-only.
type image struct{ folder string }

// readOnly mounts a folder read-only until the test ends.
func readOnly(t *testing.T, folder string) image {
	t.Helper()
	at := t.TempDir()
	if err := syscall.Mount(folder, at, "", syscall.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(at, 0); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mount("", at, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	return image{at}
}

// command runs the binary of the image as a container would: there is nothing else, nothing can be
// written, and the user is nobody.
func (i image) command(args ...string) *exec.Cmd {
	cmd := exec.Command("/frontdesk", args...)
	cmd.Dir, cmd.Env = "/", []string{"FRONTDESK_ADDR=:0", "FRONTDESK_OPS_ADDR=127.0.0.1:0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: i.folder, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	return cmd
}

// gateway is the image running.
type gateway struct {
	cmd  *exec.Cmd
	log  bytes.Buffer
	said chan struct{} // closed at the end of its output
	port string
}

var place = regexp.MustCompile(`http://localhost:(\d+)/`)

func (i image) start(t *testing.T) *gateway {
	t.Helper()
	running := &gateway{cmd: i.command(), said: make(chan struct{})}
	running.cmd.Stderr = &running.log
	stdout, err := running.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := running.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { running.cmd.Process.Kill() }) //nolint:errcheck // it has ended already if all went well
	for lines := bufio.NewScanner(stdout); running.port == "" && lines.Scan(); {
		if found := place.FindStringSubmatch(lines.Text()); found != nil {
			running.port = found[1]
		}
	}
	go func() {
		io.Copy(io.Discard, stdout) // keeps the pipe from filling up
		close(running.said)
	}()
	if running.port == "" {
		frontdesktest.Receive(t, running.said, "its output ends")
		running.cmd.Wait() //nolint:errcheck // what it said tells more
		t.Fatalf("it did not start:\n%s", running.log.String())
	}
	return running
}

// stop asks the gateway to end, and fails the test unless it ends well.
func (g *gateway) stop(t *testing.T) {
	t.Helper()
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	frontdesktest.Receive(t, g.said, "it ends")
	if err := g.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v:\n%s", err, g.log.String())
	}
}
