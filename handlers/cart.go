package handlers

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"
	"time"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
)

// AddItem serves POST /v1/registrations/{id}/items.
func (s *Server) AddItem(ctx context.Context, request api.AddItemRequestObject) (api.AddItemResponseObject, error) {
	view, err := s.cfg.Registrations.AddItem(ctx, request.Id, callerOf(ctx).token, itemOf(*request.Body))
	if err != nil {
		return nil, err
	}
	return api.AddItem201JSONResponse(s.registrationOf(ctx, view)), nil
}

// ClearItems serves DELETE /v1/registrations/{id}/items.
func (s *Server) ClearItems(ctx context.Context, request api.ClearItemsRequestObject) (api.ClearItemsResponseObject, error) {
	view, err := s.cfg.Registrations.ClearItems(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	return api.ClearItems200JSONResponse(s.registrationOf(ctx, view)), nil
}

// RemoveItem serves DELETE /v1/registrations/{id}/items/{itemId}.
func (s *Server) RemoveItem(ctx context.Context, request api.RemoveItemRequestObject) (api.RemoveItemResponseObject, error) {
	view, err := s.cfg.Registrations.RemoveItem(ctx, request.Id, callerOf(ctx).token, request.ItemId)
	if err != nil {
		return nil, err
	}
	left := s.registrationOf(ctx, view)
	if slices.ContainsFunc(left.Cart.Items, func(item api.CartItem) bool { return item.Id == request.ItemId }) {
		return nil, &flows.Error{Code: flows.ItemRequired, Detail: flows.DetailItemRequired}
	}
	return api.RemoveItem200JSONResponse(left), nil
}

// CheckCart serves POST /v1/registrations/{id}/check.
func (s *Server) CheckCart(ctx context.Context, request api.CheckCartRequestObject) (api.CheckCartResponseObject, error) {
	view, err := s.cfg.Registrations.Check(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	return api.CheckCart200JSONResponse(s.registrationOf(ctx, view)), nil
}

func itemOf(item api.NewItem) flows.NewItem {
	out := flows.NewItem{OfferID: item.OfferId, StartDate: value(item.StartDate)}
	if item.Debit != nil {
		out.Debit = &flows.Debit{Day: item.Debit.Day, WeekDay: item.Debit.WeekDay, From: value(item.Debit.From)}
	}
	return out
}

// cartOf converts a registration's cart. What the club system added, repriced or removed is listed as a change.
func (s *Server) cartOf(ctx context.Context, view flows.View) api.Cart {
	cart, club := view.Cart, s.cfg.Catalogue.Details(view.ClubID)
	nameOf := func(line flows.Line) string {
		return singleLine(club.OfferName(line.Offer.ID(), textsOf(ctx).Tag, line.Name))
	}
	out := api.Cart{
		Items:  make([]api.CartItem, len(cart.Lines)),
		DueNow: money(cart.Total, cart.Currency),
		Taxes: optionalList(each(cart.Taxes, func(tax flows.Tax) api.Tax {
			return api.Tax{Percent: int(tax.Percent), Included: money(tax.Included, cart.Currency), Net: money(tax.Net, cart.Currency)}
		})),
		Revision: cart.Revision(),
		Valid:    cart.Valid,
		Problems: problemsOf(ctx, cart, club, view.At),
		Changes:  []api.CartChange{},
	}
	for i, line := range cart.Lines {
		id, name, price := lineID(cart.LineID(i)), nameOf(line), money(line.Price, cart.Currency)
		out.Items[i] = api.CartItem{
			Id:        id,
			ParentId:  otherLine(line.Parent),
			Origin:    itemOrigin(line),
			OfferId:   publicID(line.Offer.ID()),
			Name:      name,
			Price:     price,
			StartDate: optional(line.StartDate),
		}
		if chosen := slices.IndexFunc(view.Items, func(item flows.Item) bool { return item.ID == line.ID }); chosen >= 0 {
			out.Items[i].Commitment = optional(durationText(view.Items[chosen].Commitment))
		}
		if kind := api.ProductType(view.TypeOf(line)); kind.Valid() {
			out.Items[i].Type = &kind
		}
		if image := club.Offers[line.Offer.ID()].Image; image != nil {
			out.Items[i].Image = new(s.imageOf(ctx, *image))
		}
		if debit := line.Debit; debit != nil {
			out.Items[i].Debit = &api.Debit{Day: debit.Day, WeekDay: debit.WeekDay, From: optional(debit.From)}
		}
		if line.Was != nil {
			out.Changes = append(out.Changes, api.CartChange{
				Kind:   api.Repriced,
				ItemId: &id,
				Name:   name,
				Price:  price,
				Was:    new(money(*line.Was, cart.Currency)),
			})
		}
		if line.Added {
			out.Changes = append(out.Changes, api.CartChange{Kind: api.Added, ItemId: &id, Name: name, Price: price})
		}
	}
	for _, line := range cart.Gone {
		out.Changes = append(out.Changes, api.CartChange{
			Kind:   api.Removed,
			ItemId: otherLine(line.ID),
			Name:   nameOf(line),
			Price:  money(line.Price, cart.Currency),
		})
	}
	out.Changes = out.Changes[:min(len(out.Changes), maxChanges)]
	return out
}

// lineID returns the public id of a line: its own, or a digest of one that the contract does not allow.
func lineID(id string) string {
	if isPublicID(id) {
		return id
	}
	digest := sha256.Sum256([]byte(id))
	return base64.RawURLEncoding.EncodeToString(digest[:12])
}

// otherLine refers to a line; nil for none.
func otherLine(id string) *string {
	if id == "" {
		return nil
	}
	return new(lineID(id))
}

// publicID returns an id of the club system; nil for one that the contract does not allow.
func publicID(id string) *string {
	if !isPublicID(id) {
		return nil
	}
	return &id
}

func itemOrigin(line flows.Line) api.CartItemOrigin {
	switch {
	case line.Required:
		return api.Required
	case !line.Added:
		return api.Chosen
	case line.Offer == "":
		return api.Adjustment
	default:
		return api.Required
	}
}

func problemsOf(ctx context.Context, cart flows.Cart, club catalogue.Details, now time.Time) []api.CartProblem {
	texts := textsOf(ctx)
	return each(cart.Problems[:min(len(cart.Problems), maxProblems)], func(problem flows.CartProblem) api.CartProblem {
		return api.CartProblem{
			Code:   api.CartProblemCode(problem.Code),
			Text:   texts.Cart[problem.Code],
			Params: paramsOf(limitsOf(problem, cart, club, now)),
			ItemId: otherLine(problem.Line),

			Pointer: pointerOf(problem, cart),
		}
	})
}

// pointerOf points into the cart, at the item that a problem is about, or at its field; nil if the problem is about the whole cart.
func pointerOf(problem flows.CartProblem, cart flows.Cart) *string {
	i := slices.IndexFunc(cart.Lines, func(line flows.Line) bool { return line.ID != "" && line.ID == problem.Line })
	if i < 0 {
		return nil
	}
	return new("/items/" + strconv.Itoa(i) + problem.Field)
}

// limitsOf returns the ages or the start dates that a problem's offer has according to the operator.
func limitsOf(problem flows.CartProblem, cart flows.Cart, club catalogue.Details, now time.Time) map[string]string {
	i := slices.IndexFunc(cart.Lines, func(line flows.Line) bool { return line.ID == problem.Line })
	if i < 0 {
		return nil
	}
	limits, offer := map[string]string{}, cart.Lines[i].Offer.ID()
	switch ages := club.Offers[offer].Ages; {
	case problem.Code == flows.ProblemStartDateRequired:
		limits["earliest"], limits["latest"] = club.StartDates(now, offer)
	case problem.Code == flows.ProblemAgeRestricted && ages != nil:
		limits["min"] = strconv.Itoa(ages.Min)
		if ages.Max > 0 {
			limits["max"] = strconv.Itoa(ages.Max)
		}
	}
	return limits
}
