package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Mutation is a mistake that is built into a copy of the code, to see whether the
// campaigns find it. The code itself knows nothing of it: the compiler is given
// other files in the place of a few of the tree (go build -overlay).
type Mutation struct {
	Name        string
	Description string // the mistake, in a sentence
	Edits       []Edit
}

// Edit replaces a text that stands exactly once in a file.
type Edit struct {
	File string // from the project's folder
	Old  string
	New  string
}

// MutationNamed finds one in Weaknesses.
func MutationNamed(name string) (Mutation, error) {
	for _, w := range Mutations() {
		if w.Name == name {
			return w, nil
		}
	}
	return Mutation{}, fmt.Errorf("there is no weakness %q", name)
}

// ChangedFiles gives the files of the tree that the weakness changes, as they read then. It fails when the
// code has moved on and an edit finds no place, or more than one.
func (w Mutation) ChangedFiles() (map[string]string, error) {
	changed := map[string]string{}
	for _, edit := range w.Edits {
		path := filepath.Join(Root(), edit.File)
		text, ok := changed[path]
		if !ok {
			whole, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			text = string(whole)
		}
		if n := strings.Count(text, edit.Old); n != 1 {
			return nil, fmt.Errorf("the weakness %s no longer applies: %d places in %s read %q", w.Name, n, edit.File, edit.Old)
		}
		changed[path] = strings.Replace(text, edit.Old, edit.New, 1)
	}
	return changed, nil
}

// WriteOverlay writes the changed files into a folder and gives the path of the list
// that the compiler wants.
func (w Mutation) WriteOverlay(dir string) (string, error) {
	changed, err := w.ChangedFiles()
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range changed {
		copied := filepath.Join(dir, strconv.Itoa(len(replace))+"_"+filepath.Base(path))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[path] = copied
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}

// The packages that are built.
const (
	gatewayPackage = "frontdesk"
	commandPackage = "frontdesk/e2e/campaign/run"
)

// Builds makes binaries, each once, in a folder of its own. They are built without
// the race detector: it costs most of the speed that a campaign lives on.
type Builds struct {
	dir   string
	mu    sync.Mutex // builds come one after the other: each uses all cores
	built map[string]string
}

// NewBuilds makes the folder.
func NewBuilds() (*Builds, error) {
	dir, err := os.MkdirTemp("", "frontdesk-campaign")
	return &Builds{dir: dir, built: map[string]string{}}, err
}

// Close removes everything that was built.
func (b *Builds) Close() error { return os.RemoveAll(b.dir) }

// Gateway builds the gateway with a weakness; with none for the empty name.
func (b *Builds) Gateway(ctx context.Context, weakness string) (string, error) {
	return b.build(ctx, gatewayPackage, weakness)
}

// Command builds the campaigns' command with a weakness in the code that it runs.
func (b *Builds) Command(ctx context.Context, weakness string) (string, error) {
	return b.build(ctx, commandPackage, weakness)
}

func (b *Builds) build(ctx context.Context, pkg, weakness string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := filepath.Base(pkg) + "-" + weakness
	if path, ok := b.built[name]; ok {
		return path, nil
	}
	path := filepath.Join(b.dir, name)
	args := []string{"build", "-o", path}
	if weakness != "" {
		w, err := MutationNamed(weakness)
		if err != nil {
			return "", err
		}
		dir, err := os.MkdirTemp(b.dir, "overlay")
		if err != nil {
			return "", err
		}
		list, err := w.WriteOverlay(dir)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", list)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Dir = Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s with the weakness %q does not build: %w\n%s", pkg, weakness, err, out)
	}
	b.built[name] = path
	return path, nil
}

// KillTimeout is how long a campaign may take to find a weakness. One that needs
// longer would miss a mistake of that kind in the runs that everybody makes.
const KillTimeout = 2 * time.Minute

// Kill runs a campaign against a build with a weakness until it finds a
// violation. It is an error when it finds none.
func Kill(ctx context.Context, b *Builds, c Campaign, weakness string, o Options) (*Report, error) {
	if o.Duration == 0 {
		o.Duration = KillTimeout
	}
	o.StopAtViolation = true
	report, err := runMutated(ctx, b, c, weakness, o)
	if err != nil {
		return nil, err
	}
	report.Mutation = weakness
	if report.ViolationCount == 0 {
		return report, fmt.Errorf("campaign %s drove %d journeys in %s against the weakness %s and found nothing",
			c.Name, report.Journeys, report.Duration.Round(time.Second), weakness)
	}
	return report, nil
}

func runMutated(ctx context.Context, b *Builds, c Campaign, weakness string, o Options) (*Report, error) {
	if !c.InProcess {
		gateway, err := b.Gateway(ctx, weakness)
		if err != nil {
			return nil, err
		}
		o.Gateway = gateway
		return c.Run(ctx, o)
	}
	command, err := b.Command(ctx, weakness)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, command, c.Name, "--json", "--until-violation",
		"--seed", strconv.FormatUint(o.Seed, 10), "--count", strconv.Itoa(o.Count), "--for", o.Duration.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	report := &Report{}
	if jsonErr := json.Unmarshal(out, report); jsonErr != nil { // the exit code says that there is a violation
		return nil, fmt.Errorf("the command with the weakness %s gave no report: %w, %w", weakness, jsonErr, err)
	}
	return report, nil
}

// Root is the project's folder.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}
