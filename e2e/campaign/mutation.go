package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"frontdesk/e2e/frontdesktest"
)

// Mutation is a mistake that is built into a copy of the code (go build -overlay), to see whether the
// campaigns find it.
type Mutation struct {
	Name        string
	Description string // the mistake, in a sentence
	Edits       []Edit
}

// Edit replaces a text that occurs exactly once in a file.
type Edit struct {
	File string // from the project's folder
	Old  string
	New  string
}

// MutationNamed finds a mutation by its name.
func MutationNamed(name string) (Mutation, error) {
	for _, w := range Mutations {
		if w.Name == name {
			return w, nil
		}
	}
	return Mutation{}, fmt.Errorf("unknown mutation %q", name)
}

// ChangedFiles returns the files of the tree that the mutation changes, with their new text. It fails
// when an edit's text no longer occurs exactly once in the code.
func (m Mutation) ChangedFiles() (map[string]string, error) {
	changed := map[string]string{}
	for _, edit := range m.Edits {
		path := filepath.Join(frontdesktest.Root(), edit.File)
		if changed[path] == "" {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			changed[path] = string(text)
		}
		if n := strings.Count(changed[path], edit.Old); n != 1 {
			return nil, fmt.Errorf("the mutation %s no longer applies: %d places in %s read %q", m.Name, n, edit.File, edit.Old)
		}
		changed[path] = strings.Replace(changed[path], edit.Old, edit.New, 1)
	}
	return changed, nil
}

// WriteOverlay writes the changed files into a folder and returns the path of the list for the
// compiler's -overlay.
func (m Mutation) WriteOverlay(dir string) (string, error) {
	changed, err := m.ChangedFiles()
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range changed {
		replace[path] = filepath.Join(dir, strconv.Itoa(len(replace))+"_"+filepath.Base(path))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	path := filepath.Join(dir, "overlay.json")
	return path, errors.Join(err, os.WriteFile(path, list, 0o600))
}

// Builds makes binaries, each once, in a folder of its own. They are built without the race detector,
// which costs a campaign most of its speed.
type Builds struct {
	dir string
	mu  sync.Mutex // builds run one after another: each uses all cores
}

// NewBuilds makes the folder.
func NewBuilds() (*Builds, error) {
	dir, err := os.MkdirTemp("", "frontdesk-campaign")
	return &Builds{dir: dir}, err
}

// Close removes everything that was built.
func (b *Builds) Close() error { return os.RemoveAll(b.dir) }

// Gateway builds the gateway with a mutation; an empty name means none.
func (b *Builds) Gateway(ctx context.Context, mutation string) (string, error) {
	return b.build(ctx, "frontdesk", mutation)
}

// Command builds the campaigns' command with a mutation in the code that it runs.
func (b *Builds) Command(ctx context.Context, mutation string) (string, error) {
	return b.build(ctx, "frontdesk/e2e/campaign/run", mutation)
}

func (b *Builds) build(ctx context.Context, pkg, mutation string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	path := filepath.Join(b.dir, filepath.Base(pkg)+"-"+mutation)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	args := []string{"build", "-o", path}
	if mutation != "" {
		m, err := MutationNamed(mutation)
		if err != nil {
			return "", err
		}
		dir, err := os.MkdirTemp(b.dir, "overlay")
		if err != nil {
			return "", err
		}
		list, err := m.WriteOverlay(dir)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", list)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Dir = frontdesktest.Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s with the mutation %q does not build: %w\n%s", pkg, mutation, err, out)
	}
	return path, nil
}

// KillTimeout is how long a campaign may take to find a mutation. A campaign that needs longer would
// miss such a mistake in everyday runs.
const KillTimeout = 5 * time.Minute

// Kill runs a campaign against a build with a mutation until it finds a violation. It fails when the
// campaign finds none.
func Kill(ctx context.Context, b *Builds, c Campaign, mutation string, o Options) (*Report, error) {
	if o.Duration == 0 {
		o.Duration = KillTimeout
	}
	o.StopAtViolation = true
	report, err := runMutated(ctx, b, c, mutation, o)
	if err != nil {
		return nil, err
	}
	report.Mutation = mutation
	if report.ViolationCount == 0 {
		return report, fmt.Errorf("campaign %s drove %d journeys in %s against the mutation %s and found nothing",
			c.Name, report.Journeys, report.Duration.Round(time.Second), mutation)
	}
	return report, nil
}

func runMutated(ctx context.Context, b *Builds, c Campaign, mutation string, o Options) (report *Report, err error) {
	if !c.InProcess {
		if o.Gateway, err = b.Gateway(ctx, mutation); err != nil {
			return nil, err
		}
		return c.Run(ctx, o)
	}
	command, err := b.Command(ctx, mutation)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, command, c.Name, "--json", "--until-violation",
		"--seed", strconv.FormatUint(o.Seed, 10), "--count", strconv.Itoa(o.Count), "--for", o.Duration.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if jsonErr := json.Unmarshal(out, &report); jsonErr != nil { // the exit code says that there is a violation
		return nil, fmt.Errorf("the command with the mutation %s gave no report: %w, %w", mutation, jsonErr, err)
	}
	return report, nil
}
