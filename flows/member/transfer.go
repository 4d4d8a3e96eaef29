package member

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/keyring"
	"frontdesk/flows/signature"
	"frontdesk/upstream/club"
)

// keepTransfer: a move that was begun is forgotten after a day; its code lives for minutes.
const keepTransfer = 24 * time.Hour

// Transfers move identified contacts to other clubs; club system API, section
// Contact migration between clubs.
type Transfers struct {
	cfg TransfersConfig
}

// TransferStore is what moves need of Redis.
type TransferStore interface {
	// Transfer reads the move to another club that a contact has begun. ErrNotFound.
	Transfer(ctx context.Context, contact club.IRI) (*flows.Transfer, error)
	// SaveTransfer stores a contact's move if its version is still t.Version, and counts the version up.
	SaveTransfer(ctx context.Context, contact club.IRI, t *flows.Transfer, keep time.Duration) error
}

// TransfersConfig is what moves need; every field is required unless said.
type TransfersConfig struct {
	Store     TransferStore
	Club      *club.Client
	Catalogue *catalogue.Catalogue
	Keys      *keyring.Keyring
	Codes     *signature.CodeSender
	Now       func() time.Time
	Log       *slog.Logger
}

// NewTransfers makes the moves.
func NewTransfers(cfg TransfersConfig) *Transfers { return &Transfers{cfg: cfg} }

// Start asks for the move, and has a code sent to the contact. Asked for again,
// it has another code sent, and the one before is cancelled.
func (f *Transfers) Start(ctx context.Context, identity flows.ContactIdentity, clubID string) (*flows.Transfer, error) {
	to, err := f.cfg.Catalogue.Locate(ctx, identity.ClientToken, clubID)
	if flows.CodeOf(err) == flows.NotFound {
		return nil, &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/clubId", Message: "There is no such club."}}, Err: err}
	}
	if err != nil {
		return nil, err
	}
	scope, err := f.scope(ctx, identity, to)
	if err != nil {
		return nil, err
	}
	contact, err := f.cfg.Club.GetContact(ctx, scope, identity.IRI())
	if err != nil {
		return nil, flows.ClubFailed(err, "The contact could not be read.")
	}
	if contact.Club == to.IRI {
		return nil, flows.MigrationFailed(club.ErrMigrationClub)
	}
	t, err := f.load(ctx, identity)
	if err != nil {
		return nil, err
	}
	allowed, err := f.cfg.Codes.Reserve(ctx, to.IRI, string(contact.IRI), f.cfg.Keys.PhonePseudonym(scope.ClientToken, contact.Mobile))
	if err != nil {
		return nil, err
	}
	f.cfg.Codes.Cancel(ctx, scope, t.Signature)
	t.Begin(allowed.ID, allowed.ResendAfter)
	t.ClubID = clubID
	if err := f.save(ctx, identity, t); err != nil {
		f.cfg.Codes.Release(ctx, allowed)
		return nil, err
	}
	told := f.cfg.Codes.Send(ctx, &t.Signature, allowed, func(ctx context.Context) (club.SignatureRequest, error) {
		return f.cfg.Club.CreateContactMigrationRequest(ctx, scope, contact.IRI, to.IRI)
	})
	if err := f.save(ctx, identity, t); err != nil {
		return nil, err
	}
	return t, told
}

// Sign enters the code from the SMS; the contact then belongs to the new club.
func (f *Transfers) Sign(ctx context.Context, identity flows.ContactIdentity, code string) (*flows.Transfer, error) {
	t, err := f.load(ctx, identity)
	switch {
	case err != nil:
		return nil, err
	case t.State == flows.SignatureSigned:
		return t, nil
	}
	if err := f.cfg.Codes.Enter(&t.Signature, code); err != nil {
		return nil, err
	}
	to, err := f.cfg.Catalogue.Locate(ctx, identity.ClientToken, t.ClubID)
	if err != nil {
		return nil, err
	}
	scope, err := f.scope(ctx, identity, to)
	if err != nil {
		return nil, err
	}
	if err := f.save(ctx, identity, t); err != nil {
		return nil, err
	}
	told := f.cfg.Codes.Check(ctx, scope, &t.Signature, code, func(ctx context.Context) (bool, error) {
		contact, err := f.cfg.Club.GetContact(ctx, scope, identity.IRI())
		return err == nil && contact.Club == to.IRI, err
	})
	if t.State == flows.SignatureSigned {
		f.cfg.Codes.Entered(ctx, to.IRI, t.Signature)
	}
	if err := f.save(ctx, identity, t); err != nil {
		return nil, err
	}
	return t, told
}

// scope acts from the nearest node above both clubs: from the contact's own
// node the new club is out of reach, and from above more would be seen than
// the move needs.
func (f *Transfers) scope(ctx context.Context, identity flows.ContactIdentity, to catalogue.Club) (club.Scope, error) {
	return f.cfg.Catalogue.ScopeAbove(ctx, to, club.NewIRI(identity.ClientToken, "clubs", identity.ClubID))
}

func (f *Transfers) load(ctx context.Context, identity flows.ContactIdentity) (*flows.Transfer, error) {
	t, err := f.cfg.Store.Transfer(ctx, identity.IRI())
	if errors.Is(err, flows.ErrNotFound) {
		return &flows.Transfer{}, nil
	}
	return t, flows.StorageFailed(err)
}

func (f *Transfers) save(ctx context.Context, identity flows.ContactIdentity, t *flows.Transfer) error {
	err := f.cfg.Store.SaveTransfer(ctx, identity.IRI(), t, keepTransfer)
	if errors.Is(err, flows.ErrConflict) {
		return &flows.Error{Code: flows.Conflict, Detail: "The move was asked for twice at the same moment.", Err: err}
	}
	return flows.StorageFailed(err)
}
