package handlers

import (
	"context"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/contract"
	"frontdesk/flows/schedule"
)

// orderOf returns what the order button of a registration means; nil while the cart has no items. The lines of the cart get the names that
// they have in the order.
func (s *Server) orderOf(ctx context.Context, view flows.View, cart *api.Cart) *api.Order {
	if len(cart.Items) == 0 {
		return nil
	}
	club, language := s.cfg.Catalogue.Details(view.ClubID), textsOf(ctx).Tag
	order := contract.OrderOf(view, club, s.cfg.Now())
	out := api.Order{Button: api.OrderButton(order.Button), Essentials: essentialsOf(order.CartSchedule, view.Cart.Currency)}
	out.Essentials.MinimumTerm = optional(durationText(order.MinimumTerm))
	ordered := order.In(language, view, club)
	out.Essentials.Renewal, out.Essentials.Notice = optional(ordered.Renewal), optional(ordered.Notice)
	out.Agreements = optionalList(each(s.cfg.Registrations.NeededAgreements(ctx, view), func(needed flows.Agreed) api.NeededAgreement {
		return api.NeededAgreement{Document: api.DocumentName(needed.Document), Version: needed.Version}
	}))
	for i, item := range order.Items {
		rename(cart, i, singleLine(item.NameIn(language, view.Cart.Lines[i], club)))
		out.Essentials.Items = append(out.Essentials.Items, api.OrderItem{
			ItemId:       cart.Items[i].Id,
			Name:         cart.Items[i].Name,
			Price:        cart.Items[i].Price,
			Commitment:   optional(durationText(item.Commitment)),
			StartDate:    optional(ordered.Items[i].StartDate),
			Withdrawal:   withdrawalOf(item.Withdrawal, language),
			Personalised: optional(item.Personalised),
			Notice:       optional(ordered.Items[i].Notice),
		})
	}
	return &out
}

// rename names a line of a cart, and the changes of that line.
func rename(cart *api.Cart, i int, name string) {
	cart.Items[i].Name = name
	for at := range cart.Changes {
		if id := cart.Changes[at].ItemId; id != nil && *id == cart.Items[i].Id {
			cart.Changes[at].Name = name
		}
	}
}

func essentialsOf(costs schedule.CartSchedule, currency string) api.OrderEssentials {
	out := api.OrderEssentials{
		DueNow: money(costs.DueNow.Amount, currency),
		Debits: each(costs.Debits, func(debit schedule.CartDebit) api.ScheduleDebit { return debitOf(debit.Debit, currency) }),
		Recurrence: optionalList(each(costs.Recurrences, func(endless schedule.CartRecurrence) api.ScheduleRecurrence {
			return recurrenceOf(endless.Recurrence, currency)
		})),
		Basis: api.ScheduleBasis(costs.Basis),
		Rules: rulesOf(costs.Verdict),
	}
	if costs.Total != nil {
		out.Total = new(money(*costs.Total, currency))
	}
	return out
}

func withdrawalOf(withdrawal contract.Withdrawal, language string) api.Withdrawal {
	out := api.Withdrawal{
		Right:     withdrawal.Right,
		From:      optional(api.WithdrawalStart(withdrawal.From)),
		Exception: optional(withdrawal.Exception.In(language)),
	}
	if withdrawal.Until != (schedule.Date{}) {
		out.Until = new(withdrawal.Until.String())
	}
	return out
}
