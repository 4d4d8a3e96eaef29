package club

import (
	"cmp"
	"fmt"
)

// Limits beyond which a well-formed response is a mistake.
const (
	// maxAmount in cents, positive or negative: ten thousand million. Sums of some hundred
	// such amounts stay exact in every reader of JSON.
	maxAmount = 1_000_000_000_000
	// maxScheduleEntries of an offer: one for each debit, weekly for more than ten years.
	maxScheduleEntries = 600
	// maxArticles of a sale: several times what a visitor can put into a cart.
	maxArticles = 500
)

// checkAmount refuses a number that cannot be an amount of money.
func checkAmount(field string, n int64) error {
	if n < -maxAmount || n > maxAmount {
		return &DecodeError{Field: field, Want: "an amount of money"}
	}
	return nil
}

// checkLength refuses a list that is too long.
func checkLength(field string, n, most int) error {
	if n > most {
		return &DecodeError{Field: field, Want: fmt.Sprintf("a list of at most %d", most)}
	}
	return nil
}

func (o *Offer) checkBounds() error {
	schedule := o.RepaymentSchedule
	err := cmp.Or(checkAmount("registrationFeeTI", o.RegistrationFeeTI), checkAmount("totalPriceTI", o.TotalPriceTI),
		checkLength("repaymentSchedule", len(schedule.Occurrences)+len(schedule.Recurrences), maxScheduleEntries))
	for _, entries := range [][]ScheduleEntry{schedule.Occurrences, schedule.Recurrences} {
		for _, entry := range entries {
			err = cmp.Or(err, checkAmount("repaymentSchedule.priceTI", entry.PriceTI))
		}
	}
	return err
}

func (p *pricedSale) checkBounds() error {
	err := cmp.Or(checkAmount("totalTI", *p.Total), checkLength("articles", len(p.Articles), maxArticles))
	for _, article := range p.Articles {
		err = cmp.Or(err, checkAmount("articles.priceTI", article.PriceTI))
	}
	return err
}
