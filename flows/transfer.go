package flows

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"frontdesk/upstream/club"
)

// keepTransfer: a move that was begun is forgotten after a day; its code lives for minutes.
const keepTransfer = 24 * time.Hour

// Transfer is the move of an identified contact to another club of the chain.
type Transfer struct {
	Signature
	Version int64  `json:"-"` // counted by the store
	ClubID  string `json:"clubId"`
}

// Transfers move identified contacts to other clubs; club system API, section
// Contact migration between clubs.
type Transfers struct {
	cfg TransfersConfig
}

// TransferStore is what moves need of Redis.
type TransferStore interface {
	// Transfer reads the move to another club that a contact has begun. ErrNotFound.
	Transfer(ctx context.Context, contact club.IRI) (*Transfer, error)
	// SaveTransfer stores a contact's move if its version is still t.Version, and counts the version up.
	SaveTransfer(ctx context.Context, contact club.IRI, t *Transfer, keep time.Duration) error
}

// TransfersConfig is what moves need; every field is required unless said.
type TransfersConfig struct {
	Store     TransferStore
	Club      *club.Client
	Catalogue *Catalogue
	Keys      *Keyring
	Codes     *CodeSender
	Now       func() time.Time
	Log       *slog.Logger
}

// NewTransfers makes the moves.
func NewTransfers(cfg TransfersConfig) *Transfers { return &Transfers{cfg: cfg} }

// Start asks for the move, and has a code sent to the contact. Asked for again,
// it has another code sent, and the one before is cancelled.
func (f *Transfers) Start(ctx context.Context, identity ContactIdentity, clubID string) (*Transfer, error) {
	to, err := f.cfg.Catalogue.locate(ctx, identity.ClientToken, clubID)
	if CodeOf(err) == NotFound {
		return nil, &Error{Code: InvalidRequest, Fields: []FieldProblem{{"/clubId", "There is no such club."}}, Err: err}
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
		return nil, clubFailed(err, "The contact could not be read.")
	}
	if contact.Club == to.IRI {
		return nil, migrationFailed(club.ErrMigrationClub)
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
	t.begin(allowed.ID, allowed.ResendAfter)
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
func (f *Transfers) Sign(ctx context.Context, identity ContactIdentity, code string) (*Transfer, error) {
	t, err := f.load(ctx, identity)
	switch {
	case err != nil:
		return nil, err
	case t.State == SignatureSigned:
		return t, nil
	}
	if err := f.cfg.Codes.Enter(&t.Signature, code); err != nil {
		return nil, err
	}
	to, err := f.cfg.Catalogue.locate(ctx, identity.ClientToken, t.ClubID)
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
	if t.State == SignatureSigned {
		f.cfg.Codes.entered(ctx, to.IRI, t.Signature)
	}
	if err := f.save(ctx, identity, t); err != nil {
		return nil, err
	}
	return t, told
}

// scope acts from the nearest node above both clubs: from the contact's own
// node the new club is out of reach, and from above more would be seen than
// the move needs.
func (f *Transfers) scope(ctx context.Context, identity ContactIdentity, to Club) (club.Scope, error) {
	return f.cfg.Catalogue.scopeAbove(ctx, to, club.NewIRI(identity.ClientToken, "clubs", identity.ClubID))
}

func (f *Transfers) load(ctx context.Context, identity ContactIdentity) (*Transfer, error) {
	t, err := f.cfg.Store.Transfer(ctx, identity.IRI())
	if errors.Is(err, ErrNotFound) {
		return &Transfer{}, nil
	}
	return t, storageFailed(err)
}

func (f *Transfers) save(ctx context.Context, identity ContactIdentity, t *Transfer) error {
	err := f.cfg.Store.SaveTransfer(ctx, identity.IRI(), t, keepTransfer)
	if errors.Is(err, ErrConflict) {
		return &Error{Code: Conflict, Detail: "The move was asked for twice at the same moment.", Err: err}
	}
	return storageFailed(err)
}

// scopeAbove is the scope of a call that touches a club and another one: the
// club's own, from the nearest node above both. MigrationClub when there is none.
func (c *Catalogue) scopeAbove(ctx context.Context, at Club, other club.IRI) (club.Scope, error) {
	network, err := c.network(ctx, at.Scope.ClientToken)
	if err != nil {
		return club.Scope{}, err
	}
	scope, found := at.Scope, false
	if scope.Node, found = network.value.CommonAncestor(at.IRI, other); !found {
		return club.Scope{}, migrationFailed(club.ErrMigrationClub)
	}
	return scope, nil
}
