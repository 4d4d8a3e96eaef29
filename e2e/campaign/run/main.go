// Command run starts the campaigns of e2e/campaign:
//
//	go run ./e2e/campaign/run simulation --seed 7 --for 1m
//	go run ./e2e/campaign/run simulation --weak retry-unknown
//	go run ./e2e/campaign/run all --out results.json
//	go run ./e2e/campaign/run document results.json > docs/reliability.md
//
// It exits with 1 when a campaign found a violation, when its faults did not
// happen, or when a weakness was not found. The list of campaigns is campaigns,
// below; what each of them does stands in its own package.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/chaos"
	"frontdesk/e2e/campaign/simulation"
)

// campaigns are all there are, in the order of `all`.
func campaigns() []campaign.Campaign {
	return append([]campaign.Campaign{
		simulation.Campaign(),
	}, chaos.All()...)
}

// commands is the command line.
type commands struct {
	One      one      `cmd:"" default:"withargs" help:"run one campaign"`
	All      all      `cmd:"" help:"run every campaign in its long form, and try it on its weaknesses"`
	List     list     `cmd:"" help:"list the campaigns and the weaknesses"`
	Document document `cmd:"" help:"write the page of a record"`
}

func main() {
	debug.SetGCPercent(400) // journeys leave much behind and keep little: memory for time
	var line commands
	parsed := kong.Parse(&line, kong.Name("run"), kong.Description("Campaigns of faults against Frontdesk."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.FatalIfErrorf(parsed.Run())
}

type one struct {
	Name           string        `arg:"" help:"the campaign, see list"`
	Seed           uint64        `default:"1" help:"decides everything that the campaign decides"`
	Count          int           `help:"journeys to drive"`
	For            time.Duration `help:"begin no journey after so long"`
	Only           uint64        `help:"drive the one journey of this seed, and print its trace"`
	Long           bool          `help:"the form for the record"`
	Weak           string        `help:"build this weakness in, and expect a violation"`
	UntilViolation bool          `help:"stop at the first violation"`
	JSON           bool          `name:"json" help:"print the report as JSON"`
}

// Run runs it.
func (c *one) Run(ctx context.Context) error {
	found, err := named(c.Name)
	if err != nil {
		return err
	}
	o := campaign.Options{Seed: c.Seed, Count: c.Count, For: c.For, Only: c.Only, UntilViolation: c.UntilViolation, Log: progress}
	if c.Long {
		o = found.Long
		o.Seed, o.Log = c.Seed, progress
	}
	if o.Count == 0 && o.For == 0 && !c.Long {
		o.For = 30 * time.Second // long enough to see something, short enough to wait for
	}
	var report *campaign.Report
	if c.Weak != "" {
		report, err = weak(ctx, found, c.Weak, o)
	} else if report, err = found.Run(ctx, o); err == nil {
		err = report.Err(found, o)
	}
	if report == nil {
		return err
	}
	if c.JSON {
		return errors.Join(json.NewEncoder(os.Stdout).Encode(report), err)
	}
	report.Print(os.Stdout)
	return err
}

func weak(ctx context.Context, c campaign.Campaign, weakness string, o campaign.Options) (*campaign.Report, error) {
	builds, err := campaign.NewBuilds()
	if err != nil {
		return nil, err
	}
	defer builds.Close()
	return campaign.Catch(ctx, builds, c, weakness, o)
}

type all struct {
	Out  string `default:"results.json" help:"where the record goes"`
	Seed uint64 `default:"1" help:"decides everything that the campaigns decide"`
}

// lanes are worked off side by side: the simulation and the wire need the processors, the
// others mostly wait for processes that they have killed. Together they fill two cores.
var lanes = [][]string{{"simulation", "wire"}, {"kill", "redis", "webhook", "race", "key"}}

// Run runs every campaign, and then each against its weaknesses. A campaign that
// fails does not keep the others from running, and the record holds what it found.
func (a *all) Run(ctx context.Context) error {
	builds, err := campaign.NewBuilds()
	if err != nil {
		return err
	}
	defer builds.Close()
	o := &occasion{out: a.Out, results: campaign.Results{At: time.Now(), Version: version(), Machine: machine()}, done: map[string]campaign.Result{}}
	failures := make([]error, len(lanes))
	var side sync.WaitGroup
	for i, lane := range lanes {
		side.Go(func() {
			for _, name := range lane {
				c, err := named(name)
				if err == nil {
					var result campaign.Result
					result, err = a.run(ctx, builds, c)
					err = errors.Join(err, o.add(result))
				}
				failures[i] = errors.Join(failures[i], err)
			}
		})
	}
	side.Wait()
	return errors.Join(failures...)
}

// occasion is the record while it grows. It is written after every campaign, so that whoever
// interrupts the rest still has what there was.
type occasion struct {
	out     string
	mu      sync.Mutex
	results campaign.Results
	done    map[string]campaign.Result
}

func (o *occasion) add(result campaign.Result) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done[result.Report.Campaign] = result
	o.results.Took, o.results.Reports = time.Since(o.results.At), nil
	for _, c := range campaigns() {
		if result, ok := o.done[c.Name]; ok {
			o.results.Reports = append(o.results.Reports, result)
		}
	}
	file, err := os.Create(o.out)
	if err != nil {
		return err
	}
	return errors.Join(o.results.Write(file), file.Close())
}

func (a *all) run(ctx context.Context, builds *campaign.Builds, c campaign.Campaign) (campaign.Result, error) {
	o := c.Long
	o.Seed, o.Log = a.Seed, progress
	report, err := c.Run(ctx, o)
	if report == nil {
		report = &campaign.Report{Campaign: c.Name, Seed: a.Seed}
	}
	report.Print(os.Stdout)
	failures := []error{err, report.Err(c, o)}
	result := campaign.Result{Report: report, About: c.About}
	for _, weakness := range c.Weaknesses {
		caught, err := campaign.Catch(ctx, builds, c, weakness, campaign.Options{Seed: a.Seed, Log: progress})
		failures = append(failures, err)
		if caught != nil {
			fmt.Printf("%s: %s: %d violations after %d journeys, %s\n", c.Name, weakness, caught.Broken, caught.Flows, caught.Took.Round(time.Millisecond))
			result.Caught = append(result.Caught, caught)
		}
	}
	if err = errors.Join(failures...); err != nil {
		result.Failed = err.Error()
		err = fmt.Errorf("campaign %s: %w", c.Name, err)
	}
	return result, err
}

// machine says on what the campaigns run.
func machine() string {
	text := fmt.Sprintf("%d cores, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	about, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return text // another system
	}
	for line := range strings.Lines(string(about)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :")) + ", " + text
		}
	}
	return text
}

type list struct{}

// Run lists.
func (list) Run() error {
	for _, c := range campaigns() {
		fmt.Printf("%s: %s\n  has to find: %s\n", c.Name, c.About, strings.Join(c.Weaknesses, ", "))
	}
	fmt.Println()
	for _, w := range campaign.Weaknesses() {
		fmt.Printf("%s: %s\n", w.Name, w.About)
	}
	return nil
}

type document struct {
	Results string `arg:"" type:"existingfile" help:"the record that all wrote"`
}

// Run writes the page.
func (d *document) Run() error {
	file, err := os.Open(d.Results)
	if err != nil {
		return err
	}
	defer file.Close()
	results, err := campaign.ReadResults(file)
	if err != nil {
		return err
	}
	results.Document(os.Stdout)
	return nil
}

func named(name string) (campaign.Campaign, error) {
	for _, c := range campaigns() {
		if c.Name == name {
			return c, nil
		}
	}
	return campaign.Campaign{}, fmt.Errorf("there is no campaign %q; see list", name)
}

// version is what git calls the tree; the record of a tree without git says so.
func version() string {
	cmd := exec.Command("git", "describe", "--always", "--dirty")
	cmd.Dir = campaign.Root()
	out, err := cmd.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
