package statements

import (
	"context"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/store"
)

// receipts limits the acknowledgements that an organisation mails to one address. Anyone may state something for any address: without a
// limit, a stranger could have the club flood a mailbox. No person makes more than ten a day. The statements themselves are not
// limited by it, because no person may be kept from a withdrawal.
var receipts = store.Rate{Requests: 10, Period: 24 * time.Hour}

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
		return statement.ClientToken + " contact " + statement.Contact.ContactID
	}
	return statement.ClientToken + " " + mailbox(statement.Declared.Email)
}

// mailReceipt mails the acknowledgement, unless its address has had too many: operators see that.
func (s *Service) mailReceipt(ctx context.Context, statement *flows.Statement) error {
	if s.cfg.SendMail == nil {
		return nil
	}
	if !statement.Counted {
		taken, err := s.cfg.Store.TakeRequest(ctx, "acknowledgements", receiver(statement), receipts)
		if err != nil {
			return err
		}
		statement.Counted, statement.Unmailed = true, !taken.Allowed
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

// mailbox is an address without what does not matter for where it leads: case, and a name after +.
func mailbox(address string) string {
	local, domain, _ := strings.Cut(strings.ToLower(strings.TrimSpace(address)), "@")
	local, _, _ = strings.Cut(local, "+")
	return local + "@" + domain
}
