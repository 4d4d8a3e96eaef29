package protocol

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// ByOperator is the metadata's entry that an operator released a claim. That proves less than a release by the process that
// held the claim.
const ByOperator = "fd_released_by"

// EntryName names the n-th entry of a kind in the metadata: fd_post_1, fd_release_1, fd_done_1, fd_op_1.
func EntryName(kind string, n int) string { return "fd_" + kind + "_" + strconv.Itoa(n) }

// Journal is what the processor's metadata says about claims. Its entries are appended and never overwritten.
type Journal struct {
	Entries    []Entry // by number: the first is claim 1
	Accepted   bool    // an acceptance is journaled (fd_done_n), under any number
	ByOperator bool    // an operator released a claim
}

// Entry is what is journaled under one claim's number.
type Entry struct {
	Attempt string // fd_post_n: who holds the claim
	Release string // fd_release_n: the attempt that gave it up
}

// maxEntries is more than the processor's metadata has room for.
const maxEntries = 50

// ReadJournal reads the journal from the processor's metadata.
func ReadJournal(metadata map[string]string) Journal {
	journal := Journal{ByOperator: metadata[ByOperator] != ""}
	for key, value := range metadata {
		if value == "" {
			continue
		}
		if strings.HasPrefix(key, "fd_done_") {
			journal.Accepted = true
		}
		kind, number, _ := strings.Cut(strings.TrimPrefix(key, "fd_"), "_")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > maxEntries || key != EntryName(kind, n) || kind != "post" && kind != "release" {
			continue
		}
		for len(journal.Entries) < n {
			journal.Entries = append(journal.Entries, Entry{})
		}
		if kind == "post" {
			journal.Entries[n-1].Attempt = value
		} else {
			journal.Entries[n-1].Release = value
		}
	}
	return journal
}

// Entry returns the n-th entry; an empty one if nothing is journaled under its number.
func (j Journal) Entry(n int) Entry {
	if n < 1 || n > len(j.Entries) {
		return Entry{}
	}
	return j.Entries[n-1]
}

// Available reports whether claim n is open to an attempt (empty: to the first one): no acceptance is journaled, every earlier
// claim is released, and no other attempt or release has this number.
func (j Journal) Available(n int, attempt string) bool {
	return j.allReleased(n-1) && j.Entry(n).Attempt == attempt && j.Entry(n).Release == "" && !j.Accepted
}

// allReleased reports whether the first n claims were released by their holders.
func (j Journal) allReleased(n int) bool {
	for i := range n {
		if !j.Released(i + 1) {
			return false
		}
	}
	return true
}

// Released reports whether a claim was released by its holder: the release names the holder's attempt. A claim that was
// released before anyone held it is closed to everyone.
func (j Journal) Released(n int) bool {
	e := j.Entry(n)
	return e.Release != "" && (e.Attempt == "" || e.Attempt == e.Release)
}

// Last returns the latest claim with its attempt; 0 before the first.
func (j Journal) Last() (n int, attempt string) {
	for n := min(len(j.Entries), HighestClaim); n > 0; n-- {
		if attempt := cmp.Or(j.Entry(n).Attempt, j.Entry(n).Release); attempt != "" {
			return n, attempt
		}
	}
	return 0, ""
}

// RefundClaimed reports whether the latest claim is a refund's: the money is going back, or went.
func (j Journal) RefundClaimed() bool {
	_, attempt := j.Last()
	return IsRefund(attempt)
}

// RefundBegun reports whether the latest claim is a refund's that nothing forbids, held or given up for the next one.
func (j Journal) RefundBegun() bool {
	n, attempt := j.Last()
	return IsRefund(attempt) && j.allReleased(n-1) && !j.Accepted
}

// RefundHeld reports whether a refund's attempt holds claim n, and nothing forbids the refund. A release that names another attempt
// is of a process that could not win the claim. It changes nothing unless it came before the refund's claim and let a later attempt in.
func (j Journal) RefundHeld(n int, attempt string) bool {
	e := j.Entry(n)
	last, _ := j.Last()
	foreign := e.Release != attempt && last == n
	return e.Attempt == attempt && (e.Release == "" || foreign) && j.allReleased(n-1) && !j.Accepted
}

// maybeSent reports whether the latest claim is held, not released, and no refund's: under it, the payment may have been recorded.
func (j Journal) maybeSent() bool {
	n, attempt := j.Last()
	return n > 0 && !IsRefund(attempt) && !j.Released(n)
}

// RefundPrefix begins the attempt of a refund's claim.
const RefundPrefix = "refund-"

// IsRefund reports whether an attempt is a refund's.
func IsRefund(attempt string) bool { return strings.HasPrefix(attempt, RefundPrefix) }

// NewAttemptID returns the name under which one attempt claims, from a random id that nothing else has. It begins with the
// time in milliseconds, so that the journal shows a claim's age without Redis.
func NewAttemptID(now time.Time, id string) string {
	return strconv.FormatInt(now.UnixMilli(), 10) + "-" + id
}

// AttemptStart returns when an attempt began; false for one without a time.
func AttemptStart(attempt string) (time.Time, bool) {
	instant, id, _ := strings.Cut(strings.TrimPrefix(attempt, RefundPrefix), "-")
	if uuid.Validate(id) != nil {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(instant, 10, 64)
	return time.UnixMilli(ms), err == nil
}
