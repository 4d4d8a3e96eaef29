package handlers

import (
	"context"
	"slices"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/statements"
	"frontdesk/flows/text"
)

// StateWithdrawal serves POST /v1/withdrawals.
func (s *Server) StateWithdrawal(ctx context.Context, request api.StateWithdrawalRequestObject) (api.StateWithdrawalResponseObject, error) {
	body := request.Body
	statement, err := s.state(ctx, flows.Withdrawal, "", flows.Declaration{
		Name:     value(body.Name),
		Email:    value(body.Email),
		Contract: value(body.Contract),
		ClubID:   value(body.ClubId),
		Language: declaredLanguage(ctx, body.Language),
	})
	if err != nil {
		return nil, err
	}
	return api.StateWithdrawal201JSONResponse(statement), nil
}

// StateCancellation serves POST /v1/cancellations.
func (s *Server) StateCancellation(
	ctx context.Context, request api.StateCancellationRequestObject,
) (api.StateCancellationResponseObject, error) {
	body := request.Body
	statement, err := s.state(ctx, flows.Cancellation, value(body.Membership), flows.Declaration{
		Name:          value(body.Name),
		Email:         value(body.Email),
		Contract:      value(body.Contract),
		ClubID:        value(body.ClubId),
		Language:      declaredLanguage(ctx, body.Language),
		Extraordinary: value(body.Type) == api.Extraordinary,
		EndDate:       value(body.EndDate),
		Reason:        value(body.Reason),
		PostalAddress: value(body.PostalAddress),
	})
	if err != nil {
		return nil, err
	}
	return api.StateCancellation201JSONResponse(statement), nil
}

func (s *Server) state(
	ctx context.Context, kind flows.StatementKind, membership string, declared flows.Declaration,
) (api.Statement, error) {
	who := callerOf(ctx)
	stated, secret, err := s.cfg.Statements.State(ctx, statements.Request{Kind: kind, ClientToken: who.clientToken, Contact: who.contact,
		Declared: declared, Membership: membership})
	if err != nil {
		return api.Statement{}, err
	}
	out := api.Statement{Id: secret, Reference: stated.ID, Kind: api.StatementKind(stated.Kind), State: api.StatementState(stated.State),
		Statement: declarationOf(stated), Membership: optional(stated.Declared.Membership)}
	if online := stated.Online; online != nil {
		out.EndDate = day(online.Date)
	}
	return out, nil
}

// declaredLanguage is the language of the acknowledgement: the named one, or that of the request.
func declaredLanguage(ctx context.Context, named *string) string {
	if named != nil {
		return text.Match(*named).Tag
	}
	return textsOf(ctx).Tag
}

func declarationOf(statement *flows.Statement) api.Declaration {
	declared := statement.Declared
	out := api.Declaration{
		Name:          declared.Name,
		Email:         declared.Email,
		Contract:      optional(declared.Contract),
		ClubId:        optional(declared.ClubID),
		Language:      declared.Language,
		EndDate:       optional(declared.EndDate),
		Reason:        optional(declared.Reason),
		PostalAddress: optional(declared.PostalAddress),
	}
	if statement.Kind == flows.Cancellation {
		out.Type = new(api.Ordinary)
		if declared.Extraordinary {
			out.Type = new(api.Extraordinary)
		}
	}
	return out
}

// ConfirmWithdrawal serves POST /v1/withdrawals/{statementId}/confirm.
func (s *Server) ConfirmWithdrawal(
	ctx context.Context, request api.ConfirmWithdrawalRequestObject,
) (api.ConfirmWithdrawalResponseObject, error) {
	acknowledgement, err := s.confirm(ctx, flows.Withdrawal, request.StatementId)
	if err != nil {
		return nil, err
	}
	return api.ConfirmWithdrawal200JSONResponse(acknowledgement), nil
}

// ConfirmCancellation serves POST /v1/cancellations/{statementId}/confirm.
func (s *Server) ConfirmCancellation(
	ctx context.Context, request api.ConfirmCancellationRequestObject,
) (api.ConfirmCancellationResponseObject, error) {
	acknowledgement, err := s.confirm(ctx, flows.Cancellation, request.StatementId)
	if err != nil {
		return nil, err
	}
	return api.ConfirmCancellation200JSONResponse(acknowledgement), nil
}

// confirm returns the acknowledgement: what was said at the receipt, whatever has become of the statement since.
func (s *Server) confirm(ctx context.Context, kind flows.StatementKind, secret string) (api.Acknowledgement, error) {
	statement, err := s.cfg.Statements.Confirm(ctx, callerOf(ctx).clientToken, kind, secret)
	if err != nil {
		return api.Acknowledgement{}, err
	}
	return api.Acknowledgement{Id: secret, Reference: statement.ID, Kind: api.StatementKind(statement.Kind), State: api.StatementReceived,
		ReceivedAt: flows.Instant(statement.ReceivedAt), Text: statement.Text, EndDate: optional(statement.AcknowledgedEnd),
		MailedTo: optional(s.cfg.Statements.MailedTo(statement))}, nil
}

// isStatement reports whether the responses of an operation are statements, which are replayed as they were.
func (op operation) isStatement() bool { return slices.Contains(op.Operation.Tags, "statements") }

// statementLabels lists the labels of the withdrawal and the cancellation function.
func statementLabels() (all []api.StatementLabels) {
	for _, kind := range flows.StatementKinds {
		for _, labels := range statements.LabelsOf(kind) {
			all = append(all, api.StatementLabels{Kind: api.StatementKind(kind), Language: labels.Language, Start: labels.Start,
				Confirm: labels.Confirm})
		}
	}
	return all
}
