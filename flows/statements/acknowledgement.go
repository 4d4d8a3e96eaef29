package statements

import (
	"context"
	"slices"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/text"
)

// The labels of the two steps, in the words of the law: Directive (EU) 2023/2673, article 11a; in French law, Code de la
// consommation, D215-1 and the following.
const (
	textWithdrawalStart     text.ContractCode = "withdrawal_start"
	textWithdrawalConfirm   text.ContractCode = "withdrawal_confirm"
	textCancellationStart   text.ContractCode = "cancellation_start"
	textCancellationConfirm text.ContractCode = "cancellation_confirm"
)

// The lines of an acknowledgement, with their parameters.
const (
	textWithdrawalSubject   text.ContractCode = "withdrawal_subject"
	textCancellationSubject text.ContractCode = "cancellation_subject"
	textDoneSubject         text.ContractCode = "cancellation_done_subject" // date
	textReceivedAt          text.ContractCode = "statement_received"        // date, time, zone
	textWithdraws           text.ContractCode = "statement_withdraws"
	textCancels             text.ContractCode = "statement_cancels"
	textCancelsOn           text.ContractCode = "statement_cancels_on" // date
	textCancelsAtOnce       text.ContractCode = "statement_cancels_cause"
	textCancelsAtOnceOn     text.ContractCode = "statement_cancels_cause_on" // date
	textClub                text.ContractCode = "statement_club"             // club
	textSeller              text.ContractCode = "statement_seller"           // seller
	textName                text.ContractCode = "statement_name"             // name
	textEmail               text.ContractCode = "statement_email"            // email
	textContract            text.ContractCode = "statement_contract"         // contract
	textMembership          text.ContractCode = "statement_membership"       // membership
	textAddress             text.ContractCode = "statement_address"          // address
	textReason              text.ContractCode = "statement_reason"           // reason
	textReference           text.ContractCode = "statement_reference"        // id
	textEnds                text.ContractCode = "statement_ends"             // date
	textDone                text.ContractCode = "statement_done"             // date
	textEndFollows          text.ContractCode = "statement_end_follows"
	textProofs              text.ContractCode = "statement_proofs" // email
	textRefund              text.ContractCode = "statement_refund"
	textEndLater            text.ContractCode = "statement_end_later"    // wanted, date
	textDebits              text.ContractCode = "statement_debits"       // total
	textDebit               text.ContractCode = "statement_debit"        // date, amount
	textEndReplaces         text.ContractCode = "statement_end_replaces" // date
	textEndSubject          text.ContractCode = "statement_end_subject"
	textKeep                text.ContractCode = "statement_keep"
)

// acknowledge writes the acknowledgement of a received statement: what was declared, when it arrived, and what follows. It says
// that the statement was received, never that it is accepted: a person at the club decides. Of a cancellation that the club system has
// carried out, it says that it is done.
func (s *Service) acknowledge(ctx context.Context, statement *flows.Statement) string {
	in, club := text.Match(statement.Declared.Language), s.cfg.Catalogue.Details(statement.Declared.ClubID)
	write := writeIn(in)
	at := club.LocalTime(statement.ReceivedAt)
	declared := statement.Declared
	name, seller := s.addressee(ctx, statement)
	parts := []string{
		write(subjectOf(statement), "date", statement.AcknowledgedEnd),
		write(textReceivedAt, "date", at.Format(time.DateOnly), "time", at.Format(time.TimeOnly), "zone", "UTC"+at.Format("-07:00")),
	}
	lines := []string{write(contentOf(statement), "date", declared.EndDate), write(textName, "name", declared.Name),
		write(textEmail, "email", declared.Email)}
	lines = append(lines, written(write, line{textClub, "club", name}, line{textSeller, "seller", seller},
		line{textContract, "contract", declared.Contract}, line{textMembership, "membership", declared.Membership},
		line{textAddress, "address", strings.ReplaceAll(declared.PostalAddress, "\n", ", ")}, line{textReason, "reason", quoted(declared.Reason)},
		line{textReference, "id", statement.ID})...)
	parts = append(parts, strings.Join(lines, "\n"))
	if statement.Kind == flows.Withdrawal {
		parts = append(parts, write(textRefund))
	} else {
		parts = append(parts, ends(statement, write))
		parts = append(parts, s.debits(statement, in)...)
		if effects := club.Cancellation.Effects.In(in.Tag); effects != "" {
			parts = append(parts, effects)
		}
		if to := club.Proofs.Email; declared.Extraordinary && to != "" {
			parts = append(parts, write(textProofs, "email", to))
		}
	}
	return strings.Join(append(parts, write(textKeep)), "\n\n")
}

// line is a text with its only parameter.
type line struct {
	code        text.ContractCode
	name, value string
}

// written returns the lines that say something.
func written(write func(text.ContractCode, ...string) string, lines ...line) (words []string) {
	for _, line := range lines {
		if line.value != "" {
			words = append(words, write(line.code, line.name, line.value))
		}
	}
	return words
}

// addressee names the club of a statement, as far as the gateway has read it before, because no statement may wait for the club system; and
// who sells for it, by the operator's file. Both are empty for a club that does not exist.
func (s *Service) addressee(ctx context.Context, statement *flows.Statement) (club, seller string) {
	id := statement.Declared.ClubID
	if id == "" {
		return "", ""
	}
	at, err := s.cfg.Catalogue.Locate(catalogue.CachedOnly(catalogue.AsCached(ctx), flows.ErrNotFound), statement.ClientToken, id)
	if flows.CodeOf(err) == flows.ClubNotFound {
		return "", ""
	}
	if trader := s.cfg.Catalogue.Details(id).Trader; trader != nil {
		seller = trader.Name
	}
	return flows.SingleLine(at.Name, maxKnown), seller
}

// quoted puts a person's text on one line, so that none of it can be mistaken for the club's.
func quoted(words string) string {
	lines := strings.FieldsFunc(words, func(r rune) bool { return r == '\n' })
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" }), " / ")
}

// writeIn returns what writes the texts of a language, with the names and values of their parameters in turn.
func writeIn(in *text.Language) func(code text.ContractCode, params ...string) string {
	return func(code text.ContractCode, pairs ...string) string {
		params := map[string]string{}
		for i := 0; i+1 < len(pairs); i += 2 {
			params[pairs[i]] = pairs[i+1]
		}
		return in.Fill(in.Contract[code], params)
	}
}

// ends says when the contract ends, or that this follows.
func ends(statement *flows.Statement, write func(text.ContractCode, ...string) string) string {
	if wanted := statement.Declared.EndDate; wanted != "" && wanted < statement.AcknowledgedEnd {
		return write(textEndLater, "wanted", wanted, "date", statement.AcknowledgedEnd)
	}
	if statement.AcknowledgedEnd != "" {
		return write(textDone, "date", statement.AcknowledgedEnd)
	}
	return write(textEndFollows)
}

// debits says what is debited until the acknowledged end, where that is known: nothing, or one part.
func (s *Service) debits(statement *flows.Statement, in *text.Language) []string {
	if statement.AcknowledgedEnd == "" || statement.Online == nil {
		return nil
	}
	ending := s.cfg.Contacts.Ending(*statement.Online)
	if ending.EarliestEnd != statement.AcknowledgedEnd || ending.Remaining == nil || len(ending.Remaining.Debits) == 0 {
		return nil
	}
	write := writeIn(in)
	lines := []string{write(textDebits, "total", in.Money(ending.Remaining.Total, ending.Currency))}
	for _, debit := range ending.Remaining.Debits {
		lines = append(lines, write(textDebit, "date", debit.Date.String(), "amount", in.Money(debit.Amount, ending.Currency)))
	}
	return []string{strings.Join(lines, "\n")}
}

// subjectOf is the heading of an acknowledgement.
func subjectOf(statement *flows.Statement) text.ContractCode {
	switch {
	case statement.Kind != flows.Cancellation:
		return textWithdrawalSubject
	case statement.AcknowledgedEnd != "":
		return textDoneSubject
	}
	return textCancellationSubject
}

// contentOf is what a statement declares, in one sentence.
func contentOf(statement *flows.Statement) text.ContractCode {
	hasDate := statement.Declared.EndDate != ""
	switch {
	case statement.Kind == flows.Withdrawal:
		return textWithdraws
	case statement.Declared.Extraordinary && hasDate:
		return textCancelsAtOnceOn
	case statement.Declared.Extraordinary:
		return textCancelsAtOnce
	case hasDate:
		return textCancelsOn
	}
	return textCancels
}
