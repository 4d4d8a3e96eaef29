package handlers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"frontdesk/api"
	"frontdesk/flows"
)

// StartPayment serves POST /v1/registrations/{id}/payment.
func (s *Server) StartPayment(ctx context.Context, request api.StartPaymentRequestObject) (api.StartPaymentResponseObject, error) {
	start, err := s.startOf(*request.Body)
	if err != nil {
		return nil, err
	}
	if start.Cart == "" && !s.cfg.CartOptional {
		return nil, flows.Invalid(flows.FieldProblem{Pointer: "/cart", Code: flows.FieldRequired})
	}
	start.Staff, start.Language = callerOf(ctx).staff, textsOf(ctx).Tag
	if _, err = s.cfg.Registrations.Pay(ctx, request.Id, callerOf(ctx).token, start); err != nil {
		return nil, err
	}
	view, _, err := s.cfg.Registrations.Load(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	registration := s.registrationOf(ctx, view)
	if paymentStatus(registration) == http.StatusAccepted {
		return api.StartPayment202JSONResponse(registration), nil
	}
	return api.StartPayment201JSONResponse(registration), nil
}

// paymentStatus is the status of the response to a payment. 202 means that the outcome is not known yet.
func paymentStatus(registration api.Registration) int {
	if p := registration.Payment; p != nil && p.State == api.InDoubt {
		return http.StatusAccepted
	}
	return http.StatusCreated
}

// deferCart leaves it to StartPayment whether a payment has the revision of its cart, which the contract requires: a stranger's
// request is answered with 404 first, and an operator can make the revision optional.
func deferCart(document *openapi3.T) {
	for _, method := range document.Components.Schemas["StartPayment"].Value.OneOf {
		method.Value.Required = slices.DeleteFunc(method.Value.Required, func(member string) bool { return member == "cart" })
	}
}

// startOf reads the body, which is different for each method.
func (s *Server) startOf(body api.StartPayment) (flows.StartPayment, error) {
	start, err := body.ValueByDiscriminator()
	if err != nil {
		return flows.StartPayment{}, &flows.Error{Code: flows.MalformedRequest, Err: err} // the schema was checked before
	}
	switch in := start.(type) {
	case api.StartLaterPayment:
		return flows.StartPayment{
			Method:     flows.Deferred,
			Cart:       in.Cart,
			Agreements: agreedOf(in.Agreements),
			Again:      value(in.Again),
			DueDate:    in.DueDate,
		}, nil
	case api.StartFreePayment:
		return flows.StartPayment{Method: flows.Free, Cart: in.Cart, Agreements: agreedOf(in.Agreements)}, nil
	case api.StartDeskPayment:
		return flows.StartPayment{Method: flows.InPerson, Cart: in.Cart, Agreements: agreedOf(in.Agreements), Desk: &flows.Desk{
			Mean:    string(in.Mean),
			Cards:   each(value(in.Cards), deskCardOf),
			Cheques: each(value(in.Cheques), deskChequeOf),
		}}, nil
	case api.StartCardPayment:
		returnURL := value(in.ReturnUrl)
		if returnURL != "" && !s.returnsToFrontEnd(returnURL) {
			return flows.StartPayment{}, &flows.Error{Code: flows.InvalidRequest, Fields: fieldError("/returnUrl", flows.FieldOrigin)}
		}
		return flows.StartPayment{
			Method:     flows.ByCard,
			Cart:       in.Cart,
			Agreements: agreedOf(in.Agreements),
			Again:      value(in.Again),
			ReturnURL:  returnURL,
		}, nil
	default:
		return flows.StartPayment{}, &flows.Error{Code: flows.Internal, Err: fmt.Errorf("no start for a %T", start)}
	}
}

// agreedOf returns what a request agrees to: nil if it lacks the member, which is not the same as an empty list.
func agreedOf(agreements *[]api.Agreement) []flows.Agreed {
	if agreements == nil {
		return nil
	}
	agreed := make([]flows.Agreed, 0, len(*agreements))
	for _, agreement := range *agreements {
		agreed = append(agreed, flows.Agreed{
			Document: flows.DocumentName(agreement.Document),
			Version:  agreement.Version,
			SHA256:   value(agreement.Sha256),
		})
	}
	return agreed
}

func deskCardOf(card api.DeskCard) (out flows.DeskCard) {
	out.Amount, out.Currency, out.Network = card.Paid.Amount, card.Paid.Currency, card.Network
	return out
}

func deskChequeOf(cheque api.DeskCheque) (out flows.DeskCheque) {
	out.Amount, out.Currency = cheque.Paid.Amount, cheque.Paid.Currency
	out.Bank, out.Code, out.Owner, out.DepositDesiredDate = cheque.Bank, cheque.Code, cheque.Owner, cheque.DepositDesiredDate
	return out
}

// addMethods adds to the action that pays the methods that the caller can use.
func (s *Server) addMethods(view flows.View, action *api.Action) {
	action.Methods = new(each(view.Methods, func(method flows.Method) api.PaymentMethod { return api.PaymentMethod(method) }))
	if slices.Contains(view.Methods, flows.Deferred) {
		action.LatestDueDate = new(s.cfg.Methods.LatestDueDate(s.cfg.Catalogue.Details(view.ClubID).Today(s.cfg.Now())))
	}
}

// CancelPayment serves DELETE /v1/registrations/{id}/payment.
func (s *Server) CancelPayment(ctx context.Context, request api.CancelPaymentRequestObject) (api.CancelPaymentResponseObject, error) {
	view, err := s.cfg.Registrations.CancelPayment(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	return api.CancelPayment200JSONResponse(s.registrationOf(ctx, view)), nil
}

// returnsToFrontEnd keeps the card page from sending buyers to other sites: to pages by their origin, to apps by their scheme.
func (s *Server) returnsToFrontEnd(address string) bool {
	allowed, name := s.cfg.AllowedOrigins, originOf(address)
	if scheme, _, _ := strings.Cut(name, ":"); scheme != "http" && scheme != "https" {
		allowed, name = s.cfg.ReturnSchemes, scheme
	}
	return name == originOf(s.cfg.PublicURL) || slices.Contains(allowed, name) || slices.Contains(allowed, "*")
}

func (s *Server) paymentOf(ctx context.Context, view flows.View) api.Payment {
	payment := flows.ShownPayment{Payment: view.Payment, View: view.PaymentView}
	out := api.Payment{
		Id:       string(payment.ID),
		Method:   api.PaymentMethod(payment.Method),
		State:    api.PaymentState(payment.View.State),
		PayAgain: payAgain(view),
		Total:    money(payment.Amount, payment.Currency),
		DueDate:  optional(payment.DueDate),
	}
	out.Agreements = optionalList(each(payment.Agreements, func(agreement flows.Agreement) api.RecordedAgreement {
		return api.RecordedAgreement{
			Document: api.DocumentName(agreement.Document),
			Version:  agreement.Version,
			Language: agreement.Language,
			Sha256:   agreement.SHA256,
			At:       flows.Instant(agreement.At),
		}
	}))
	if payment.Method == flows.ByCard {
		out.Card = new(s.cardOf(ctx, payment))
	}
	return out
}

// payAgain says whether to request the payment again. It follows the actions, so that the two never disagree.
func payAgain(view flows.View) api.PayAgain {
	switch {
	case !slices.Contains(view.Actions, "pay"):
		return api.PayAgainNo
	case view.PaymentView.Retry == "same_key":
		return api.PayAgainSameRequest
	}
	return api.PayAgainNewRequest
}

// cardOf returns how the buyer enters the card: in the processor's fields on the front end's own page or on the gateway's,
// or not at all.
func (s *Server) cardOf(ctx context.Context, payment flows.ShownPayment) api.CardDetails {
	view := payment.View
	card := api.CardDetails{Presentation: api.PresentationNone, Processor: payment.Processor,
		DeclineCode: optional(singleLine(view.DeclineCode)), Refunding: optional(view.Refunding)}
	if secret := view.ClientSecret; secret != "" && len(secret) <= maxText && s.cfg.PublishableKey != "" {
		card.Presentation, card.ClientSecret, card.PublishableKey = api.PresentationEmbedded, &secret, &s.cfg.PublishableKey
		card.RedirectUrl, card.AttemptsLeft = new(s.hereOf(ctx, s.cfg.Registrations.CardPageURL(payment.ID))), new(payment.CardAttemptsLeft())
	}
	return card
}
