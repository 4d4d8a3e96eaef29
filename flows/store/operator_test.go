package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
)

func TestFinishedPaymentsAreBounded(t *testing.T) {
	onEach(t, func(redis *fixture) {
		const many, kept = 1005, 1000
		start := time.Now()
		for i := range many {
			p := &flows.Payment{
				ID:        flows.NewPaymentID(fmt.Sprint("r", i), 1),
				State:     flows.Recorded,
				UpdatedAt: start.Add(time.Duration(i) * time.Second),
			}
			if err := redis.Schedule(redis.Context(), p, time.Time{}); err != nil {
				redis.Fatal(err)
			}
		}
		ids, err := redis.FinishedPayments(redis.Context(), flows.Recorded, 2*many)
		if err != nil || len(ids) != kept || ids[0] != "r1004-1" || ids[kept-1] != "r5-1" {
			redis.Errorf("%d payments from %s to %s, %v", len(ids), ids[0], ids[len(ids)-1], err)
		}
		if ids, err = redis.FinishedPayments(redis.Context(), flows.Refunded, 10); err != nil || len(ids) != 0 {
			redis.Errorf("refunded: %v, %v", ids, err)
		}
	})
}

func TestFinishedPaymentIsNotOpen(t *testing.T) {
	onEach(t, func(redis *fixture) {
		for i, id := range []flows.PaymentID{"b-1", "a-1", "c-1"} {
			p := &flows.Payment{ID: id, State: flows.Cancelling, UpdatedAt: time.UnixMilli(int64(1000 * (i + 1)))}
			if err := redis.Schedule(redis.Context(), p, time.Now()); err != nil {
				redis.Fatal(err)
			}
		}
		err := redis.Schedule(redis.Context(), &flows.Payment{ID: "a-1", State: flows.Cancelled, UpdatedAt: time.Now()}, time.Time{})
		if err != nil {
			redis.Fatal(err)
		}
		ids, err := redis.PaymentsIn(redis.Context(), flows.Cancelling, time.Time{}, time.Time{}, 10)
		if err != nil || fmt.Sprint(ids) != "[b-1 c-1]" {
			redis.Errorf("open: %v, %v", ids, err)
		}
		if ids, err = redis.PaymentsIn(redis.Context(), flows.Cancelling, time.Time{}, time.Time{}, 1); err != nil || len(ids) != 1 {
			redis.Errorf("open: %v, %v", ids, err)
		}
		counts, err := redis.CountPayments(redis.Context())
		if c := counts[flows.Cancelling]; err != nil || len(counts) != 1 || c.Payments != 2 || c.Oldest.UnixMilli() != 1000 {
			redis.Errorf("counted: %v, %v", counts, err)
		}
	})
}

// TestFinding lists a recorded payment under its finding, without its time to live, until the finding is settled.
func TestFinding(t *testing.T) {
	onEach(t, func(redis *fixture) {
		_, payment := redis.started()
		recorded := to(payment, flows.Recorded)
		recorded.Keep = time.Hour
		payment = redis.commit(recorded)
		unsettled := to(payment, flows.Recorded)
		unsettled.Next.SaleVerdict = "the sale is not settled"
		payment = redis.commit(unsettled)
		listed := func(want int) {
			redis.Helper()
			ids, err := redis.PaymentsIn(redis.Context(), flows.RecordedUnsettled, time.Time{}, time.Time{}, 10)
			counts, countErr := redis.CountPayments(redis.Context())
			c := counts[flows.RecordedUnsettled]
			if err != nil || countErr != nil || len(ids) != want || c.Payments != want ||
				want > 0 && c.Oldest.UnixMilli() != payment.UpdatedAt.UnixMilli() {
				redis.Errorf("%v are listed (%v), %+v counted (%v), want %d", ids, err, counts, countErr, want)
			}
		}
		listed(1)
		redis.lives(paymentKey(payment), 0)
		if err := redis.Schedule(redis.Context(), payment, time.Now()); err != nil {
			redis.Fatal(err)
		}
		listed(1)
		settled := to(payment, flows.Recorded)
		settled.Next.SaleVerdict, settled.Keep = flows.SaleSettled, time.Hour
		payment = redis.commit(settled)
		if err := redis.Schedule(redis.Context(), payment, time.Time{}); err != nil {
			redis.Fatal(err)
		}
		listed(0)
		redis.lives(paymentKey(payment), time.Hour)
		if due, err := redis.Due(redis.Context(), flows.VerifyLane, time.Now().Add(time.Hour), time.Minute, 10); err != nil || len(due) != 0 {
			redis.Errorf("to verify: %v, %v", due, err)
		}
	})
}

// TestDueVerifications: a payment that is not verified is due again after a pause, and keeps the time that it has.
func TestDueVerifications(t *testing.T) {
	onEach(t, func(redis *fixture) {
		now := time.Now()
		due := func(at time.Time, want string) {
			redis.Helper()
			if ids, err := redis.Due(redis.Context(), flows.VerifyLane, at, time.Minute, 10); err != nil || fmt.Sprint(ids) != want {
				redis.Errorf("due are %v (%v), want %s", ids, err, want)
			}
		}
		p := &flows.Payment{ID: "a-1", State: flows.Recorded, UpdatedAt: now}
		if err := redis.Schedule(redis.Context(), p, now.Add(time.Minute)); err != nil {
			redis.Fatal(err)
		}
		for id, at := range map[flows.PaymentID]time.Time{"a-1": now, "b-1": now.Add(30 * time.Second)} {
			if err := redis.EnsureScheduled(redis.Context(), &flows.Payment{ID: id, State: flows.Recorded}, at); err != nil {
				redis.Fatal(err)
			}
		}
		due(now, "[]")
		due(now.Add(time.Minute), "[b-1 a-1]")
		due(now.Add(time.Minute), "[]")
		due(now.Add(2*time.Minute), "[a-1 b-1]")
		if err := redis.Unschedule(redis.Context(), "b-1"); err != nil {
			redis.Fatal(err)
		}
		due(now.Add(time.Hour), "[a-1]")
	})
}

func TestRuleIsSealed(t *testing.T) {
	onEach(t, func(redis *fixture) {
		if _, err := redis.Rule(redis.Context(), "live"); !errors.Is(err, flows.ErrNotFound) {
			redis.Fatalf("a rule that was never set: %v", err)
		}
		rule := &flows.Rule{
			Conditions: []flows.Condition{{Signal: flows.SignalSaleState, Before: "open", After: "paid"}},
			Recorded:   20,
			Unpaid:     5,
		}
		if err := redis.SaveRule(redis.Context(), "live", rule); err != nil {
			redis.Fatal(err)
		}
		if got, err := redis.Rule(redis.Context(), "live"); err != nil || got.String() != rule.String() || got.Recorded != 20 {
			redis.Errorf("read back: %+v, %v", got, err)
		}
		if _, err := redis.Rule(redis.Context(), "test"); !errors.Is(err, flows.ErrNotFound) {
			redis.Errorf("another environment: %v", err)
		}
		held := redis.redis.Get(redis.Context(), "fd:rule:live").Val()
		if held == "" || strings.Contains(held, "paid") {
			redis.Errorf("Redis holds %q", held)
		}
		redis.redis.Set(redis.Context(), "fd:rule:test", held, 0)
		if _, err := redis.Rule(redis.Context(), "test"); !errors.Is(err, keyring.ErrSealed) {
			redis.Errorf("a rule of another environment: %v", err)
		}
	})
}

func TestNotes(t *testing.T) {
	onEach(t, func(redis *fixture) {
		for i := range 105 {
			note := flows.Note{At: time.UnixMilli(int64(i)), Operator: "ada", Text: fmt.Sprint("secret ", i)}
			if err := redis.AddNote(redis.Context(), "r-1", note); err != nil {
				redis.Fatal(err)
			}
		}
		notes, err := redis.Notes(redis.Context(), "r-1")
		if err != nil || len(notes) != 100 || notes[0].Text != "secret 5" || notes[99].Text != "secret 104" || notes[99].Operator != "ada" {
			redis.Errorf("%d notes, %v", len(notes), err)
		}
		if held := fmt.Sprint(redis.redis.LRange(redis.Context(), "fd:{r}:notes:1", 0, -1).Val()); strings.Contains(held, "secret") {
			redis.Error("a note is kept in plain")
		}
		if ttl := redis.redis.PTTL(redis.Context(), "fd:{r}:notes:1").Val(); ttl <= 30*24*time.Hour {
			redis.Errorf("notes are kept for %s", ttl)
		}
		if notes, err := redis.Notes(redis.Context(), "r-2"); err != nil || len(notes) != 0 {
			redis.Errorf("another payment's notes: %v, %v", notes, err)
		}
	})
}

func TestAudit(t *testing.T) {
	onEach(t, func(redis *fixture) {
		at := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
		entry := flows.AuditEntry{
			At:       at,
			Operator: "ada",
			Action:   "confirm-recorded",
			Payment:  "r-1",
			From:     flows.InDoubt,
			To:       flows.Recorded,
		}
		for range 2 {
			if err := redis.Audit(redis.Context(), entry); err != nil {
				redis.Fatal(err)
			}
		}
		entries := redis.redis.XRange(redis.Context(), "fd:audit", "-", "+").Val()
		want := "map[at:2026-11-21T14:00:00Z by:ada from:in_doubt payment:r-1 to:recorded what:confirm-recorded]"
		if len(entries) != 2 || fmt.Sprint(entries[0].Values) != want {
			redis.Errorf("the stream holds %v", entries)
		}
	})
}
