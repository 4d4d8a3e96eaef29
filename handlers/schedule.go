package handlers

import (
	"context"

	"frontdesk/api"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/schedule"
)

// GetSchedule serves GET /v1/clubs/{clubId}/offers/{offerId}/schedule.
func (s *Server) GetSchedule(ctx context.Context, request api.GetScheduleRequestObject) (api.GetScheduleResponseObject, error) {
	query, err := s.productQuery(ctx, request.ClubId, request.Params.Channel)
	if err != nil {
		return nil, err
	}
	terms, read, err := s.cfg.Catalogue.ScheduleTerms(ctx, catalogue.ScheduleQuery{
		ProductQuery: query,
		OfferID:      request.OfferId,
		StartDate:    value(request.Params.StartDate),
		DebitDay:     request.Params.DebitDay,
		Now:          s.cfg.Now(),
	})
	if err != nil {
		return nil, err
	}
	club := s.cfg.Catalogue.Details(request.ClubId)
	return s.cacheResponse(ctx, query.Buyer, read, club.DayEnds(exchangeOf(ctx).At), func(*bool) (any, error) {
		return scheduleOf(terms, club, textsOf(ctx).Tag), nil
	})
}

// scheduleOf computes a schedule. Its names are the club's, in a language.
func scheduleOf(terms catalogue.ScheduleTerms, club catalogue.Details, language string) api.Schedule {
	computed := schedule.Of(terms.Terms(terms.Offer.ExtraPrices()))
	currency := terms.Offer.Currency
	out := api.Schedule{
		OfferId:        terms.Offer.IRI.ID(),
		StartDate:      schedule.DateOf(terms.Start).String(),
		DebitDay:       optional(terms.DebitDay),
		DueNow:         dueNowOf(computed.DueNow, terms.Offer, club, language),
		Basis:          api.ScheduleBasis(computed.Basis),
		Rules:          rulesOf(computed.Verdict),
		Debits:         each(computed.Debits, func(d schedule.Debit) api.ScheduleDebit { return debitOf(d, currency) }),
		FirstStatement: each(computed.FirstStatement, func(m schedule.Movement) api.ScheduleMovement { return movementOf(m, currency) }),
	}
	if recurrence := computed.Recurrence; recurrence != nil {
		out.Recurrence = new(recurrenceOf(*recurrence, currency))
	}
	if computed.Total != nil {
		out.Total = new(money(*computed.Total, currency))
	}
	return out
}

func debitOf(debit schedule.Debit, currency string) api.ScheduleDebit {
	return api.ScheduleDebit{
		Date:  debit.Date.String(),
		Price: money(debit.Amount, currency),
		Basis: api.ScheduleBasis(debit.Basis),
		Rules: rulesOf(debit.Verdict),
	}
}

func recurrenceOf(endless schedule.Recurrence, currency string) api.ScheduleRecurrence {
	return api.ScheduleRecurrence{
		From:  endless.From.String(),
		Every: durationText(endless.Every),
		Day:   optional(endless.Day),
		Price: money(endless.Amount, currency),
		Basis: api.ScheduleBasis(endless.Basis),
		Rules: rulesOf(endless.Verdict),
	}
}

func movementOf(movement schedule.Movement, currency string) api.ScheduleMovement {
	kind := api.ScheduleMovementKindDueNow
	if movement.Debit {
		kind = api.ScheduleMovementKindDebit
	}
	return api.ScheduleMovement{
		Date:  movement.Date.String(),
		Kind:  kind,
		Price: money(movement.Amount, currency),
		Basis: api.ScheduleBasis(movement.Basis),
		Rules: rulesOf(movement.Verdict),
	}
}

func dueNowOf(due schedule.DueNow, offer catalogue.Offer, club catalogue.Details, language string) api.ScheduleDueNow {
	return api.ScheduleDueNow{
		Date:   due.Date.String(),
		Price:  money(due.Amount, offer.Currency),
		Basis:  api.ScheduleBasis(due.Basis),
		Rules:  rulesOf(due.Verdict),
		Extras: extrasOf(offer, club, language),
		Parts: each(due.Parts, func(part schedule.Part) api.SchedulePart {
			out := api.SchedulePart{Kind: api.SchedulePartKind(part.Kind), Price: money(part.Amount, offer.Currency)}
			if part.Kind == schedule.Fee {
				out.Name = optional(singleLine(club.Label(language, offer.FeeName)))
			}
			return out
		}),
	}
}

func rulesOf(v schedule.Verdict) *api.ScheduleRules {
	return optionalList(each(v.Rules, func(rule schedule.Rule) string { return string(rule) }))
}
