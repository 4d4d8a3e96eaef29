package payment

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/upstream/cards"
)

// entryName names the n-th entry of a kind in the journal: fd_post_1, fd_release_1, fd_done_1, fd_op_1.
func entryName(kind string, n int) string { return "fd_" + kind + "_" + strconv.Itoa(n) }

// releasedByOperator is the journal's entry that an operator released a claim. That proves less than a
// release by the process that held the claim.
const releasedByOperator = "fd_released_by"

// claimAvailable reports whether claim n is open to an attempt (empty: to the first one): no
// acceptance is journaled, every earlier claim is released, and no other attempt or
// release has this number.
func claimAvailable(remote cards.Payment, n int, attempt string) bool {
	return remote.Metadata[entryName("post", n)] == attempt && remote.Metadata[entryName("release", n)] == "" &&
		allReleased(remote, n-1) && !acceptanceJournaled(remote)
}

// allReleased reports whether the first n claims were released by their holders.
func allReleased(remote cards.Payment, n int) bool {
	for i := range n {
		if !released(remote, i+1) {
			return false
		}
	}
	return true
}

// released reports whether a claim was released by its holder: the release names the holder's attempt. A claim that
// was released before anyone held it is closed to everyone.
func released(remote cards.Payment, n int) bool {
	post, release := remote.Metadata[entryName("post", n)], remote.Metadata[entryName("release", n)]
	return release != "" && (post == "" || post == release)
}

// acceptanceJournaled reports whether an acceptance is journaled under any claim.
func acceptanceJournaled(remote cards.Payment) bool {
	for key, attempt := range remote.Metadata {
		if attempt != "" && strings.HasPrefix(key, "fd_done_") {
			return true
		}
	}
	return false
}

// refundBegun reports whether the latest claim is a refund's that nothing forbids, held or given up for the next one.
func refundBegun(remote cards.Payment) bool {
	n, attempt := lastClaim(remote)
	return isRefundAttempt(attempt) && allReleased(remote, n-1) && !acceptanceJournaled(remote)
}

// refundHeld reports whether a refund's attempt holds claim n, and nothing forbids the refund. A release that names another attempt is
// of a process that could not win the claim. It changes nothing unless it came before the refund's claim and let a later attempt in.
func refundHeld(remote cards.Payment, n int, attempt string) bool {
	post, release := remote.Metadata[entryName("post", n)], remote.Metadata[entryName("release", n)]
	last, _ := lastClaim(remote)
	foreign := release != attempt && last == n
	return post == attempt && (release == "" || foreign) && allReleased(remote, n-1) && !acceptanceJournaled(remote)
}

// lastClaim returns the journal's latest claim with its attempt; 0 before the first.
func lastClaim(remote cards.Payment) (n int, attempt string) {
	for n := highestClaim; n > 0; n-- {
		if attempt := cmp.Or(remote.Metadata[entryName("post", n)], remote.Metadata[entryName("release", n)]); attempt != "" {
			return n, attempt
		}
	}
	return 0, ""
}

// refundPrefix begins the attempt id of a refund's claim.
const refundPrefix = "refund-"

// newAttemptID returns the id under which one attempt claims. It begins with the time in
// milliseconds, so that the journal shows a claim's age without Redis.
func newAttemptID(now time.Time) string {
	return strconv.FormatInt(now.UnixMilli(), 10) + "-" + uuid.NewString()
}

// attemptStart returns when an attempt began; false for an id without a time.
func attemptStart(attempt string) (time.Time, bool) {
	instant, id, _ := strings.Cut(strings.TrimPrefix(attempt, refundPrefix), "-")
	if uuid.Validate(id) != nil {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(instant, 10, 64)
	return time.UnixMilli(ms), err == nil
}

// isRefundAttempt reports whether a claim was made for a refund.
func isRefundAttempt(attempt string) bool { return strings.HasPrefix(attempt, refundPrefix) }

// refundClaimed reports whether the latest claim is a refund's: the money is going back, or went.
func refundClaimed(remote cards.Payment) bool {
	_, attempt := lastClaim(remote)
	return isRefundAttempt(attempt)
}
