package signature

import (
	"context"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// SMSUsage is how much of a budget is used.
type SMSUsage struct {
	Period time.Duration // what the budget is for
	Budget int           // codes, of each club
	Used   int           // by the club that has used the most
}

// Usage tells how much of its budget was used by the club that has used the most: of
// the clubs that this gateway had codes sent for, whatever gateway sent the others'.
func (g *SMSBudget) Usage(ctx context.Context) ([]SMSUsage, error) {
	now := g.cfg.Now()
	var uses []SMSUsage
	for _, limit := range g.limits() {
		uses = append(uses, SMSUsage{Period: limit.Period, Budget: limit.Codes})
	}
	var failed error
	g.activeClubs.Range(func(at, _ any) bool {
		var used int
		for i := range uses { // the last is the longest
			if used, failed = g.cfg.Store.CountSMS(ctx, sentBy(at.(club.IRI)), now.Add(-uses[i].Period), now); failed != nil {
				return false
			}
			uses[i].Used = max(uses[i].Used, used)
		}
		if used == 0 {
			g.activeClubs.Delete(at)
		}
		return true
	})
	return uses, flows.StorageFailed(failed)
}
