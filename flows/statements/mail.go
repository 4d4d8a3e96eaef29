package statements

import (
	"context"
	"slices"

	"frontdesk/flows"
	"frontdesk/flows/store"
)

// MailedTo returns the e-mail address to which the acknowledgement of a statement goes, masked; empty if no mail is sent.
func (s *Service) MailedTo(statement *flows.Statement) string {
	if s.cfg.SendMail == nil {
		return ""
	}
	return flows.MaskEmail(statement.Declared.Email)
}

// receiver is by whom acknowledgements are counted: a contact that the club's login identifies, and a customer whose contract has both the
// e-mail address and the name, apart from what strangers state for the same address, so that they cannot have it lack an acknowledgement.
func (s *Service) receiver(ctx context.Context, statement *flows.Statement) (string, error) {
	if statement.Contact != nil {
		return "contact " + statement.Contact.ContactID, nil
	}
	token, declared := statement.ClientToken, statement.Declared
	mailbox := flows.Mailbox(declared.Email)
	byEmail, err := s.cfg.Store.ConfirmationsBy(ctx, s.cfg.Keys.PersonPseudonyms(token, declared.Email, "")...)
	if err != nil || len(byEmail) == 0 {
		return mailbox, err
	}
	byName, err := s.cfg.Store.ConfirmationsBy(ctx, s.cfg.Keys.NamePseudonyms(token, declared.Name)...)
	if slices.ContainsFunc(byEmail, func(id string) bool { return slices.Contains(byName, id) }) {
		return "customer " + mailbox, err
	}
	return mailbox, err
}

// mailReceipt mails the acknowledgement, unless its address has had too many: operators see that. The statement itself is not limited by
// it, because no person may be kept from a withdrawal.
func (s *Service) mailReceipt(ctx context.Context, statement *flows.Statement) error {
	if s.cfg.SendMail == nil {
		return nil
	}
	if !statement.Counted {
		receiver, err := s.receiver(ctx, statement)
		if err != nil {
			return err
		}
		allowed, err := s.cfg.Store.TakeMail(ctx, store.Acknowledgement, statement.ClientToken, receiver, statement.ID)
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
