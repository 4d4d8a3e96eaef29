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
	"time"

	"go.yaml.in/yaml/v4"

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

// WriteOverlay writes the changed files into a folder and returns the path of the list for the compiler's -overlay.
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

// build compiles a package until the scope ends, with a mutation unless its name is empty. The race detector is
// left out, because it costs a campaign most of its speed.
func build(scope *frontdesktest.Scope, pkg, mutation string) (path string) {
	var flags []string
	if mutation != "" {
		m, err := MutationNamed(mutation)
		frontdesktest.Must(scope, err)
		list, err := m.WriteOverlay(scope.TempDir())
		frontdesktest.Must(scope, err)
		flags = []string{"-overlay", list}
	}
	return frontdesktest.Build(scope, pkg, flags...)
}

// KillTimeout is how long a campaign may take to find a mutation. A campaign that needs longer would
// miss such a mistake in everyday runs.
const KillTimeout = 5 * time.Minute

// Kill runs a campaign against a build with the mutation of the options until it finds a violation. It
// fails when the campaign finds none.
func Kill(ctx context.Context, campaign Campaign, options Options) (*Report, error) {
	if options.Duration == 0 {
		options.Duration = KillTimeout
	}
	options.StopAtViolation = true
	run := campaign.Run
	if campaign.InProcess {
		run = campaign.runCommand
	}
	report, err := run(ctx, options)
	if err != nil {
		return nil, err
	}
	report.Mutation = options.Mutation
	if report.ViolationCount == 0 {
		return report, fmt.Errorf("campaign %s drove %d journeys in %s against the mutation %s and found nothing",
			campaign.Name, report.Journeys, report.Duration.Round(time.Second), options.Mutation)
	}
	return report, nil
}

// runCommand builds the campaigns' command with the mutation in the code that it runs, and runs it.
func (c Campaign) runCommand(ctx context.Context, options Options) (report *Report, err error) {
	scope := frontdesktest.NewScope(ctx)
	defer scope.End()
	command := ""
	if err := scope.Run(func() { command = build(scope, "frontdesk/e2e/campaign/run", options.Mutation) }); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, command, c.Name, "--until-violation",
		"--seed", strconv.FormatUint(options.Seed, 10), "--count", strconv.Itoa(options.Count), "--for", options.Duration.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if yamlErr := yaml.Unmarshal(out, &report); yamlErr != nil || report == nil { // the exit code says that there is a violation
		return nil, fmt.Errorf("the command with the mutation %s gave no report: %w", options.Mutation, errors.Join(yamlErr, err))
	}
	return report, nil
}
