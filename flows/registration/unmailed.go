package registration

import (
	"cmp"
	"context"
	"errors"
	"time"

	"frontdesk/flows"
)

// unmailedAfter is when a confirmation counts as not mailed: what fails for a moment has been repeated by then.
const unmailedAfter = 10 * time.Minute

// Unmailed is a confirmation that was not mailed, or lacks something, for operators.
type Unmailed struct {
	Registration  string           `json:"registration"`
	ClubID        string           `json:"clubId"`
	ContactNumber string           `json:"contactNumber,omitempty"`
	At            time.Time        `json:"concludedAt"`
	HasAddress    bool             `json:"hasAddress"`       // an e-mail address was entered; otherwise the club system may have one
	Reason        flows.HoldReason `json:"reason,omitempty"` // empty: no address is known, or something fails
}

// UnmailedList is a list of confirmations.
type UnmailedList struct {
	Items []Unmailed `json:"items"`
}

// CountUnmailed counts the confirmations that were not mailed, of all organisations.
func (s *Service) CountUnmailed(ctx context.Context) (int64, error) {
	n, err := s.cfg.Store.CountUnmailed(ctx, s.cfg.Now().Add(-unmailedAfter))
	return n, flows.StorageFailed(err)
}

// ListUnmailed lists the confirmations of an organisation that were not mailed, oldest first: there was no e-mail address, what the mail
// needs could not be read, or they are held.
func (s *Service) ListUnmailed(ctx context.Context, clientToken string) (UnmailedList, error) {
	list := UnmailedList{Items: []Unmailed{}}
	ids, err := s.cfg.Store.Unmailed(ctx, s.cfg.Now().Add(-unmailedAfter))
	if err != nil {
		return list, flows.StorageFailed(err)
	}
	for _, id := range ids {
		hold, err := s.cfg.Store.MailHold(ctx, id)
		if err != nil {
			return list, flows.StorageFailed(err)
		}
		kept, err := s.cfg.Store.Confirmation(ctx, id)
		switch {
		case errors.Is(err, flows.ErrNotFound) && hold.Reason == flows.HeldAsLost:
			if hold.ClientToken == clientToken {
				list.Items = append(list.Items, Unmailed{Registration: id, ClubID: hold.ClubID, At: hold.At, Reason: hold.Reason})
			}
		case errors.Is(err, flows.ErrNotFound): // it has expired
			if _, err := s.cfg.Store.EndMail(ctx, id); err != nil {
				return list, flows.StorageFailed(err)
			}
		case flows.Unreadable(err):
			list.Items = append(list.Items, Unmailed{Registration: id})
		case err != nil:
			return list, flows.StorageFailed(err)
		case kept.ClientToken == clientToken:
			hasAddress := kept.Email != "" || kept.GuardianEmail != ""
			list.Items = append(list.Items, Unmailed{id, kept.ClubID, kept.ContactNumber, kept.At, hasAddress, hold.Reason})
		}
	}
	return list, nil
}

// SentConfirmation is what an operator has had sent.
type SentConfirmation struct {
	Mails []string `json:"mails"` // ids
}

// SendConfirmation has a confirmation mailed for an operator, whether or not it was mailed before. NotDecidable without a mail server, and
// without an e-mail address; else as KeptConfirmation.
func (s *Service) SendConfirmation(ctx context.Context, clientToken, id, operator string) (SentConfirmation, error) {
	kept, err := s.KeptConfirmation(ctx, clientToken, id)
	if err != nil {
		return SentConfirmation{}, err
	}
	if s.cfg.SendMail == nil {
		return SentConfirmation{}, &flows.Error{Code: flows.NotDecidable,
			Operator: "No mail is sent (FRONTDESK_SMTP_URL). Print it: frontdesk confirmation show " + id + " --html"}
	}
	registration, _, err := s.cfg.Store.Registration(ctx, id)
	hasContract := err == nil && registration.HasContract
	if err := s.auditConfirmation(ctx, flows.AuditSendConfirmation, operator, id); err != nil {
		return SentConfirmation{}, err
	}
	// Another mail than one that the buyer may have, or that is dead: a repetition of that would send nothing.
	mail := "confirmation-" + id + "-" + s.cfg.Now().UTC().Format("20060102T150405")
	to, err := s.addressesOf(ctx, kept)
	if err == nil && len(to) == 0 {
		err = &flows.Error{Code: flows.NotDecidable, Operator: "The contact has no e-mail address. Print it: frontdesk confirmation show " + id +
			" --html; and once the buyer has it: frontdesk confirmation done " + id}
	}
	if err != nil {
		return SentConfirmation{}, err
	}
	sent, err := s.sendConfirmation(ctx, kept, to, mail, hasContract)
	if err != nil {
		return SentConfirmation{}, err
	}
	_, err = s.cfg.Store.EndMail(ctx, id)
	return SentConfirmation{sent}, flows.StorageFailed(err)
}

// EndUnmailed records that the buyer has a confirmation that was not mailed, such as on paper. NotFound if it is not listed. Of one that is
// lost, or that no key opens, it returns only what is known.
func (s *Service) EndUnmailed(ctx context.Context, clientToken, id, operator string) (*flows.Confirmation, error) {
	kept, err := s.KeptConfirmation(ctx, clientToken, id)
	if isSealed := flows.Unreadable(err); isSealed || flows.CodeOf(err) == flows.NotFound {
		hold, unread := s.cfg.Store.MailHold(ctx, id)
		isLost := hold.Reason == flows.HeldAsLost && hold.ClientToken == clientToken
		isUnknown := isSealed && cmp.Or(hold.ClientToken, clientToken) == clientToken // it may be any organisation's, and all list it
		if unread == nil && (isLost || isUnknown) {
			kept, err = &flows.Confirmation{Registration: id, ClientToken: clientToken, ClubID: hold.ClubID, At: hold.At}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if err := s.auditConfirmation(ctx, flows.AuditConfirmationDone, operator, id); err != nil {
		return nil, err
	}
	was, err := s.cfg.Store.EndMail(ctx, id)
	if err == nil && !was {
		return nil, &flows.Error{Code: flows.NotFound,
			Operator: "This confirmation is not among those that were not mailed: frontdesk confirmation list."}
	}
	return kept, flows.StorageFailed(err)
}

// auditConfirmation records what an operator is about to do. InvalidRequest for a name that is none.
func (s *Service) auditConfirmation(ctx context.Context, action flows.AuditAction, operator, id string) error {
	if err := flows.Invalid(flows.OperatorProblems(operator)...); err != nil {
		return err
	}
	return flows.StorageFailed(s.cfg.Store.Audit(ctx, flows.AuditEntry{At: s.cfg.Now(), Operator: operator, Action: action, Registration: id}))
}
