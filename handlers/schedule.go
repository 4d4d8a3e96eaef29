package handlers

import (
	"context"

	"frontdesk/api"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/schedule"
)

// GetSchedule serves GET /v1/clubs/{clubId}/offers/{offerId}/schedule.
func (s *Server) GetSchedule(ctx context.Context, request api.GetScheduleRequestObject) (api.GetScheduleResponseObject, error) {
	terms, err := s.cfg.Catalogue.ScheduleTerms(ctx, catalogue.ScheduleQuery{
		ProductQuery: catalogue.ProductQuery{ClientToken: callerOf(ctx).clientToken, ClubID: request.ClubId, Channel: webChannel},
		OfferID:      request.OfferId, StartDate: value(request.Params.StartDate), DebitDay: request.Params.DebitDay, Now: s.cfg.Now(),
	})
	if err != nil {
		return nil, err
	}
	return api.GetSchedule200JSONResponse(scheduleOf(terms)), nil
}

// scheduleOf computes a schedule and puts it into the words of the contract.
func scheduleOf(terms catalogue.ScheduleTerms) api.Schedule {
	start := schedule.DateOf(terms.Start)
	computed := schedule.Of(schedule.Terms{
		Offer: schedule.OfferOf(terms.Offer.Listed, terms.Offer.Commitment), Today: schedule.DateOf(terms.Today), Start: start,
		DebitDay: terms.DebitDay, DebitDayOpen: terms.DebitDayOpen,
	})
	currency := terms.Offer.Currency
	out := api.Schedule{
		OfferId: terms.Offer.IRI.ID(), StartDate: start.String(), DebitDay: optional(terms.DebitDay),
		DueNow: dueNowOf(computed.DueNow, terms.Offer), Debits: make([]api.ScheduleDebit, len(computed.Debits)),
		Basis: api.ScheduleBasis(computed.Basis), Rules: rulesOf(computed.Verdict),
		FirstStatement: make([]api.ScheduleMovement, len(computed.FirstStatement)),
	}
	for i, debit := range computed.Debits {
		out.Debits[i] = api.ScheduleDebit{Date: debit.Date.String(), Amount: money(debit.Amount, currency),
			Basis: api.ScheduleBasis(debit.Basis), Rules: rulesOf(debit.Verdict)}
	}
	if r := computed.Recurrence; r != nil {
		out.Recurrence = &api.ScheduleRecurrence{From: r.From.String(), Every: durationText(r.Every), Day: optional(r.Day), Amount: money(r.Amount, currency),
			Basis: api.ScheduleBasis(r.Basis), Rules: rulesOf(r.Verdict)}
	}
	if computed.Total != nil {
		total := money(*computed.Total, currency)
		out.Total = &total
	}
	for i, movement := range computed.FirstStatement {
		kind := api.ScheduleMovementKindDueNow
		if movement.Debit {
			kind = api.ScheduleMovementKindDebit
		}
		out.FirstStatement[i] = api.ScheduleMovement{Date: movement.Date.String(), Kind: kind, Amount: money(movement.Amount, currency),
			Basis: api.ScheduleBasis(movement.Basis), Rules: rulesOf(movement.Verdict)}
	}
	return out
}

func dueNowOf(due schedule.DueNow, offer catalogue.Offer) api.ScheduleDueNow {
	out := api.ScheduleDueNow{Date: due.Date.String(), Amount: money(due.Amount, offer.Currency), Parts: make([]api.SchedulePart, len(due.Parts)),
		Basis: api.ScheduleBasis(due.Basis), Rules: rulesOf(due.Verdict)}
	for i, part := range due.Parts {
		out.Parts[i] = api.SchedulePart{Kind: api.SchedulePartKind(part.Kind), Amount: money(part.Amount, offer.Currency)}
		if part.Kind == schedule.Fee {
			out.Parts[i].Name = optional(singleLine(offer.FeeName))
		}
	}
	return out
}

// rulesOf names rules; none is left out.
func rulesOf(v schedule.Verdict) *api.ScheduleRules {
	if len(v.Rules) == 0 {
		return nil
	}
	rules := make(api.ScheduleRules, len(v.Rules))
	for i, rule := range v.Rules {
		rules[i] = string(rule)
	}
	return &rules
}
