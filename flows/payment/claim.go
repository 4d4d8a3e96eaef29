package payment

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/upstream/cards"
)

// refundPrefix begins the post id of a refund's claim.
const refundPrefix = "refund-"

// newAttemptID makes the id under which one attempt claims. It carries its instant, so
// that the journal tells how old a claim is, whatever Redis remembers of it.
func newAttemptID(now time.Time) string {
	return strconv.FormatInt(now.UnixMilli(), 10) + "-" + uuid.NewString()
}

// attemptStart tells when an attempt began; not of ids that carry no instant.
func attemptStart(post string) (time.Time, bool) {
	instant, id, _ := strings.Cut(strings.TrimPrefix(post, refundPrefix), "-")
	if uuid.Validate(id) != nil { // else the first part is one of a bare UUID
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(instant, 10, 64)
	return time.UnixMilli(ms), err == nil
}

// lastClaim is the latest claim that the journal knows, and whose it is; 0 before the first.
func lastClaim(remote cards.Payment) (n int, post string) {
	for n := maxClaims + 1; n > 0; n-- {
		if post := cmp.Or(remote.Metadata[claimKey("post", n)], remote.Metadata[claimKey("release", n)]); post != "" {
			return n, post
		}
	}
	return 0, ""
}

// refundClaimed tells whether the latest claim is a refund's: the money is going back, or went.
func refundClaimed(remote cards.Payment) bool {
	_, post := lastClaim(remote)
	return isRefundAttempt(post)
}

// isRefundAttempt tells from its id whether a claim was made for a refund.
func isRefundAttempt(post string) bool { return strings.HasPrefix(post, refundPrefix) }
