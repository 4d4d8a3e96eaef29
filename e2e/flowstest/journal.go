package flowstest

import (
	"bytes"
	"context"
	"log/slog"
	"sync"

	"frontdesk/flows"
)

// Move is a transition that the machine reported.
type Move struct{ From, To flows.PaymentState }

// Journal is the log of a world's gateways. It keeps the transitions separately.
type Journal struct {
	mu     sync.Mutex
	text   bytes.Buffer
	moves  map[flows.PaymentID][]Move
	onMove func(flows.PaymentID, Move)
}

// Listen calls f at every transition, on the gateway that made it, before that gateway continues.
func (j *Journal) Listen(f func(flows.PaymentID, Move)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.onMove = f
}

// Enabled accepts every level.
func (j *Journal) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs is unused by the gateways.
func (j *Journal) WithAttrs([]slog.Attr) slog.Handler { return j }

// WithGroup is unused by the gateways.
func (j *Journal) WithGroup(string) slog.Handler { return j }

// Handle keeps a log line.
func (j *Journal) Handle(ctx context.Context, line slog.Record) error {
	if line.Message == "payment moved" {
		j.note(line)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return slog.NewTextHandler(&j.text, &slog.HandlerOptions{Level: slog.LevelDebug}).Handle(ctx, line)
}

func (j *Journal) note(line slog.Record) {
	attrs := map[string]string{}
	line.Attrs(func(a slog.Attr) bool { attrs[a.Key] = a.Value.String(); return true })
	id, move := flows.PaymentID(attrs["payment"]), Move{From: flows.PaymentState(attrs["from"]), To: flows.PaymentState(attrs["to"])}
	j.mu.Lock()
	if j.moves == nil {
		j.moves = map[flows.PaymentID][]Move{}
	}
	j.moves[id] = append(j.moves[id], move)
	listener := j.onMove
	j.mu.Unlock()
	if listener != nil {
		listener(id, move)
	}
}

// String returns the log as text.
func (j *Journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// MovesOf returns the transitions of a payment, or of all payments if the id is empty.
func (j *Journal) MovesOf(id flows.PaymentID) (moves []Move) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for each, its := range j.moves {
		if id == "" || id == each {
			moves = append(moves, its...)
		}
	}
	return moves
}

// Counts returns how often a transition happened.
func (j *Journal) Counts(move Move) (n int) {
	for _, each := range j.MovesOf("") {
		if each == move {
			n++
		}
	}
	return n
}

// Forget drops the transitions recorded so far.
func (j *Journal) Forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.moves = nil
}
