package payment

import (
	"context"
	"errors"
	"strconv"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// perform does what the protocol says, and adds its outcome to the facts. The error is of Redis, or of a caller who left: neither
// says anything about the payment.
func (m *Machine) perform(ctx context.Context, payment *flows.Payment, facts protocol.Facts,
	action protocol.Action) (protocol.Facts, error) {
	at := m.cfg.Now()
	switch action.Kind {
	case protocol.Read:
		facts.Remote = m.readRemote(ctx, payment, at)
		if facts.Decision == nil { // else the next Advance reports it
			m.reportMissing(ctx, payment, facts.Remote)
		}
	case protocol.Search:
		facts.Listed = m.search(ctx, payment, action.Since, at)
	case protocol.CheckSale, protocol.ReadEvidence:
		if facts.Decision != nil {
			facts.Sale = m.recheckSale(ctx, payment, at)
			return facts, nil
		}
		var status *string
		if action.Kind == protocol.CheckSale {
			status = m.statusBefore(ctx, payment)
		}
		facts.Sale = m.checkSale(ctx, payment, at, status)
		if facts.Sale.Err != nil && ctx.Err() != nil {
			return facts, facts.Sale.Err
		}
		if action.Kind == protocol.ReadEvidence {
			facts.Sale.Rule = m.rule(ctx)
		}
	case protocol.ReadSale:
		sale, err := m.cfg.BackgroundClub.GetSale(ctx, payment.Scope(), payment.Sale)
		facts.Sale = &protocol.Sale{At: at, Err: flows.ClubFailed(err, flows.DetailSaleUnread), Gone: errors.Is(err, club.ErrNotFound),
			Sale: sale}
		if err == nil {
			facts.Sale.Rule = m.rule(ctx)
		}
	case protocol.ReadCheck:
		check, err := m.cfg.BackgroundClub.CheckSale(ctx, payment.Scope(), payment.Sale)
		facts.Check = &protocol.Check{Valid: check.Valid, Err: flows.ClubFailed(err, flows.DetailSaleUnchecked)}
	case protocol.ReadDebt:
		account, err := m.cfg.BackgroundClub.GetAccountStatistics(ctx, payment.Scope(), facts.Sale.Sale.Contact)
		facts.Debt = &protocol.Debt{Total: account.TotalRealDebt, Err: flows.ClubFailed(err, flows.DetailDebtUnread)}
	case protocol.ReadLatest:
		latest, err := m.latest(ctx, payment)
		facts.Latest = latest
		return facts, err
	case protocol.Recheck:
		facts = facts.Rechecked(m.recheckSale(ctx, payment, at))
	case protocol.AskAccepted:
		accepted, err := m.cfg.Store.LastAccepted(ctx, payment.ClientToken)
		facts.Accepted = &accepted
		return facts, flows.StorageFailed(err)
	case protocol.AskBrake:
		left, err := m.askBrake(ctx, payment)
		facts.Brake = &protocol.Brake{Left: left}
		return facts, err
	case protocol.Create, protocol.Capture, protocol.Cancel, protocol.Refund:
		facts = facts.Wrote(action.Kind, payment, m.call(ctx, payment, action.Kind, at))
	case protocol.Claim:
		paid, err := m.claim(ctx, payment, m.gate(payment, facts))
		facts.Claim = m.ended(paid, at, err)
	case protocol.Post:
		if action.For > 0 {
			<-m.cfg.After(action.For)
		}
		facts = facts.Sent(m.post(ctx, payment, m.gate(payment, facts)))
	case protocol.Release:
		facts.Release = &protocol.Call{Outcome: protocol.Done}
		if err := m.release(ctx, payment); err != nil {
			facts.Release = m.ended(cards.Payment{}, at, err)
		}
	case protocol.ReleaseByOperator:
		paid, err := m.releaseByOperator(ctx, payment, action.Number, action.Attempt)
		facts.Release = m.ended(paid, at, err)
	}
	return facts, nil
}

// reportMissing counts a payment that the processor does not have, and logs it once. One that is being sent is reported afterwards.
func (m *Machine) reportMissing(ctx context.Context, payment *flows.Payment, remote *protocol.Remote) {
	if remote.Absent == "" || payment.State.Final() || payment.State == flows.Blocked || payment.State == flows.Sending {
		return
	}
	m.countProblem(ProblemMissing)
	if payment.MissingSince.IsZero() {
		m.cfg.Log.ErrorContext(ctx, "payment missing at the processor", "payment", payment.ID, "processorId", payment.ProcessorID, "error",
			remote.Absent)
	}
}

// readRemote reads the processor's payment.
func (m *Machine) readRemote(ctx context.Context, payment *flows.Payment, at time.Time) *protocol.Remote {
	paid, err := m.cfg.Cards.Get(ctx, payment.ProcessorID)
	remote := m.remote(paid, at)
	switch {
	case errors.Is(err, cards.ErrNotFound):
		remote.Absent = protocol.UnknownThere
	case err != nil:
		remote.Err = processorFailed(err)
	case !remote.Names(payment):
		remote.Absent = protocol.ForeignThere
	}
	if remote.Absent != "" {
		remote.Err = processorFailed(errors.New(remote.Absent))
	}
	return remote
}

// find reads a payment at the processor, whatever it says; zero if the processor does not have it.
func (m *Machine) find(ctx context.Context, processorID string) (cards.Payment, error) {
	remote, err := m.cfg.Cards.Get(ctx, processorID)
	switch {
	case errors.Is(err, cards.ErrNotFound):
		return cards.Payment{}, nil
	case err != nil:
		return cards.Payment{}, processorFailed(err)
	}
	return remote, nil
}

// processorFailed is the error for a processor that did not respond as expected.
func processorFailed(err error) error {
	return &flows.Error{Code: flows.ProcessorUnavailable, Detail: flows.DetailProcessorFailed, Err: err}
}

// search looks in the processor's list for a payment of the record's registration and generation.
func (m *Machine) search(ctx context.Context, payment *flows.Payment, since, at time.Time) *protocol.Listed {
	generation := strconv.Itoa(payment.Generation)
	for each, err := range m.cfg.Cards.All(ctx, since) {
		switch {
		case err != nil:
			return &protocol.Listed{Err: processorFailed(err)}
		case each.Metadata["fd_registration"] != payment.Registration || each.Metadata["fd_generation"] != generation:
			continue
		case each.Unreadable != nil:
			return &protocol.Listed{Err: processorFailed(each.Unreadable)}
		}
		return &protocol.Listed{Payment: m.remote(each, at)}
	}
	return &protocol.Listed{}
}

// checkSale reads the sale and its check, the contact's debt and, unless it is given, its status.
func (m *Machine) checkSale(ctx context.Context, payment *flows.Payment, at time.Time, status *string) *protocol.Sale {
	sale, check, seen, err := m.observe(ctx, m.cfg.Club, payment, status)
	if err == nil {
		return &protocol.Sale{At: seen.At, Sale: sale, Check: check, Seen: seen}
	}
	s := &protocol.Sale{At: at, Err: flows.ClubFailed(err, flows.DetailSaleUnread),
		Gone: errors.Is(err, club.ErrNotFound), Busy: errors.Is(err, club.ErrBusy)}
	if !s.Busy {
		m.cfg.Log.WarnContext(ctx, "sale not readable", "payment", payment.ID, "state", string(payment.State), "error", err)
	}
	return s
}

// recheckSale reads the sale and its check alone.
func (m *Machine) recheckSale(ctx context.Context, p *flows.Payment, at time.Time) *protocol.Sale {
	sale, check, err := m.cfg.Club.GetCheckedSale(ctx, p.Scope(), p.Sale)
	return &protocol.Sale{
		At:    at,
		Err:   flows.ClubFailed(err, flows.DetailSaleUnread),
		Gone:  errors.Is(err, club.ErrNotFound),
		Busy:  errors.Is(err, club.ErrBusy),
		Sale:  sale,
		Check: check,
	}
}

// latest returns the latest payment of a payment's registration.
func (m *Machine) latest(ctx context.Context, p *flows.Payment) (*protocol.Latest, error) {
	_, latest, err := m.cfg.Store.Registration(ctx, p.Registration)
	switch {
	case errors.Is(err, flows.ErrNotFound):
		return &protocol.Latest{}, nil // no buyer can begin another one
	case err != nil:
		return nil, flows.StorageFailed(err)
	}
	return &protocol.Latest{Payment: latest}, nil
}

// call makes one of the calls that move money at the processor, under its key.
func (m *Machine) call(ctx context.Context, payment *flows.Payment, kind protocol.Kind, at time.Time) *protocol.Call {
	var paid cards.Payment
	var err error
	switch kind {
	case protocol.Create:
		paid, err = m.cfg.Cards.Create(ctx, creationKey(payment), cards.NewPayment{
			Amount: payment.Amount, Currency: payment.Currency, Metadata: m.metadata(payment), Description: payment.Description,
		})
	case protocol.Capture:
		paid, err = m.cfg.Cards.Capture(ctx, captureKey(payment), payment.ProcessorID, payment.Amount)
	case protocol.Cancel:
		paid, err = m.cfg.Cards.Cancel(ctx, cancelKey(payment), payment.ProcessorID)
	case protocol.Refund:
		paid, err = m.cfg.Cards.Refund(ctx, refundKey(payment), payment.ProcessorID, payment.Amount)
	}
	call := m.ended(paid, at, err)
	switch {
	case kind == protocol.Create && call.Outcome == protocol.Done:
		m.fingerprint.saw(paid.ID)
	case kind == protocol.Create && call.Outcome == protocol.Refused:
		m.countProblem(ProblemCreationRefused)
		m.cfg.Log.ErrorContext(ctx, "creation refused by the processor", "payment", payment.ID, "error", err)
	}
	return call
}

// ended says how a call ended that began at an instant.
func (m *Machine) ended(paid cards.Payment, at time.Time, err error) *protocol.Call {
	if err != nil {
		return &protocol.Call{Outcome: outcomeOf(err), Err: processorFailed(err)}
	}
	return &protocol.Call{Outcome: protocol.Done, Response: m.remote(paid, at)}
}

// outcomeOf translates the processor's errors.
func outcomeOf(err error) protocol.Outcome {
	switch {
	case err == nil:
		return protocol.Done
	case errors.Is(err, cards.ErrKeyReused):
		return protocol.KeyReused
	case errors.Is(err, cards.ErrKeyUsedUp):
		return protocol.KeyUsedUp
	case errors.Is(err, cards.ErrRefused):
		return protocol.Refused
	case errors.Is(err, cards.ErrState), errors.Is(err, cards.ErrNotFound):
		return protocol.WrongState
	}
	return protocol.Failed
}
