package clubsim

import "time"

// due is what a contact owes for one sale.
type due struct {
	ID        int       `json:"id"`
	SaleID    int       `json:"saleId"`
	ContactID int       `json:"contactId"`
	ClubID    int       `json:"clubId"`
	Amount    int       `json:"amount"` // cents
	Left      int       `json:"left"`   // cents not settled yet
	OverdueAt string    `json:"overdueAt"`
	CreatedAt time.Time `json:"createdAt"`
}

// getAccountStatistics: GET stats/accounts/contacts/{id}.
func getAccountStatistics(c *request, k *contact) (response, error) {
	debt := c.w.debt(k.ID, c.now)
	return ok(c.w.record("AccountStatistics", "stats/accounts/contacts", k.ID, record{"totalRealDebt": debt}))
}

// debt is what a contact owes, in cents: every due, or only overdue ones if the settings
// say so.
func (w *World) debt(contactID int, now time.Time) int {
	total := 0
	today := now.Format(time.DateOnly)
	for _, d := range w.state.Dues.Rows {
		if d.ContactID == contactID && (w.settings.DebtCounts == "owed" || d.OverdueAt <= today) {
			total += d.Left
		}
	}
	return total
}
