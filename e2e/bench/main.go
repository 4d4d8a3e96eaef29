// Command bench measures Frontdesk beside what it is compared with, on this machine
// and in one run, and holds the ratios against bars:
//
//	go run ./e2e/bench              everything
//	go run ./e2e/bench warm cold    some measurements
//	go run ./e2e/bench list         what there is
//	go run ./e2e/bench trace        where the time goes in one card journey, as a picture (SVG)
//
// It prints one table, and exits with 1 when a bar is missed. Machines differ and
// are noisy, so that every figure which counts is a ratio: both sides run in turn,
// several times, and the median of the ratios is judged. The server has one core to
// itself, and the load and everything else have the others, where there are two cores and
// taskset.
//
// Start reading at measurements, below; each of them has a file of its own. What they
// share is lab.go (processes), load.go (requests) and table.go (figures and bars);
// reference.go serves what they compare with.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// measurement makes some rows of the table.
type measurement struct {
	name, about string
	run         func(context.Context, *harness) ([]row, error)
}

// measurements are all there are, in the order of the table. The crowds come last: what they
// leave behind, here and in the kernel, would be the next one's.
var measurements = []measurement{
	{"warm", "the catalogue from the cache, beside servers that write the same bytes", measureWarm},
	{"cold", "a catalogue that nobody has read, one visitor at one gateway and a crowd at three", measureCold},
	{"mock", "the simulator as a mock, beside a server that encodes the same", measureMock},
	{"start", "the mock's first answer, and its memory", measureStart},
	{"me", "two reads of 5 ms merged, beside a server that does no more", measureMe},
	{"card", "a whole card journey: what it asks of others, what it costs, and what its buyer waits for", measureCard},
	{"growth", "registrations among 1,000 and among 100,000", measureGrowth},
	{"streams", "10,000 event streams on one gateway", measureStreams},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench: "+err.Error())
		stop()
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	switch {
	case len(args) > 0 && args[0] == "reference":
		return serveReference(ctx, args[1:])
	case len(args) == 1 && args[0] == "trace":
		return drawTrace(ctx, os.Stdout)
	case len(args) == 1 && args[0] == "list":
		for _, m := range measurements {
			fmt.Printf("%-10s %s\n", m.name, m.about)
		}
		return nil
	}
	if len(args) > 0 && args[0] == pinnedArg {
		return measure(ctx, args[1:], true)
	}
	if err := reexecPinned(args); err != nil {
		fmt.Fprintf(os.Stderr, "With taskset and two cores the server would have one to itself; now the load disturbs it: %v.\n", err)
	}
	return measure(ctx, args, false)
}

// measure runs the named measurements, or all, and prints their table. The server has a
// core to itself where the load keeps away from it.
func measure(ctx context.Context, names []string, apart bool) error {
	chosen := slices.Clone(measurements)
	if len(names) > 0 {
		chosen = slices.DeleteFunc(chosen, func(m measurement) bool { return !slices.Contains(names, m.name) })
		if len(chosen) != len(names) {
			return fmt.Errorf("no such measurement among %s; see: go run ./e2e/bench list", strings.Join(names, ", "))
		}
	}
	h, err := newHarness(ctx, apart)
	if err != nil {
		return err
	}
	defer h.close()
	var rows []row
	var failed []error
	for _, m := range chosen {
		fmt.Fprintf(os.Stderr, "%s: %s\n", m.name, m.about)
		found, err := m.run(ctx, h)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", m.name, err))
		}
		rows = append(rows, found...)
		h.clear()
	}
	printTable(os.Stdout, rows)
	return errors.Join(append(failed, missed(rows))...)
}
