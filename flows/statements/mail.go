package statements

import (
	"context"

	"frontdesk/flows"
)

// MailedTo returns the e-mail address to which the acknowledgement of a statement goes, masked; empty if no mail is sent.
func (s *Service) MailedTo(statement *flows.Statement) string {
	if s.cfg.SendMail == nil {
		return ""
	}
	return flows.MaskEmail(statement.Declared.Email)
}

// receiver is by whom acknowledgements are counted: for whoever the club's login identifies, apart from what strangers state for the same
// address, so that they cannot have it lack an acknowledgement.
func receiver(statement *flows.Statement) string {
	if statement.Contact != nil {
		return "contact " + statement.Contact.ContactID
	}
	return flows.Mailbox(statement.Declared.Email)
}

// mailReceipt mails the acknowledgement, unless its address has had too many: operators see that. The statement itself is not limited by
// it, because no person may be kept from a withdrawal.
func (s *Service) mailReceipt(ctx context.Context, statement *flows.Statement) error {
	if s.cfg.SendMail == nil {
		return nil
	}
	if !statement.Counted {
		allowed, err := s.cfg.Store.TakeMail(ctx, statement.ClientToken, receiver(statement))
		if err != nil {
			return err
		}
		statement.Counted, statement.Unmailed = true, !allowed
		if err := s.save(ctx, statement, s.cfg.Now(), s.cfg.Now().Add(followLease)); err != nil {
			return err
		}
	}
	if statement.Unmailed {
		s.cfg.Log.WarnContext(ctx, "acknowledgement not mailed: its address had too many in a day", "statement", statement.ID)
		return nil
	}
	return s.cfg.SendMail(ctx, mailTo(statement, "received", statement.Text))
}
