package handlers

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/contract"
	"frontdesk/flows/schedule"
	"frontdesk/flows/text"
)

// The texts of the card page about the order. The button has the words that the law asks for.
const (
	pageWithObligation text.PageCode = "order_with_obligation_to_pay"
	pagePayNow         text.PageCode = "pay_now"
	pageDueNow         text.PageCode = "due"    // amount
	pageDebits         text.PageCode = "debits" // count, amount, first, last
	pageEndless        text.PageCode = "endless"
	pageMayFollow      text.PageCode = "may_follow"
	pageTotal          text.PageCode = "total"
	pageWithdrawal     text.PageCode = "withdrawal"
	pageWithdrawGoods  text.PageCode = "withdrawal_of_goods"
	pageNoWithdrawal   text.PageCode = "no_withdrawal"
)

// pageOrder is what the card page shows of the order: the words of its button, and the essential terms directly above it. The front end
// has shown what is bought; this page shows nothing of the buyer.
type pageOrder struct {
	Button string
	Terms  []string
}

// pageOrderOf returns the order of a registration whose payment has a card page.
func (s *Server) pageOrderOf(ctx context.Context, texts texts, view flows.View) pageOrder {
	if len(view.Cart.Lines) == 0 { // Redis has lost it
		return pageOrder{Button: texts.Page[pageWithObligation], Terms: []string{texts.Page[pageMayFollow]}}
	}
	order := contract.OrderOf(view, s.cfg.Catalogue.Details(view.ClubID), s.cfg.Now())
	out := pageOrder{Button: texts.Page[pageWithObligation]}
	if order.Button == contract.PayNow {
		out.Button = texts.Page[pagePayNow]
	}
	currency := currencyCode(view.Cart.Currency)
	out.Terms = append(out.Terms, texts.page(pageDueNow, "amount", texts.Money(order.DueNow.Amount, currency)))
	out.Terms = append(out.Terms, texts.laterTerms(order.CartSchedule, currency)...)
	for _, term := range []string{order.Renewal.In(texts.Tag), order.Notice.In(texts.Tag)} {
		if term != "" {
			out.Terms = append(out.Terms, term)
		}
	}
	rights := each(order.Items, func(item contract.Item) string { return texts.withdrawal(item.Withdrawal) })
	if rights = slices.Compact(rights); len(rights) == 1 { // several cannot be told apart without the items
		out.Terms = append(out.Terms, rights[0])
	}
	return out
}

// laterTerms says what follows today's payment: equal debits in one line.
func (l texts) laterTerms(costs schedule.CartSchedule, currency string) (lines []string) {
	for first := 0; first < len(costs.Debits); {
		last := first
		for last+1 < len(costs.Debits) && costs.Debits[last+1].Amount == costs.Debits[first].Amount {
			last++
		}
		lines = append(lines, l.page(pageDebits, "count", strconv.Itoa(last-first+1), "amount", l.Money(costs.Debits[first].Amount, currency),
			"first", l.day(costs.Debits[first].Date), "last", l.day(costs.Debits[last].Date)))
		first = last + 1
	}
	for _, endless := range costs.Recurrences {
		lines = append(lines, l.page(pageEndless, "amount", l.Money(endless.Amount, currency),
			"first", l.day(endless.From), "second", l.day(endless.At(1))))
	}
	switch {
	case costs.Basis == schedule.Unknown:
		lines = append(lines, l.Page[pageMayFollow])
	case costs.Total != nil && len(lines) > 0:
		lines = append(lines, l.page(pageTotal, "amount", l.Money(*costs.Total, currency)))
	}
	return lines
}

func (l texts) withdrawal(right contract.Withdrawal) string {
	switch {
	case !right.Right:
		if why := right.Exception.In(l.Tag); why != "" {
			return why
		}
		return l.Page[pageNoWithdrawal]
	case right.Until == (schedule.Date{}):
		return l.Page[pageWithdrawGoods]
	}
	return l.page(pageWithdrawal, "until", l.day(right.Until))
}

// page fills the parameters of a text of the card page: their names and values in turn.
func (l texts) page(name text.PageCode, params ...string) string {
	pairs := make([]string, len(params))
	for i := 0; i+1 < len(params); i += 2 {
		pairs[i], pairs[i+1] = "{"+params[i]+"}", params[i+1]
	}
	return strings.NewReplacer(pairs...).Replace(l.Page[name])
}

func (l texts) day(day schedule.Date) string {
	return l.Date(time.Date(day.Year, day.Month, day.Day, 0, 0, 0, 0, time.UTC))
}
