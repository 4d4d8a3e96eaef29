package club

import (
	"cmp"
	"fmt"
)

// The bounds beyond which an answer is a mistake, however well it is formed.
const (
	// maxAmount in cents, either way: ten thousand million. Sums of some hundred such stay
	// exact in every reader of JSON.
	maxAmount = 1_000_000_000_000
	// mostEntries of an offer's schedule: one for each debit, weekly for more than ten years.
	mostEntries = 600
	// mostArticles of a sale: several times what a visitor can put into a cart.
	mostArticles = 500
)

// amount tells that a number can be no amount of money.
func amount(field string, n int64) error {
	if n < -maxAmount || n > maxAmount {
		return &DecodeError{Field: field, Want: "an amount of money"}
	}
	return nil
}

// atMost tells that a list is too long.
func atMost(field string, n, most int) error {
	if n > most {
		return &DecodeError{Field: field, Want: fmt.Sprintf("a list of at most %d", most)}
	}
	return nil
}

func (o *Offer) bounded() error {
	schedule := o.RepaymentSchedule
	err := cmp.Or(amount("registrationFeeTI", o.RegistrationFeeTI), amount("totalPriceTI", o.TotalPriceTI),
		atMost("repaymentSchedule", len(schedule.Occurrences)+len(schedule.Recurrences), mostEntries))
	for _, entries := range [][]ScheduleEntry{schedule.Occurrences, schedule.Recurrences} {
		for _, entry := range entries {
			err = cmp.Or(err, amount("repaymentSchedule.priceTI", entry.PriceTI))
		}
	}
	return err
}

func (p *pricedSale) bounded() error {
	err := cmp.Or(amount("totalTI", *p.Total), atMost("articles", len(p.Articles), mostArticles))
	for _, article := range p.Articles {
		err = cmp.Or(err, amount("articles.priceTI", article.PriceTI))
	}
	return err
}
