// Command run starts the campaigns of e2e/campaign:
//
//	go run ./e2e/campaign/run simulation --seed 7 --for 1m
//	go run ./e2e/campaign/run simulation --mutation take-over
//	go run ./e2e/campaign/run all --out results.yaml
//	go run ./e2e/campaign/run document results.yaml > docs/explanation/reliability.txt
//
// It exits with 1 when a campaign found a violation, when its faults did not happen, or when a
// mutation was not found. What each campaign does is in its own package.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/spf13/cobra"
	lua "github.com/yuin/gopher-lua"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/chaos"
	"frontdesk/e2e/campaign/simulation"
	"frontdesk/e2e/frontdesktest"
)

// campaigns returns all campaigns, in the order of their output. The longest is the last.
func campaigns() []campaign.Campaign { return append(chaos.All(), simulation.Campaign()) }

func main() {
	debug.SetGCPercent(2000)                      // journeys allocate much and keep little: trades memory for time
	lua.RegistrySize, lua.CallStackSize = 512, 64 // miniredis makes a Lua state for every script, and clears all of it
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		stop()
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{Use: "run", Short: "Campaigns of faults against Frontdesk", SilenceUsage: true}
	var out string
	var seed uint64
	all := &cobra.Command{Use: "all", Short: "run every campaign in its long form, and try it on its mutations", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runAll(cmd.Context(), out, seed) }}
	all.Flags().StringVar(&out, "out", "results.yaml", "where the record goes")
	all.Flags().Uint64Var(&seed, "seed", 1, "decides everything that the campaigns decide")
	root.AddCommand(all,
		&cobra.Command{Use: "list", Short: "list the campaigns and the mutations", Args: cobra.NoArgs, Run: list},
		&cobra.Command{Use: "document RESULTS", Short: "write a record of all as text, without traces", Args: cobra.ExactArgs(1), RunE: document})
	for _, c := range campaigns() {
		root.AddCommand(newCampaignCommand(c))
	}
	return root
}

func newCampaignCommand(planned campaign.Campaign) *cobra.Command {
	var options campaign.Options
	var long bool
	run := func(cmd *cobra.Command, _ []string) error {
		if long {
			planned.Long.Seed, planned.Long.Mutation = options.Seed, options.Mutation
			options = planned.Long
		} else if options.Count == 0 && options.Duration == 0 {
			options.Duration = 30 * time.Second // long enough to see something, short enough to wait for
		}
		options.Log = progress
		report, err := runOne(cmd.Context(), planned, options)
		if report != nil {
			fmt.Print(report)
		}
		return err
	}
	cmd := &cobra.Command{Use: planned.Name, Short: "run this campaign alone; list says what it does", Args: cobra.NoArgs, RunE: run}
	flags := cmd.Flags()
	flags.Uint64Var(&options.Seed, "seed", 1, "decides everything that the campaign decides")
	flags.IntVar(&options.Count, "count", 0, "journeys to drive")
	flags.DurationVar(&options.Duration, "for", 0, "start no journey after this time")
	flags.Uint64Var(&options.OnlySeed, "only", 0, "drive the one journey of this seed, and print its trace")
	flags.BoolVar(&long, "long", false, "the form for the record")
	flags.StringVar(&options.Mutation, "mutation", "", "build this mutation in, and expect a violation")
	flags.BoolVar(&options.StopAtViolation, "until-violation", false, "stop at the first violation")
	return cmd
}

func runOne(ctx context.Context, one campaign.Campaign, options campaign.Options) (*campaign.Report, error) {
	if options.Mutation != "" {
		return campaign.Kill(ctx, one, options)
	}
	report, err := one.Run(ctx, options)
	if err == nil {
		err = report.Err(one, options)
	}
	return report, err
}

// runAll runs every campaign, and each against its mutations, even when one fails. One runs after the other, because
// the buyers of each use all cores. The record is written after each; a run that was interrupted continues behind it.
func runAll(ctx context.Context, out string, seed uint64) error {
	results := continuedResults(out, seed, campaign.Results{At: time.Now(), Version: version(), Machine: machine()})
	var failures []error
	for _, one := range campaigns() {
		if slices.ContainsFunc(results.Reports, func(r campaign.Result) bool { return r.Report.Campaign == one.Name }) {
			progress("campaign %s: in the record already", one.Name)
			continue
		}
		started := time.Now()
		result, err := runLong(ctx, one, seed)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		results.Reports = append(results.Reports, result)
		results.Duration += time.Since(started)
		failures = append(failures, err, results.Write(out))
	}
	return errors.Join(failures...)
}

// continuedResults returns the record of an interrupted run of the same tree on the same machine, without the campaigns
// that failed or had another seed; fresh without one. A tree with uncommitted changes is never the same.
func continuedResults(path string, seed uint64, fresh campaign.Results) campaign.Results {
	earlier, err := campaign.ReadResults(path)
	unsure := strings.HasSuffix(fresh.Version, "-dirty") || fresh.Version == unknownVersion
	if err != nil || earlier.Version != fresh.Version || earlier.Machine != fresh.Machine || unsure {
		return fresh
	}
	earlier.Reports = slices.DeleteFunc(earlier.Reports, func(r campaign.Result) bool { return r.Failed != "" || r.Report.Seed != seed })
	return earlier
}

func runLong(ctx context.Context, one campaign.Campaign, seed uint64) (campaign.Result, error) {
	options := one.Long
	options.Seed, options.Log = seed, progress
	report, err := one.Run(ctx, options)
	fmt.Print(report)
	failures := []error{err, report.Err(one, options)}
	if err := errors.Join(failures...); err != nil {
		progress("campaign %s: %v", one.Name, err) // the mutations take long
	}
	result := campaign.Result{Report: report, Description: one.Description}
	for _, mutation := range one.Mutations {
		killed, err := campaign.Kill(ctx, one, campaign.Options{Seed: seed, Mutation: mutation, Log: progress})
		failures = append(failures, err)
		if killed != nil {
			fmt.Printf("%s: %s: %d violations after %d journeys, %s\n",
				one.Name, mutation, killed.ViolationCount, killed.Journeys, killed.Duration.Round(time.Millisecond))
			result.Killed = append(result.Killed, killed)
		}
	}
	if err = errors.Join(failures...); err != nil {
		result.Failed = err.Error()
		err = fmt.Errorf("campaign %s: %w", one.Name, err)
	}
	return result, err
}

func machine() string {
	text := fmt.Sprintf("%d cores, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return text // another system
	}
	if cores, err := proc.CPUInfo(); err == nil && len(cores) > 0 {
		text = cores[0].ModelName + ", " + text
	}
	return text
}

func list(*cobra.Command, []string) {
	for _, c := range campaigns() {
		fmt.Printf("%s: %s\n  has to find: %s\n", c.Name, c.Description, strings.Join(c.Mutations, ", "))
	}
	fmt.Println()
	for _, w := range campaign.Mutations {
		fmt.Printf("%s: %s\n", w.Name, w.Description)
	}
}

func document(_ *cobra.Command, args []string) error {
	results, err := campaign.ReadResults(args[0])
	if err != nil {
		return err
	}
	return results.Document(os.Stdout)
}

const unknownVersion = "unknown" // the version of a tree without git

func version() string {
	cmd := exec.Command("git", "describe", "--always", "--dirty")
	cmd.Dir = frontdesktest.Root()
	out, err := cmd.Output()
	if err != nil {
		return unknownVersion
	}
	return strings.TrimSpace(string(out))
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
