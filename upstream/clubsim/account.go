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

type accountStatistics struct {
	Context       string `json:"@context"`
	IRI           string `json:"@id"`
	Type          string `json:"@type"`
	TotalRealDebt int    `json:"totalRealDebt"`
}

// getAccountStatistics: GET stats/accounts/contacts/{id}.
func getAccountStatistics(c *request) (response, error) {
	k, err := c.contactAt(c.ids[0])
	if err != nil {
		return response{}, err
	}
	return ok(accountStatistics{
		Context: "/contexts/AccountStatistics", IRI: c.w.iri("stats/accounts/contacts", k.ID),
		Type: "AccountStatistics", TotalRealDebt: c.w.debt(k.ID, c.now),
	})
}

// debt is what a contact owes, in cents: every due, or those past their date
// when the settings say so.
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
