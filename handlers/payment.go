package handlers

import (
	"context"
	"slices"

	"frontdesk/api"
	"frontdesk/flows"
)

// StartPayment serves POST /v1/registrations/{id}/payment.
func (s *Server) StartPayment(ctx context.Context, request api.StartPaymentRequestObject) (api.StartPaymentResponseObject, error) {
	returnURL := value(request.Body.ReturnUrl)
	if returnURL != "" && !s.returnsToFrontEnd(returnURL) {
		return nil, &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/returnUrl", Message: "is not a page of an allowed origin"}}}
	}
	payment, err := s.cfg.Registrations.Pay(ctx, request.Id, callerOf(ctx).token, flows.StartPayment{
		Method: string(request.Body.Method), ReturnURL: returnURL,
	})
	if err != nil {
		return nil, err
	}
	return s.paymentStarted(payment), nil
}

// GetPayment serves GET /v1/registrations/{id}/payment.
func (s *Server) GetPayment(ctx context.Context, request api.GetPaymentRequestObject) (api.GetPaymentResponseObject, error) {
	payment, err := s.cfg.Registrations.Payment(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	out := s.paymentOf(payment)
	if out.State == api.InDoubt {
		return api.GetPayment202JSONResponse(out), nil
	}
	return api.GetPayment200JSONResponse(out), nil
}

// paymentStarted answers the request for a payment; 202 says that nobody knows yet.
func (s *Server) paymentStarted(payment *flows.Payment) api.StartPaymentResponseObject {
	out := s.paymentOf(payment)
	if out.State == api.InDoubt {
		return api.StartPayment202JSONResponse(out)
	}
	return api.StartPayment201JSONResponse(out)
}

// returnsToFrontEnd keeps the processor's page from sending buyers to strangers.
func (s *Server) returnsToFrontEnd(address string) bool {
	return slices.Contains(s.cfg.AllowedOrigins, "*") || originOf(address) == originOf(s.cfg.PublicURL) ||
		slices.Contains(s.cfg.AllowedOrigins, originOf(address))
}

// paymentOf puts a payment into the words of the contract.
func (s *Server) paymentOf(payment *flows.Payment) api.Payment {
	view := payment.View()
	return api.Payment{
		Id: string(payment.ID), Method: api.PaymentMethod(payment.Method), State: api.PaymentState(view.State), Retry: api.PaymentRetry(view.Retry),
		Message: optional(view.Message), Amount: money(payment.Amount, payment.Currency),
		Card: &api.CardPayment{
			Processor: payment.Processor, RedirectUrl: optional(view.RedirectURL), ClientSecret: optional(view.ClientSecret),
			PublishableKey: optional(s.cfg.PublishableKey), DeclineCode: optional(view.DeclineCode),
		},
	}
}
