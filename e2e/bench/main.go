// Command bench measures Frontdesk against reference servers, on this machine and in one
// run, and checks the ratios against thresholds:
//
//	go run ./e2e/bench              everything
//	go run ./e2e/bench cold card    some measurements
//	go run ./e2e/bench list         the measurements
//	go run ./e2e/bench trace        where the time goes in one card journey, as a picture (SVG)
//	go run ./e2e/bench crowd        what is completed before, during and after a crowd, as a picture (SVG)
//
// It prints one table, and exits with 1 when a threshold is missed. Machines differ and
// are noisy, so only ratios are judged. Both sides of a comparison run in turn, several
// times, and the median of the ratios counts. With two cores and taskset, the server has
// one core to itself, and the load and everything else have the others.
//
// It has what needs processes, Redis and a clock. What one process can measure is a benchmark in the code's package:
//
//	go test -run '^$' -bench . -count 10 ./... | tee new.txt
//	go run golang.org/x/perf/cmd/benchstat@latest old.txt new.txt
//	go run golang.org/x/perf/cmd/benchstat@latest -col /server new.txt    the gateway and bare net/http
//
// Start reading at measurements, below. Each of them is in the file of its name; slow is in overload.go, and streams is in
// growth.go. They share harness.go (processes), buyer.go (requests) and table.go (figures and thresholds).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// measurement makes some rows of the table.
type measurement struct {
	name, about string
	parts       parts
}

// parts run one after another. Each stops what it started.
type parts []func(*harness) []row

// measurements are in the order of the table. Those with many connections come last, because they slow the next one.
var measurements = []measurement{
	{"cold", "a catalogue that is in no cache, one visitor at one gateway and many at three", parts{measureCold, measureColdReaders}},
	{"start", "the first response of mock mode, and its memory", parts{measureStart, measureMemory}},
	{"card", "a whole card journey: its calls, its CPU time, and the buyer's waiting time", parts{countCard, loadCard, timeCard}},
	{"overload", "visitors at a fixed rate: three and ten times as many as can be served", parts{measureCrowd(3), measureCrowd(10)}},
	{"slow", "visitors at a quarter of that rate, while the club system is slow and fails", parts{measureSlowClub}},
	{"quota", "two gateways, and ten times as many visitors as the club system's API gateway allows", parts{measureQuota(5 * time.Minute)}},
	{"growth", "an idle gateway with 1,000 and with 100,000 registrations", parts{measureGrowth}},
	{"streams", "10,000 event streams on one gateway", parts{measureStreams}},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench: "+err.Error())
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch command {
	case "forwarder":
		return serveForwarder(ctx, args[1:])
	case "trace":
		return draw(ctx, false, drawTrace)
	case "list":
		for _, m := range measurements {
			fmt.Printf("%-10s %s\n", m.name, m.about)
		}
		return nil
	case pinnedArg:
		return measure(ctx, args[1:], true)
	}
	if err := reexecPinned(args); err != nil {
		fmt.Fprintf(os.Stderr, "The load disturbs the server, which has no core to itself: %v.\n", err)
	}
	return measure(ctx, args, false)
}

// measure runs the named measurements, or all, and prints their table; or it draws the picture of a crowd.
// If pinned, this process leaves one core to the server.
func measure(ctx context.Context, names []string, pinned bool) error {
	if slices.Equal(names, []string{"crowd"}) {
		return draw(ctx, pinned, drawCrowd)
	}
	chosen := slices.Clone(measurements)
	if len(names) > 0 {
		chosen = slices.DeleteFunc(chosen, func(m measurement) bool { return !slices.Contains(names, m.name) })
		if len(chosen) != len(names) {
			return fmt.Errorf("no such measurement among %s; see: go run ./e2e/bench list", strings.Join(names, ", "))
		}
	}
	bench, err := newHarness(ctx, pinned)
	if err != nil {
		return err
	}
	defer bench.close()
	var rows []row
	var failed []error
	for _, measured := range chosen {
		fmt.Fprintf(os.Stderr, "%s: %s\n", measured.name, measured.about)
		for _, part := range measured.parts {
			found, err := bench.measure(part)
			rows = append(rows, found...)
			if err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", measured.name, err))
			}
		}
	}
	printTable(os.Stdout, rows)
	return errors.Join(append(failed, missed(rows))...)
}
