package flows

import (
	"context"
	"time"

	"frontdesk/upstream/club"
)

// SMSUse is how much of a budget is used.
type SMSUse struct {
	Within time.Duration // what the budget is for
	Budget int           // codes, of each club
	Used   int           // by the club that has used the most
}

// Used tells how much of its budget was used by the club that has used the most: of
// the clubs that this gateway had codes sent for, whatever gateway sent the others'.
func (g *SMSGuard) Used(ctx context.Context) ([]SMSUse, error) {
	now := g.cfg.Now()
	var uses []SMSUse
	for _, limit := range g.budget() {
		uses = append(uses, SMSUse{Within: limit.Within, Budget: limit.Codes})
	}
	var failed error
	g.paying.Range(func(at, _ any) bool {
		var used int
		for i := range uses { // the last is the longest
			if used, failed = g.cfg.Store.CountSMS(ctx, sentBy(at.(club.IRI)), now.Add(-uses[i].Within), now); failed != nil {
				return false
			}
			uses[i].Used = max(uses[i].Used, used)
		}
		if used == 0 {
			g.paying.Delete(at)
		}
		return true
	})
	return uses, storageFailed(failed)
}
