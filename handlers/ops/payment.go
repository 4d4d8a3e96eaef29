package ops

import (
	"net/http"

	"frontdesk/flows"
	"frontdesk/flows/payment"
)

func (s *Server) listPayments(r *http.Request, _ string) (any, error) {
	asked, err := listingOf(r)
	if err != nil {
		return nil, err
	}
	return s.cfg.Payments.List(r.Context(), payment.ListOptions{State: flows.PaymentState(r.URL.Query().Get("state")),
		All: asked.all, Since: asked.since, Until: asked.until})
}

func (s *Server) showPayment(r *http.Request, _ string) (any, error) {
	return s.cfg.Payments.Show(r.Context(), paymentID(r))
}

// resolution is an operator's decision on a payment in doubt.
type resolution struct {
	Why string `json:"why"`
}

func (s *Server) confirmRecorded(r *http.Request, operator string, in resolution) (any, error) {
	return s.cfg.Payments.ConfirmRecorded(r.Context(), paymentID(r), flows.Decision{Operator: operator, Reason: in.Why})
}

// rejection also says what follows from a payment that was not recorded.
type rejection struct {
	resolution
	Then     payment.Resolution `json:"then"`
	Override string             `json:"override"` // "sale" overrides what the sale shows; empty: nothing
}

func (s *Server) confirmNotRecorded(r *http.Request, operator string, in rejection) (any, error) {
	if in.Override != "" && in.Override != "sale" {
		return nil, flows.Invalid(flows.FieldProblem{Pointer: "/override", Message: "must be sale, or absent"})
	}
	decision := flows.Decision{Operator: operator, Reason: in.Why, Override: in.Override == "sale"}
	return s.cfg.Payments.ConfirmNotRecorded(r.Context(), paymentID(r), in.Then, decision)
}

func (s *Server) endPayment(r *http.Request, operator string, _ struct{}) (any, error) {
	return s.cfg.Payments.EndUnverifiable(r.Context(), paymentID(r), operator)
}

type note struct {
	Text string `json:"text"`
}

func (s *Server) addNote(r *http.Request, operator string, in note) (any, error) {
	return s.cfg.Payments.AddNote(r.Context(), paymentID(r), operator, in.Text)
}

func (s *Server) calibrate(r *http.Request, operator string, _ struct{}) (any, error) {
	return s.cfg.Payments.Calibrate(r.Context(), operator)
}

func paymentID(r *http.Request) flows.PaymentID { return flows.PaymentID(r.PathValue("id")) }
