package flows_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"frontdesk/flows"
	"frontdesk/flows/erasure"
	"frontdesk/flows/store"
	"frontdesk/upstream/club"
)

// failingErasure is a store that fails while it erases.
type failingErasure struct {
	*store.Store
	index, transfer error // nil: it does not fail
}

func (s *failingErasure) Unindex(ctx context.Context, r *flows.Registration) error {
	if s.index != nil {
		return s.index
	}
	return s.Store.Unindex(ctx, r)
}

func (s *failingErasure) EraseTransfer(ctx context.Context, contact club.IRI) (bool, error) {
	if s.transfer != nil {
		return false, s.transfer
	}
	return s.Store.EraseTransfer(ctx, contact)
}

// TestErasureThatFails: Redis fails at each part of an erasure. The report lists what was erased, and a run that failed can
// be repeated.
func TestErasureThatFails(t *testing.T) {
	t.Parallel()
	gone := errors.New("connection reset by peer")
	for name, test := range map[string]struct {
		index, transfer error
		fails           bool // the first run
	}{
		"the index":        {gone, nil, false},
		"the transfer":     {nil, gone, true},
		"all of the above": {gone, gone, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			must(t, func() (*flows.Transfer, error) { return w.transfers(g).Start(t.Context(), former, "13") })
			p := w.authorised(g)
			w.expectSound(w.advance(g, p))
			r, _, err := g.store.Registration(t.Context(), p.Registration)
			if err != nil {
				t.Fatal(err)
			}
			r.Contact.IRI = "/demo/contacts/1004"
			if err := g.store.AmendRegistration(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			failing := &failingErasure{g.store, test.index, test.transfer}
			eraser := erasure.New(erasure.Config{Store: failing, Keys: newKeyring(t, "one"), Now: w.clock.Now, Log: g.log})
			erase := func() (erasure.Report, error) {
				return eraser.Erase(t.Context(), erasure.Request{ClientToken: "demo", Registration: r.ID}, "ada")
			}
			report, err := erase()
			if failed := err != nil; failed != test.fails {
				t.Fatalf("the first run: %v", err)
			}
			if test.fails {
				failing.transfer = nil
				report = must(t, erase)
			}
			if len(report.Erased) != 2 || report.Erased[0].Registration != "" || report.Erased[1].Registration != r.ID {
				t.Errorf("erased: %+v", report.Erased)
			}
			if kept := report.Kept[0]; kept.Payment != p.ID || !strings.Contains(kept.What, "operators wrote") {
				t.Errorf("kept: %+v", report.Kept)
			}
			if again := must(t, erase); len(again.Erased) != 0 {
				t.Errorf("erased again: %+v", again.Erased)
			}
		})
	}
}
