package payment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// endedEntry is the metadata's entry that an operator ended a payment that could not be verified. No gateway touches
// the payment again, even if its key comes back: a person has settled it.
const endedEntry = "fd_ended"

// unverifiable returns the processor's payment if it is unverifiable.
func (m *Machine) unverifiable(remote cards.Payment) (unverifiable flows.UnverifiablePayment, is bool) {
	if !protocol.Unverifiable(m.remote(remote, m.cfg.Now())) {
		return unverifiable, false
	}
	entries := remote.Metadata
	unverifiable = flows.UnverifiablePayment{
		ID:           remote.ID,
		State:        string(remote.State),
		Registration: entries["fd_registration"],
		Sale:         club.IRI(entries["fd_sale"]),
		Club:         club.IRI(entries["fd_club"]),
		Amount:       remote.Amount,
		Currency:     remote.Currency,
		CreatedAt:    remote.CreatedAt,
	}
	if remote.Unreadable != nil {
		unverifiable.Amount, _ = strconv.ParseInt(entries["fd_amount"], 10, 64)
		unverifiable.Currency = entries["fd_currency"]
	}
	return unverifiable, true
}

// unverifiableSummary is the line of an unverifiable payment of a processor.
func unverifiableSummary(unverifiable flows.UnverifiablePayment, processor string) Summary {
	reason := "signed with a key that is not configured; at the processor it is " + unverifiable.State
	if unverifiable.Unreadable() {
		reason = "lost in Redis, and the processor's record of it cannot be read"
	}
	return Summary{
		ID:          flows.PaymentID(unverifiable.ID),
		State:       flows.Unverifiable,
		Reason:      reason,
		Since:       unverifiable.CreatedAt,
		Method:      flows.ByCard,
		Amount:      unverifiable.Amount,
		Currency:    unverifiable.Currency,
		Sale:        unverifiable.Sale,
		Club:        unverifiable.Club,
		Processor:   processor,
		ProcessorID: unverifiable.ID,
		CreatedAt:   unverifiable.CreatedAt,
	}
}

// noteUnverifiable lists a payment that a comparison reads, if it is unverifiable, and adds its id to found unless nil.
func (m *Machine) noteUnverifiable(ctx context.Context, remote cards.Payment, found map[string]bool) error {
	unverifiable, is := m.unverifiable(remote)
	if !is {
		return nil
	}
	if p := m.derivePayment(remote); p != nil { // signed, and not readable
		if a, err := m.findStored(ctx, newCandidate(p, remote)); flows.Unreadable(err) || err == nil && !a.lost() {
			return nil // operators see it by its state in Redis
		} else if err != nil {
			return err
		}
	}
	if found != nil {
		found[unverifiable.ID] = true
	}
	return flows.StorageFailed(m.cfg.Store.SaveUnverifiable(ctx, unverifiable))
}

// keepUnverifiable drops from the list what no longer is unverifiable after a comparison since an instant: its key is
// back, or it was settled. It reads what the comparison did not reach, and restores it if its key is back.
func (m *Machine) keepUnverifiable(ctx context.Context, since time.Time, found map[string]bool) error {
	listed, err := m.cfg.Store.UnverifiablePayments(ctx)
	if err != nil {
		return flows.StorageFailed(err)
	}
	for _, unverifiable := range listed {
		keep := found[unverifiable.ID]
		if !keep && unverifiable.CreatedAt.Before(since) {
			if keep, err = m.rereadUnverifiable(ctx, unverifiable.ID); err != nil { // it must not end the comparison
				m.cfg.Log.WarnContext(ctx, "unverifiable payment not read", "processorId", unverifiable.ID, "error", err)
				keep = true
			}
		}
		if keep {
			continue
		}
		if err := m.cfg.Store.DropUnverifiable(ctx, unverifiable.ID); err != nil {
			return flows.StorageFailed(err)
		}
	}
	return nil
}

// rereadUnverifiable reports whether a payment is still unverifiable, or not found. It restores one whose key is back.
func (m *Machine) rereadUnverifiable(ctx context.Context, id string) (still bool, err error) {
	remote, err := m.cfg.Cards.Get(ctx, id)
	switch {
	case errors.Is(err, cards.ErrNotFound):
		return true, nil
	case err != nil:
		return false, processorFailed(err)
	}
	if _, still = m.unverifiable(remote); still {
		return true, nil
	}
	if p := m.derivePayment(remote); p != nil && !p.State.Final() {
		err = m.restore(ctx, []candidate{newCandidate(p, remote)})
	}
	return false, err
}

// listUnverifiable adds the unverifiable payments to a page, if they are selected.
func (m *Machine) listUnverifiable(ctx context.Context, in ListOptions, to *Page) error {
	if !in.matches(flows.Unverifiable) {
		return nil
	}
	listed, err := m.cfg.Store.UnverifiablePayments(ctx)
	for _, u := range listed {
		if len(to.Items) >= maxListed {
			to.More = true
			break
		}
		to.Items = append(to.Items, unverifiableSummary(u, m.cfg.Cards.Name()))
	}
	return err
}

// readUnverifiable reads an unverifiable payment at the processor, or in the list if its record cannot be read. NotFound if
// the id is of no such payment.
func (m *Machine) readUnverifiable(ctx context.Context,
	id flows.PaymentID) (unverifiable flows.UnverifiablePayment, remote cards.Payment, err error) {
	if err := m.requireOwn(ctx); err != nil {
		return unverifiable, remote, err
	}
	remote, err = m.cfg.Cards.Get(ctx, string(id))
	if err != nil && !errors.Is(err, cards.ErrNotFound) {
		listed, failed := m.cfg.Store.UnverifiablePayments(ctx)
		for _, u := range listed {
			if u.ID == string(id) && u.Unreadable() {
				return u, cards.Payment{ID: u.ID}, nil
			}
		}
		return unverifiable, remote, cmp.Or(flows.StorageFailed(failed), processorFailed(err))
	}
	unverifiable, is := m.unverifiable(remote)
	if err != nil || !is {
		return unverifiable, remote, &flows.Error{Code: flows.NotFound, Operator: "Invalid payment id. frontdesk payments list shows the ids."}
	}
	return unverifiable, remote, nil
}

// showUnverifiable is Show for an unverifiable payment.
func (m *Machine) showUnverifiable(ctx context.Context, id flows.PaymentID) (Detail, error) {
	unverifiable, remote, err := m.readUnverifiable(ctx, id)
	if err != nil {
		return Detail{}, err
	}
	detail := Detail{
		Summary:  unverifiableSummary(unverifiable, m.cfg.Cards.Name()),
		Journal:  journalOf(remote),
		Readings: []flows.Reading{},
		Notes:    []flows.Note{},
	}
	detail.History = []flows.Transition{{State: detail.State, At: detail.Since, Reason: detail.Reason}}
	if unverifiable.Unreadable() {
		detail.say("The card processor holds this payment for registration %s. "+
			"Frontdesk cannot read the record there, and Redis has lost its own.",
			unverifiable.Registration)
		detail.say("If a newer version of Frontdesk reads the record, install it: the payment then continues.")
		detail.say("Otherwise look at the payment at the processor. In the club system, check whether %s is settled, and by what. Record the "+
			"payment there by hand, or cancel or refund it at the processor; not both. Then tell the buyer, and end the payment here.",
			detail.sale())
		detail.allow("end", "")
		return detail, nil
	}
	detail.AtProcessor = &AtProcessor{State: remote.State, Captured: remote.Captured, Refunded: remote.Refunded, Refunding: remote.Refunding}
	detail.say("The card processor holds this payment for this organisation. No configured seal key signed it, "+
		"so Frontdesk does not touch it. It names registration %s.", unverifiable.Registration)
	detail.say("If the former key still exists, add it to FRONTDESK_SEAL_KEYS after the current one and restart the gateways: " +
		"the payment then continues. Do that first.")
	if protocol.Endable(remote.State) {
		detail.say("If the key is lost: in the club system, check whether %s is settled, and by what. Record the payment there by hand, "+
			"or refund it at the processor; not both. Then tell the buyer, and end the payment here.", detail.sale())
		detail.allow("end", "")
	} else {
		detail.say("If the key is lost: nothing was captured. Cancel the payment at the processor; it then leaves this list.")
	}
	return detail, nil
}

// EndUnverifiable ends an unverifiable payment as the processor shows it, on an operator's decision: a person has
// settled it. The decision is kept in the payment's metadata, for as long as the processor keeps the payment.
func (m *Machine) EndUnverifiable(ctx context.Context, id flows.PaymentID, operator string) (ResolutionResult, error) {
	if err := (flows.Decision{Operator: operator}).Validate(); err != nil {
		return ResolutionResult{}, err
	}
	if registration, _ := id.Split(); registration != "" {
		return ResolutionResult{}, protocol.NotDecidable(
			"Only unverifiable payments can be ended so. Use confirm-recorded or confirm-not-recorded.")
	}
	unverifiable, remote, err := m.readUnverifiable(ctx, id)
	switch {
	case err != nil:
		return ResolutionResult{}, err
	case !unverifiable.Unreadable() && !protocol.Endable(remote.State):
		return ResolutionResult{}, protocol.NotDecidable(
			"At the processor the payment is %s. Cancel it there; it then leaves the list.", remote.State)
	}
	now := m.cfg.Now()
	entry := flows.AuditEntry{
		At:       now,
		Operator: operator,
		Action:   flows.AuditEnd,
		Payment:  id,
		From:     flows.Unverifiable,
	}
	if err := m.cfg.Store.Audit(ctx, entry); err != nil {
		return ResolutionResult{}, flows.StorageFailed(err)
	}
	text := fmt.Sprintf("%s by %s: %s", now.UTC().Format(time.RFC3339), operator, remote.State)
	_, err = m.cfg.Cards.UpdateMetadata(ctx, "end:"+remote.ID, remote.ID, map[string]string{endedEntry: text})
	result := ResolutionResult{Payment: unverifiableSummary(unverifiable, m.cfg.Cards.Name())}
	switch {
	case errors.Is(err, cards.ErrKeyReused):
		return ResolutionResult{},
			&flows.Error{Code: flows.Conflict, Operator: "Another operator ended it at the same moment. Look at the list again.", Err: err}
	case err != nil && (!unverifiable.Unreadable() || errors.Is(err, cards.ErrRefused)):
		return ResolutionResult{}, processorFailed(err)
	case err != nil:
		result.Warnings = append(result.Warnings, "The processor's response cannot be read. If the payment is listed again after an hour, "+
			"add fd_ended to its metadata at the processor.")
	}
	m.cfg.Log.InfoContext(ctx, "unverifiable payment ended", "payment", id)
	result.Payment.Reason = "ended by " + operator + "; at the processor it is " + cmp.Or(string(remote.State), "unreadable")
	if err := m.cfg.Store.DropUnverifiable(ctx, unverifiable.ID); err != nil {
		result.Warnings = append(result.Warnings, "It could not be removed from the list in Redis. The next comparison removes it.")
	}
	return result, nil
}
