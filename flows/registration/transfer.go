package registration

import (
	"cmp"
	"context"
	"errors"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

const (
	// keepTransfer outlives the code of a transfer by far.
	keepTransfer = 24 * time.Hour
	// confirmWait is how long finding out about a signature may delay the reading of a transfer.
	confirmWait = 2 * time.Second
)

// Transfers move identified contacts to other clubs; club system API, section Contact migration between clubs.
type Transfers struct {
	cfg   Config
	codes *codeSender
}

// Get returns the contact's latest transfer; nil without one. It finds out whether an unconfirmed one was signed.
func (t *Transfers) Get(ctx context.Context, identity flows.ContactIdentity) (*flows.Transfer, error) {
	move, err := t.load(ctx, identity)
	if err != nil || move.ClubID == "" {
		return nil, err
	}
	if move.State == flows.SignatureUnconfirmed {
		bounded, cancel := context.WithTimeout(ctx, confirmWait)
		defer cancel()
		_, _ = t.resolve(bounded, identity, move, false) // if it fails, it stays unconfirmed
	}
	return move, nil
}

// Start requests the transfer and sends a code. A repetition cancels that code and sends another one. If the contact
// has moved by a code whose result was not known, it returns that transfer.
func (t *Transfers) Start(ctx context.Context, identity flows.ContactIdentity, clubID string) (*flows.Transfer, error) {
	to, err := t.cfg.Catalogue.Locate(ctx, identity.ClientToken, clubID)
	if flows.CodeOf(err) == flows.ClubNotFound {
		return nil, &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/clubId", Code: flows.FieldClub}}, Err: err}
	}
	if err != nil {
		return nil, err
	}
	scopes, err := t.scopes(ctx, identity, to)
	if err != nil {
		return nil, err
	}
	scope := scopes.Above
	move, err := t.load(ctx, identity)
	if err != nil {
		return nil, err
	}
	if moved, err := t.resolve(ctx, identity, move, false); err != nil || moved {
		return move, err
	}
	contact, err := t.cfg.readContact(ctx, scope, cmp.Or(move.Moved, identity.IRI())) // the login may still name the former one
	if err != nil {
		return nil, notIdentified(err, flows.DetailContactUnread)
	}
	if contact.Club == to.IRI {
		return nil, flows.MigrationFailed(club.ErrMigrationClub)
	}
	allowed, err := t.codes.Reserve(ctx, to.IRI, string(contact.IRI),
		t.cfg.Keys.PhonePseudonym(scope.ClientToken, flows.AbbreviatePhone(contact.Mobile, to.Address.Country)))
	if err != nil {
		return nil, err
	}
	if moved, err := t.resolve(ctx, identity, move, true); err != nil || moved {
		t.codes.Release(ctx, allowed)
		return move, err
	}
	move.Begin(allowed.ID, allowed.ResendAfter)
	move.ClubID = clubID
	if err := t.save(ctx, identity, move); err != nil {
		t.codes.Release(ctx, allowed)
		return nil, err
	}
	failure := t.codes.Send(ctx, &move.Signature, allowed, func(ctx context.Context) (club.SignatureRequest, error) {
		return t.cfg.Club.CreateContactMigrationRequest(ctx, scopes, contact.IRI, to.IRI)
	})
	if err := t.save(ctx, identity, move); err != nil {
		return nil, err
	}
	return move, failure
}

// Sign enters the code from the SMS; the contact then belongs to the new club.
func (t *Transfers) Sign(ctx context.Context, identity flows.ContactIdentity, code string) (*flows.Transfer, error) {
	move, err := t.load(ctx, identity)
	switch {
	case err != nil:
		return nil, err
	case move.State == flows.SignatureSigned:
		return move, nil
	}
	if err := t.codes.Enter(&move.Signature, code); err != nil {
		return nil, err
	}
	to, scope, err := t.destination(ctx, identity, move)
	if err != nil {
		return nil, err
	}
	if err := t.save(ctx, identity, move); err != nil {
		return nil, err
	}
	failure := t.codes.Check(ctx, scope, &move.Signature, code, t.moved(scope, identity, to))
	if move.State == flows.SignatureSigned {
		t.codes.Entered(ctx, to.IRI, move.Signature)
	}
	if move, err = t.keep(ctx, identity, move); err != nil {
		return nil, err
	}
	if move.Moved != "" && move.Moved != identity.IRI() { // a login that knows the new contact finds its move
		renewed := flows.Transfer{Signature: move.Signature, ClubID: move.ClubID}
		if err := t.cfg.Store.SaveTransfer(ctx, move.Moved, &renewed, keepTransfer); err != nil && !errors.Is(err, flows.ErrConflict) {
			t.cfg.Log.WarnContext(ctx, "move not saved for the new contact", "error", err)
		}
	}
	return move, failure
}

// moved asks the club system whether the contact belongs to a club. One that it no longer has, after it sent the contact a code, has got a
// new identifier.
func (t *Transfers) moved(scope club.Scope, identity flows.ContactIdentity, to catalogue.Club) isSigned {
	return func(ctx context.Context) (bool, error) {
		contact, err := t.cfg.readContact(ctx, scope, identity.IRI())
		if errors.Is(err, club.ErrNotFound) && club.IsOwn(err) {
			return true, nil
		}
		return err == nil && contact.Club == to.IRI, err
	}
}

// resolve finds out whether a code whose result was not known has moved the contact, and with end ends every code, so
// that another can take its place. It stores what it learns.
func (t *Transfers) resolve(ctx context.Context, identity flows.ContactIdentity, move *flows.Transfer, end bool) (moved bool, err error) {
	if !move.MaySign() && (!end || !move.AcceptsCode()) {
		return false, nil
	}
	to, scope, err := t.destination(ctx, identity, move)
	if err != nil {
		return false, err
	}
	before := move.Signature
	if end {
		err = t.codes.End(ctx, scope, &move.Signature, t.moved(scope, identity, to))
	} else {
		err = t.codes.Confirm(ctx, &move.Signature, t.moved(scope, identity, to))
	}
	if moved = move.State == flows.SignatureSigned; moved {
		t.codes.Entered(ctx, to.IRI, move.Signature)
	}
	if move.Signature != before {
		err = cmp.Or(err, t.save(ctx, identity, move))
	}
	return moved, err
}

// keep stores the result of a check, even if the transfer was changed concurrently. It fails with Conflict if that
// change requested another code.
func (t *Transfers) keep(ctx context.Context, identity flows.ContactIdentity, move *flows.Transfer) (kept *flows.Transfer, err error) {
	for range maxSaveAttempts {
		err = t.save(ctx, identity, move)
		if flows.CodeOf(err) != flows.Conflict {
			return move, err
		}
		stored, loadErr := t.load(ctx, identity)
		switch {
		case loadErr != nil:
			return nil, loadErr
		case stored.Sequence != move.Sequence:
			return nil, err
		case move.State == flows.SignatureSigned:
		case stored.Ended():
			return stored, nil
		default:
			move.Merge(stored.Signature)
		}
		move.Version = stored.Version
	}
	return nil, err
}

// destination returns the club to which a transfer moves the contact, and its scope.
func (t *Transfers) destination(ctx context.Context, identity flows.ContactIdentity, move *flows.Transfer) (to catalogue.Club,
	scope club.Scope, err error) {
	if to, err = t.cfg.Catalogue.Locate(ctx, identity.ClientToken, move.ClubID); err == nil {
		var scopes club.MigrationScopes
		scopes, err = t.scopes(ctx, identity, to)
		scope = scopes.Above
	}
	return to, scope, err
}

// scopes are where a transfer acts from: the nearest node above both clubs, because the contact's own node does not reach the new club,
// and a higher one reaches more than the transfer needs; else the two clubs.
func (t *Transfers) scopes(
	ctx context.Context, identity flows.ContactIdentity, to catalogue.Club,
) (scopes club.MigrationScopes, err error) {
	from, err := t.cfg.Catalogue.Locate(ctx, identity.ClientToken, identity.ClubID)
	if err == nil {
		scopes.Above, err = t.cfg.Catalogue.ScopeAbove(ctx, to, from.IRI)
		scopes.Destination, scopes.Source = to.Scope, from.Scope
	}
	return scopes, err
}

func (t *Transfers) load(ctx context.Context, identity flows.ContactIdentity) (*flows.Transfer, error) {
	move, err := t.cfg.Store.Transfer(ctx, identity.IRI())
	if errors.Is(err, flows.ErrNotFound) {
		return &flows.Transfer{}, nil
	}
	return move, flows.StorageFailed(err)
}

func (t *Transfers) save(ctx context.Context, identity flows.ContactIdentity, move *flows.Transfer) error {
	err := t.cfg.Store.SaveTransfer(ctx, identity.IRI(), move, keepTransfer)
	if errors.Is(err, flows.ErrConflict) {
		return &flows.Error{Code: flows.Conflict, Detail: flows.DetailMoveTwice, Err: err}
	}
	return flows.StorageFailed(err)
}
