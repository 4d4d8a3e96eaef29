package handlers

import (
	"context"

	"frontdesk/api"
	"frontdesk/flows"
)

// AddItem serves POST /v1/registrations/{id}/items.
func (s *Server) AddItem(ctx context.Context, request api.AddItemRequestObject) (api.AddItemResponseObject, error) {
	view, err := s.cfg.Registrations.AddItem(ctx, request.Id, callerOf(ctx).token, itemOf(*request.Body))
	return api.AddItem201JSONResponse(s.registrationOf(ctx, view)), err
}

// ClearItems serves DELETE /v1/registrations/{id}/items.
func (s *Server) ClearItems(ctx context.Context, request api.ClearItemsRequestObject) (api.ClearItemsResponseObject, error) {
	view, err := s.cfg.Registrations.ClearItems(ctx, request.Id, callerOf(ctx).token)
	return api.ClearItems200JSONResponse(s.registrationOf(ctx, view)), err
}

// CheckCart serves POST /v1/registrations/{id}/check.
func (s *Server) CheckCart(ctx context.Context, request api.CheckCartRequestObject) (api.CheckCartResponseObject, error) {
	cart, err := s.cfg.Registrations.Check(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	return api.CheckCart200JSONResponse{Valid: cart.Valid, Problems: problemsOf(cart)}, nil
}

func itemOf(item api.NewItem) flows.NewItem {
	out := flows.NewItem{OfferID: item.OfferId, StartDate: value(item.StartDate)}
	if item.Debit != nil {
		out.Debit = &flows.Debit{Day: item.Debit.Day, WeekDay: item.Debit.WeekDay, From: value(item.Debit.From)}
	}
	return out
}

// cartOf puts a cart into the words of the contract; what the club system
// added, priced anew or took out on its own is told apart as a change.
func cartOf(r *flows.Registration) api.Cart {
	cart := r.Cart
	out := api.Cart{
		Items: make([]api.CartItem, len(cart.Lines)), DueNow: money(cart.Total, cart.Currency), Valid: cart.Valid,
		Problems: problemsOf(cart), Changes: []api.CartChange{},
	}
	for i, line := range cart.Lines {
		name := singleLine(line.Name)
		price := money(line.Price, cart.Currency)
		out.Items[i] = api.CartItem{Name: name, Price: price, StartDate: optional(line.StartDate), Debit: debitOf(line.Debit)}
		if offer := line.Offer.ID(); isPublicID(offer) {
			out.Items[i].OfferId = &offer
		}
		if line.Was != nil {
			was := money(*line.Was, cart.Currency)
			out.Changes = append(out.Changes, api.CartChange{Kind: api.Repriced, Name: name, Price: price, Was: &was})
		}
		if line.Added {
			out.Changes = append(out.Changes, api.CartChange{Kind: api.Added, Name: name, Price: price})
		}
	}
	for _, line := range cart.Gone {
		out.Changes = append(out.Changes, api.CartChange{Kind: api.Removed, Name: singleLine(line.Name), Price: money(line.Price, cart.Currency)})
	}
	out.Changes = firstN(out.Changes, maxChanges)
	return out
}

// debitOf tells when the direct debits of a line fall; nil where the club chooses.
func debitOf(debit *flows.Debit) *api.Debit {
	if debit == nil {
		return nil
	}
	return &api.Debit{Day: debit.Day, WeekDay: debit.WeekDay, From: optional(debit.From)}
}

func problemsOf(cart flows.Cart) []api.CartProblem {
	told := firstN(cart.Problems, maxProblems)
	problems := make([]api.CartProblem, len(told))
	for i, problem := range told {
		problems[i] = api.CartProblem{Code: problem.Code, Message: problem.Message}
	}
	return problems
}
