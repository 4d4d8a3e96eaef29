package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"frontdesk/upstream/club"
	"frontdesk/upstream/probe"
)

// probeCommand finds out how an installation of the club system differs from its description.
type probeCommand struct {
	cfg       Config
	calls     int
	settings  string // the file to write; empty: none
	former    string // the file to compare with; empty: none
	metrics   string // the file of metrics to write; empty: none
	catalogue string // the file of a catalogue to write; empty: none
}

// exitDrift is the exit code of a probe that found a change since the file of --compare was written.
const exitDrift = 2

var errDrift = errors.New("the installation has changed")

func newProbeCommand(assets Assets) *cobra.Command {
	probe := probeCommand{cfg: Config{assets: assets}}
	command := &cobra.Command{
		Use: "probe",
		Short: "Read how your installation of the club system differs from its description, print it, " +
			"and write the settings with which the simulator plays it. Exit 2 if it has changed since --compare.",
		Args: exactArgs(),
		RunE: func(command *cobra.Command, _ []string) error { return probe.run(command.Context()) },
	}
	addOptions(command.Flags(), probe.cfg.options()...)
	command.Flags().IntVar(&probe.calls, "calls", 300,
		"The most calls to make. The probe ends earlier where half of a limit of the API gateway is used.")
	command.Flags().StringVar(&probe.settings, "settings", "", "File to write the settings to, for frontdesk sim --settings.")
	command.Flags().StringVar(&probe.former, "compare", "", "File of settings that an earlier probe wrote, to compare with.")
	command.Flags().StringVar(&probe.catalogue, "write-catalogue", "", "File to write the clubs and what they sell to, for "+
		"frontdesk --catalogue. It makes as many calls again, and has values of records: names, addresses and prices.")
	command.Flags().StringVar(&probe.metrics, "metrics", "", "File to write metrics to, for the textfile collector of node_exporter.")
	return command
}

func (p *probeCommand) run(ctx context.Context) error {
	for _, problem := range p.cfg.problems() {
		if strings.HasPrefix(problem.Error(), "FRONTDESK_CLUB_") {
			return problem
		}
	}
	if p.cfg.Mode == "mock" && p.cfg.Club.BaseURL != "" {
		return errors.New("mock mode would probe its own simulator: set FRONTDESK_MODE to test or live to probe FRONTDESK_CLUB_URL")
	}
	if p.calls < 1 {
		return errors.New("--calls must be above 0")
	}
	var former []byte
	if p.former != "" {
		content, err := os.ReadFile(p.former)
		if err != nil {
			return fmt.Errorf("--compare: %w", err)
		}
		if _, err := new(probe.Report).Drift(content); err != nil {
			return fmt.Errorf("--compare: %s: %w", p.former, err)
		}
		former = content
	}
	for flag, path := range map[string]string{"settings": p.settings, "metrics": p.metrics, "write-catalogue": p.catalogue} {
		if err := checkWritable(path); err != nil { // before the calls are made
			return fmt.Errorf("--%s: %w", flag, err)
		}
	}
	report, err := p.probe(ctx)
	if err != nil {
		return err
	}
	if p.cfg.Mode == "mock" {
		fmt.Println("Mock mode: its simulator was probed. FRONTDESK_MODE=test or live probes FRONTDESK_CLUB_URL.")
	}
	printProbe(os.Stdout, report)
	return p.write(report, former)
}

// checkWritable returns an error unless a file can be written at a path; an empty one is not.
func checkWritable(path string) error {
	if path == "" {
		return nil
	}
	_, missing := os.Stat(path)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644) // #nosec G302 G304 -- shapes are no secret, and the operator names it
	if err != nil {
		return err
	}
	if missing != nil {
		err = os.Remove(path)
	}
	return errors.Join(err, file.Close())
}

// probe probes the configured club system. In mock mode that is the simulator.
func (p *probeCommand) probe(ctx context.Context) (*probe.Report, error) {
	ctx, stop := context.WithCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	defer func() { stop(); _ = group.Wait() }()
	_, port, _ := net.SplitHostPort(p.cfg.Addr)
	end, err := p.cfg.complete(ctx, group, port)
	if err != nil {
		return nil, err
	}
	defer end()
	config, err := p.cfg.clubConfig()
	if err != nil {
		return nil, err
	}
	installation := probe.Config{
		Club:      config,
		Token:     p.cfg.ClubToken,
		Calls:     p.calls,
		Transport: &http.Transport{Proxy: nil},
		Now:       time.Now,
		After:     time.After,
	}
	report, err := probe.Run(ctx, installation)
	if _, called := errors.AsType[*club.Error](err); called {
		return nil, fmt.Errorf("the club system cannot be probed: %w; frontdesk doctor says more", err)
	}
	if err != nil {
		return nil, fmt.Errorf("the club system cannot be probed: %w", err)
	}
	return report, p.writeCatalogue(ctx, installation)
}

// writeCatalogue reads the catalogue and writes its file. What the installation has and the simulator cannot play is an error.
func (p *probeCommand) writeCatalogue(ctx context.Context, installation probe.Config) error {
	if p.catalogue == "" {
		return nil
	}
	file, seen, mistakes := probe.Catalogue(ctx, installation)
	if file == nil {
		return fmt.Errorf("the catalogue cannot be read: %w", mistakes)
	}
	if err := os.WriteFile(p.catalogue, file, 0o644); err != nil { // #nosec G306 -- what is sold is no secret
		return err
	}
	fmt.Printf("%s has the catalogue: %s. Use it with frontdesk --catalogue %s\n", p.catalogue, seen, p.catalogue)
	return inFile(p.catalogue, mistakes)
}

// write writes the files, and returns errDrift if the installation has changed since the former one.
func (p *probeCommand) write(report *probe.Report, former []byte) error {
	var changes []probe.Change
	if p.former != "" {
		var err error
		if changes, err = report.Drift(former); err != nil {
			return err
		}
	}
	if p.settings != "" {
		if err := os.WriteFile(p.settings, report.File(), 0o644); err != nil { // #nosec G306 -- shapes are no secret
			return err
		}
		fmt.Printf("\n%s has the settings. Play them with frontdesk sim --settings %s\n", p.settings, p.settings)
	}
	if p.metrics != "" {
		if err := writeProbeMetrics(p.metrics, report, len(changes)); err != nil {
			return err
		}
	}
	if p.former == "" {
		return nil
	}
	printChanges(os.Stdout, p.former, changes)
	if len(changes) > 0 {
		return errDrift
	}
	return nil
}

// writeProbeMetrics replaces a file, so that node_exporter never reads half of one.
func writeProbeMetrics(path string, report *probe.Report, changes int) error {
	registry := prometheus.NewRegistry()
	add := func(name, help string, value float64) {
		gauge := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "frontdesk", Subsystem: "probe", Name: name, Help: help})
		gauge.Set(value)
		registry.MustRegister(gauge)
	}
	add("changes", "Changes of the installation since the file of --compare was written.", float64(changes))
	add("differences", "Differences of the installation from the club system's description.", float64(len(report.Differences)))
	add("calls", "Calls that the probe made.", float64(report.Calls))
	complete := 1.0
	if report.Halted != nil {
		complete = 0
	}
	add("complete", "Whether the probe made all of its calls: 1, or 0.", complete)
	add("timestamp_seconds", "When the probe ended.", float64(time.Now().Unix()))
	return prometheus.WriteToTextfile(filepath.Clean(path), registry)
}

func printProbe(w io.Writer, report *probe.Report) {
	if report.Halted != nil {
		fmt.Fprintf(w, "The probe ended early: %v.\n", report.Halted)
	}
	fmt.Fprintf(w, "Calls made: %d. ", report.Calls)
	if len(report.Differences) == 0 {
		fmt.Fprintln(w, "Nothing that was seen differs from the club system's description.")
	} else {
		fmt.Fprintf(w, "Differences from the club system's description: %d.\n", len(report.Differences))
	}
	table := newTable(w)
	heading(table, "WHAT DIFFERS\tHERE\tDESCRIBED\tWHAT IT MEANS", len(report.Differences))
	for _, difference := range report.Differences {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", difference.Where, difference.Here, difference.Simulator, difference.Means)
	}
	heading(table, "NOT SEEN\tWHAT WOULD SHOW IT", len(report.NotSeen))
	for _, gap := range report.NotSeen {
		fmt.Fprintf(table, "%s\t%s\n", gap.What, gap.Needs)
	}
	flush(table)
	fmt.Fprintf(w, "\nNo read shows these settings, which keep their defaults: %s.\n", strings.Join(report.Unreadable, ", "))
}

func printChanges(w io.Writer, former string, changes []probe.Change) {
	if len(changes) == 0 {
		fmt.Fprintf(w, "\nNothing has changed since %s was written.\n", former)
		return
	}
	table := newTable(w)
	fmt.Fprintf(table, "\nCHANGED SINCE %s\tWAS\tIS\n", former)
	for _, change := range changes {
		fmt.Fprintf(table, "%s\t%s\t%s\n", change.What, change.Was, change.Is)
	}
	flush(table)
}
