package handlers

import (
	"context"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/contract"
	"frontdesk/flows/schedule"
)

// GetCartSchedule serves GET /v1/registrations/{id}/schedule.
func (s *Server) GetCartSchedule(ctx context.Context, request api.GetCartScheduleRequestObject) (api.GetCartScheduleResponseObject, error) {
	view, _, err := s.cfg.Registrations.Load(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	order := contract.OrderOf(view, s.cfg.Catalogue.Details(view.ClubID), s.cfg.Now())
	return api.GetCartSchedule200JSONResponse(cartScheduleOf(view.Cart, order.CartSchedule)), nil
}

func cartScheduleOf(cart flows.Cart, computed schedule.CartSchedule) api.CartSchedule {
	shares := func(all []schedule.Share) []api.CartScheduleShare {
		return each(all, func(share schedule.Share) api.CartScheduleShare {
			return api.CartScheduleShare{ItemId: lineID(share.Line), Price: money(share.Amount, cart.Currency)}
		})
	}
	out := api.CartSchedule{
		Revision: cart.Revision(),
		DueNow: api.CartScheduleDueNow{
			Date:  computed.DueNow.Date.String(),
			Price: money(computed.DueNow.Amount, cart.Currency),
			Items: shares(computed.DueNow.Shares),
		},
		Debits: each(computed.Debits, func(debit schedule.CartDebit) api.CartScheduleDebit {
			return api.CartScheduleDebit{
				Date:  debit.Date.String(),
				Price: money(debit.Amount, cart.Currency),
				Basis: api.ScheduleBasis(debit.Basis),
				Rules: rulesOf(debit.Verdict),
				Items: shares(debit.Shares),
			}
		}),
		Recurrences: each(computed.Recurrences, func(endless schedule.CartRecurrence) api.CartScheduleRecurrence {
			return api.CartScheduleRecurrence{
				From:  endless.From.String(),
				Every: durationText(endless.Every),
				Day:   optional(endless.Day),
				Price: money(endless.Amount, cart.Currency),
				Basis: api.ScheduleBasis(endless.Basis),
				Rules: rulesOf(endless.Verdict),
				Items: shares(endless.Shares),
			}
		}),
		Items:          make([]api.CartScheduleItem, len(computed.Lines)),
		Basis:          api.ScheduleBasis(computed.Basis),
		Rules:          rulesOf(computed.Verdict),
		FirstStatement: each(computed.FirstStatement, func(m schedule.Movement) api.ScheduleMovement { return movementOf(m, cart.Currency) }),
	}
	for i, line := range computed.Lines {
		out.Items[i] = api.CartScheduleItem{ItemId: lineID(cart.LineID(i)), Basis: api.ScheduleBasis(line.Basis), Rules: rulesOf(line)}
	}
	if computed.Total != nil {
		out.Total = new(money(*computed.Total, cart.Currency))
	}
	return out
}
