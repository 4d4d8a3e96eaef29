package ops

import (
	"net/http"
	"strconv"

	"frontdesk/flows"
	"frontdesk/flows/payment"
)

func (s *Server) listPayments(r *http.Request) (any, error) {
	query := r.URL.Query()
	options := payment.ListOptions{State: flows.PaymentState(query.Get("state"))}
	if all := query.Get("all"); all != "" {
		var err error
		if options.All, err = strconv.ParseBool(all); err != nil {
			return nil, &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/all", Message: "true or false."}}}
		}
	}
	return s.cfg.Payments.List(r.Context(), options)
}

func (s *Server) showPayment(r *http.Request) (any, error) {
	return s.cfg.Payments.Show(r.Context(), paymentID(r))
}

// resolution is an operator's decision on a payment in doubt.
type resolution struct {
	operator
	Why string `json:"why"`
}

func (s *Server) confirmRecorded(r *http.Request, in resolution) (any, error) {
	return s.cfg.Payments.ConfirmRecorded(r.Context(), paymentID(r), flows.Decision{Operator: in.By, Reason: in.Why})
}

// rejection also says what follows from a payment that was not recorded.
type rejection struct {
	resolution
	Then     payment.Resolution `json:"then"`
	Override string             `json:"override"` // "sale" overrides what the sale shows; empty: nothing
}

func (s *Server) confirmNotRecorded(r *http.Request, in rejection) (any, error) {
	if in.Override != "" && in.Override != "sale" {
		return nil, &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/override", Message: "sale, or nothing."}}}
	}
	return s.cfg.Payments.ConfirmNotRecorded(r.Context(), paymentID(r), in.Then, flows.Decision{Operator: in.By, Reason: in.Why, Override: in.Override == "sale"})
}

type note struct {
	operator
	Text string `json:"text"`
}

func (s *Server) addNote(r *http.Request, in note) (any, error) {
	return s.cfg.Payments.AddNote(r.Context(), paymentID(r), in.By, in.Text)
}

func (s *Server) calibrate(r *http.Request, in operator) (any, error) {
	return s.cfg.Payments.Calibrate(r.Context(), in.By)
}

func paymentID(r *http.Request) flows.PaymentID { return flows.PaymentID(r.PathValue("id")) }
