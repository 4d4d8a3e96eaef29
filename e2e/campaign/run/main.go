// Command run starts the campaigns of e2e/campaign:
//
//	go run ./e2e/campaign/run simulation --seed 7 --for 1m
//	go run ./e2e/campaign/run simulation --mutation retry-unknown
//	go run ./e2e/campaign/run all --out results.json
//	go run ./e2e/campaign/run document results.json > docs/reliability.md
//
// It exits with 1 when a campaign found a violation, when its faults did not
// happen, or when a mutation was not found. The list of campaigns is campaigns,
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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

func main() {
	debug.SetGCPercent(400) // journeys leave much behind and keep little: memory for time
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := commands().ExecuteContext(ctx); err != nil {
		stop()
		os.Exit(1)
	}
}

// commands is the command line.
func commands() *cobra.Command {
	root := &cobra.Command{Use: "run", Short: "Campaigns of faults against Frontdesk", SilenceUsage: true}
	record := &all{}
	everything := &cobra.Command{Use: "all", Short: "run every campaign in its long form, and try it on its mutations", Args: cobra.NoArgs, RunE: record.run}
	everything.Flags().StringVar(&record.out, "out", "results.json", "where the record goes")
	everything.Flags().Uint64Var(&record.seed, "seed", 1, "decides everything that the campaigns decide")
	root.AddCommand(everything,
		&cobra.Command{Use: "list", Short: "list the campaigns and the mutations", Args: cobra.NoArgs, Run: list},
		&cobra.Command{Use: "document RESULTS", Short: "write the page of a record that all wrote", Args: cobra.ExactArgs(1), RunE: document})
	for _, c := range campaigns() {
		play := &one{}
		single := &cobra.Command{Use: c.Name, Short: "run this campaign alone; list says what it does", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return play.run(cmd.Context(), c)
		}}
		play.flags(single.Flags())
		root.AddCommand(single)
	}
	return root
}

// one runs one campaign.
type one struct {
	options    campaign.Options
	long, json bool
	mutation   string
}

func (c *one) flags(f *pflag.FlagSet) {
	f.Uint64Var(&c.options.Seed, "seed", 1, "decides everything that the campaign decides")
	f.IntVar(&c.options.Count, "count", 0, "journeys to drive")
	f.DurationVar(&c.options.Duration, "for", 0, "begin no journey after so long")
	f.Uint64Var(&c.options.OnlySeed, "only", 0, "drive the one journey of this seed, and print its trace")
	f.BoolVar(&c.long, "long", false, "the form for the record")
	f.StringVar(&c.mutation, "mutation", "", "build this mutation in, and expect a violation")
	f.BoolVar(&c.options.StopAtViolation, "until-violation", false, "stop at the first violation")
	f.BoolVar(&c.json, "json", false, "print the report as JSON")
}

func (c *one) run(ctx context.Context, found campaign.Campaign) error {
	o := c.options
	if c.long {
		o = found.Long
		o.Seed = c.options.Seed
	}
	o.Log = progress
	if o.Count == 0 && o.Duration == 0 && !c.long {
		o.Duration = 30 * time.Second // long enough to see something, short enough to wait for
	}
	var report *campaign.Report
	var err error
	if c.mutation != "" {
		report, err = mutated(ctx, found, c.mutation, o)
	} else if report, err = found.Run(ctx, o); err == nil {
		err = report.Err(found, o)
	}
	if report == nil {
		return err
	}
	if c.json {
		return errors.Join(json.NewEncoder(os.Stdout).Encode(report), err)
	}
	report.Print(os.Stdout)
	return err
}

func mutated(ctx context.Context, c campaign.Campaign, mutation string, o campaign.Options) (*campaign.Report, error) {
	builds, err := campaign.NewBuilds()
	if err != nil {
		return nil, err
	}
	defer builds.Close()
	return campaign.Kill(ctx, builds, c, mutation, o)
}

// all writes the record.
type all struct {
	out  string
	seed uint64
}

// lanes run at the same time: the simulation needs the processors, the others mostly wait for
// processes that they have killed. Together they fill two cores.
var lanes = [][]string{{"simulation"}, {"kill", "redis", "webhook", "race", "idempotency"}}

// run runs every campaign, and then each against its mutations. A campaign that
// fails does not keep the others from running, and the record holds what it found.
func (a *all) run(cmd *cobra.Command, _ []string) error {
	ctx := cmd.Context()
	builds, err := campaign.NewBuilds()
	if err != nil {
		return err
	}
	defer builds.Close()
	o := &occasion{out: a.out, results: campaign.Results{At: time.Now(), Version: version(), Machine: machine()}, done: map[string]campaign.Result{}}
	failures := make([]error, len(lanes))
	var side sync.WaitGroup
	for i, lane := range lanes {
		side.Go(func() {
			for _, name := range lane {
				c, err := named(name)
				if err == nil {
					var result campaign.Result
					result, err = a.attempt(ctx, builds, c)
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
	o.results.Duration, o.results.Reports = time.Since(o.results.At), nil
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

func (a *all) attempt(ctx context.Context, builds *campaign.Builds, c campaign.Campaign) (campaign.Result, error) {
	o := c.Long
	o.Seed, o.Log = a.seed, progress
	report, err := c.Run(ctx, o)
	if report == nil {
		report = &campaign.Report{Campaign: c.Name, Seed: a.seed}
	}
	report.Print(os.Stdout)
	failures := []error{err, report.Err(c, o)}
	result := campaign.Result{Report: report, Description: c.Description}
	for _, mutation := range c.Mutations {
		caught, err := campaign.Kill(ctx, builds, c, mutation, campaign.Options{Seed: a.seed, Log: progress})
		failures = append(failures, err)
		if caught != nil {
			fmt.Printf("%s: %s: %d violations after %d journeys, %s\n", c.Name, mutation, caught.ViolationCount, caught.Journeys, caught.Duration.Round(time.Millisecond))
			result.Killed = append(result.Killed, caught)
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

func list(*cobra.Command, []string) {
	for _, c := range campaigns() {
		fmt.Printf("%s: %s\n  has to find: %s\n", c.Name, c.Description, strings.Join(c.Mutations, ", "))
	}
	fmt.Println()
	for _, w := range campaign.Mutations() {
		fmt.Printf("%s: %s\n", w.Name, w.Description)
	}
}

func document(_ *cobra.Command, args []string) error {
	file, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer file.Close()
	results, err := campaign.ReadResults(file)
	if err != nil {
		return err
	}
	return results.Document(os.Stdout)
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
