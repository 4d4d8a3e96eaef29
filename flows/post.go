package flows

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/upstream/cards"
)

// refundPost begins the post id of a refund's claim.
const refundPost = "refund-"

// newPost makes the id under which one attempt claims. It carries its instant, so
// that the journal tells how old a claim is, whatever Redis remembers of it.
func newPost(now time.Time) string {
	return strconv.FormatInt(now.UnixMilli(), 10) + "-" + uuid.NewString()
}

// postedAt tells when an attempt began; not of ids that carry no instant.
func postedAt(post string) (time.Time, bool) {
	instant, id, _ := strings.Cut(strings.TrimPrefix(post, refundPost), "-")
	if uuid.Validate(id) != nil { // else the first part is one of a bare UUID
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(instant, 10, 64)
	return time.UnixMilli(ms), err == nil
}

// lastClaim is the latest claim that the journal knows, and whose it is; 0 before the first.
func lastClaim(held cards.Payment) (n int, post string) {
	for n := maxClaims + 1; n > 0; n-- {
		if post := cmp.Or(held.Metadata[claimKey("post", n)], held.Metadata[claimKey("release", n)]); post != "" {
			return n, post
		}
	}
	return 0, ""
}

// refundClaimed tells whether the latest claim is a refund's: the money is going back, or went.
func refundClaimed(held cards.Payment) bool {
	_, post := lastClaim(held)
	return isRefund(post)
}

// isRefund tells from its id whether a claim was made for a refund.
func isRefund(post string) bool { return strings.HasPrefix(post, refundPost) }
