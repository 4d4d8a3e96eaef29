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
func (m *Machine) perform(ctx context.Context, p *flows.Payment, f protocol.Facts, a protocol.Action) (protocol.Facts, error) {
	at := m.cfg.Now()
	switch a.Kind {
	case protocol.Read:
		f.Remote = m.readRemote(ctx, p, at)
		if f.Decision == nil { // else the next Advance reports it
			m.reportMissing(ctx, p, f.Remote)
		}
	case protocol.Search:
		f.Listed = m.search(ctx, p, a.Since, at)
	case protocol.CheckSale, protocol.ReadEvidence:
		if f.Decision != nil {
			f.Sale = m.recheckSale(ctx, p, at)
			return f, nil
		}
		f.Sale = m.checkSale(ctx, p, at)
		if f.Sale.Err != nil && ctx.Err() != nil {
			return f, f.Sale.Err
		}
		if a.Kind == protocol.ReadEvidence {
			f.Sale.Rule = m.rule(ctx)
		}
	case protocol.ReadSale:
		sale, err := m.cfg.BackgroundClub.GetSale(ctx, p.Scope(), p.Sale)
		f.Sale = &protocol.Sale{At: at, Err: flows.ClubFailed(err, flows.DetailSaleUnread), Gone: errors.Is(err, club.ErrNotFound),
			Sale: sale}
		if err == nil {
			f.Sale.Rule = m.rule(ctx)
		}
	case protocol.ReadCheck:
		check, err := m.cfg.BackgroundClub.CheckSale(ctx, p.Scope(), p.Sale)
		f.Check = &protocol.Check{Valid: check.Valid, Err: flows.ClubFailed(err, flows.DetailSaleUnchecked)}
	case protocol.ReadDebt:
		account, err := m.cfg.BackgroundClub.GetAccountStatistics(ctx, p.Scope(), f.Sale.Sale.Contact)
		f.Debt = &protocol.Debt{Total: account.TotalRealDebt, Err: flows.ClubFailed(err, flows.DetailDebtUnread)}
	case protocol.ReadLatest:
		latest, err := m.latest(ctx, p)
		f.Latest = latest
		return f, err
	case protocol.Recheck:
		f = f.Rechecked(m.recheckSale(ctx, p, at))
	case protocol.AskAccepted:
		accepted, err := m.cfg.Store.LastAccepted(ctx, p.ClientToken)
		f.Accepted = &accepted
		return f, flows.StorageFailed(err)
	case protocol.AskBrake:
		left, err := m.askBrake(ctx, p)
		f.Brake = &protocol.Brake{Left: left}
		return f, err
	case protocol.Create, protocol.Capture, protocol.Cancel, protocol.Refund:
		f = f.Wrote(a.Kind, p, m.call(ctx, p, a.Kind, at))
	case protocol.Claim:
		paid, err := m.claim(ctx, p, m.gate(p, f))
		f.Claim = m.ended(paid, at, err)
	case protocol.Post:
		if a.For > 0 {
			<-m.cfg.After(a.For)
		}
		f = f.Sent(m.post(ctx, p, m.gate(p, f)))
	case protocol.Release:
		f.Release = &protocol.Call{Outcome: protocol.Done}
		if err := m.release(ctx, p); err != nil {
			f.Release = m.ended(cards.Payment{}, at, err)
		}
	case protocol.ReleaseByOperator:
		paid, err := m.releaseByOperator(ctx, p, a.Number, a.Attempt)
		f.Release = m.ended(paid, at, err)
	}
	return f, nil
}

// reportMissing counts a payment that the processor does not have, and logs it once. One that is being sent is reported afterwards.
func (m *Machine) reportMissing(ctx context.Context, p *flows.Payment, r *protocol.Remote) {
	if r.Absent == "" || p.State.Final() || p.State == flows.Blocked || p.State == flows.Sending {
		return
	}
	m.countProblem(ProblemMissing)
	if p.MissingSince.IsZero() {
		m.cfg.Log.ErrorContext(ctx, "payment missing at the processor", "payment", p.ID, "processorId", p.ProcessorID, "error", r.Absent)
	}
}

// readRemote reads the processor's payment.
func (m *Machine) readRemote(ctx context.Context, p *flows.Payment, at time.Time) *protocol.Remote {
	paid, err := m.cfg.Cards.Get(ctx, p.ProcessorID)
	r := m.remote(paid, at)
	switch {
	case errors.Is(err, cards.ErrNotFound):
		r.Absent = protocol.UnknownThere
	case err != nil:
		r.Err = processorFailed(err)
	case !r.Names(p):
		r.Absent = protocol.ForeignThere
	}
	if r.Absent != "" {
		r.Err = processorFailed(errors.New(r.Absent))
	}
	return r
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
func (m *Machine) search(ctx context.Context, p *flows.Payment, since, at time.Time) *protocol.Listed {
	generation := strconv.Itoa(p.Generation)
	for each, err := range m.cfg.Cards.All(ctx, since) {
		switch {
		case err != nil:
			return &protocol.Listed{Err: processorFailed(err)}
		case each.Metadata["fd_registration"] != p.Registration || each.Metadata["fd_generation"] != generation:
			continue
		case each.Unreadable != nil:
			return &protocol.Listed{Err: processorFailed(each.Unreadable)}
		}
		return &protocol.Listed{Payment: m.remote(each, at)}
	}
	return &protocol.Listed{}
}

// checkSale reads the sale and its check, and the contact's status and debt.
func (m *Machine) checkSale(ctx context.Context, p *flows.Payment, at time.Time) *protocol.Sale {
	sale, check, seen, err := m.observe(ctx, m.cfg.Club, p)
	if err == nil {
		return &protocol.Sale{At: seen.At, Sale: sale, Check: check, Seen: seen}
	}
	s := &protocol.Sale{At: at, Err: flows.ClubFailed(err, flows.DetailSaleUnread),
		Gone: errors.Is(err, club.ErrNotFound), Busy: errors.Is(err, club.ErrBusy)}
	if !s.Busy {
		m.cfg.Log.WarnContext(ctx, "sale not readable", "payment", p.ID, "state", string(p.State), "error", err)
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
func (m *Machine) call(ctx context.Context, p *flows.Payment, kind protocol.Kind, at time.Time) *protocol.Call {
	var paid cards.Payment
	var err error
	switch kind {
	case protocol.Create:
		paid, err = m.cfg.Cards.Create(ctx, creationKey(p), cards.NewPayment{
			Amount: p.Amount, Currency: p.Currency, Metadata: m.metadata(p), Description: p.Description,
		})
	case protocol.Capture:
		paid, err = m.cfg.Cards.Capture(ctx, captureKey(p), p.ProcessorID, p.Amount)
	case protocol.Cancel:
		paid, err = m.cfg.Cards.Cancel(ctx, cancelKey(p), p.ProcessorID)
	case protocol.Refund:
		paid, err = m.cfg.Cards.Refund(ctx, refundKey(p), p.ProcessorID, p.Amount)
	}
	call := m.ended(paid, at, err)
	switch {
	case kind == protocol.Create && call.Outcome == protocol.Done:
		m.fingerprint.saw(paid.ID)
	case kind == protocol.Create && call.Outcome == protocol.Refused:
		m.countProblem(ProblemCreationRefused)
		m.cfg.Log.ErrorContext(ctx, "creation refused by the processor", "payment", p.ID, "error", err)
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
