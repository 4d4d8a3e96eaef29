package registration

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
)

const (
	// cartTime is how long the look at the cart may keep somebody who resumes.
	cartTime = 5 * time.Second
)

// NewResumeLink makes the link for the registration's holder; the one before is
// good for nothing any more.
func (f *Service) NewResumeLink(ctx context.Context, id, token string) (flows.ResumeLink, error) {
	secret, _ := flows.RandomToken()
	code := id + "." + secret
	var link flows.ResumeLink
	for range maxSaveAttempts {
		r, p, err := f.load(ctx, id, token)
		if err != nil {
			return flows.ResumeLink{}, err
		}
		link = flows.ResumeLink{URL: f.cfg.PublicURL + "/?resume=" + code, ExpiresAt: r.LinkEnd(p, f.cfg.Now())}
		r.Resume = &flows.Resume{Hash: flows.HashToken(code), ExpiresAt: link.ExpiresAt}
		if err = f.cfg.Store.AmendRegistration(ctx, r); !errors.Is(err, flows.ErrConflict) {
			return link, flows.StorageFailed(err)
		}
	}
	return flows.ResumeLink{}, flows.StorageFailed(flows.ErrConflict)
}

// Resume exchanges what a link holds for the registration, and a token of this
// device's own. Whoever comes first has it: a second use, a link that was replaced,
// an expired one and one that never was are told apart by nobody. The club system
// is asked afterwards, so that whatever it does the link has done its work.
func (f *Service) Resume(ctx context.Context, clientToken, code string) (flows.View, string, error) {
	r, p, token, err := f.takeLink(ctx, clientToken, code)
	if err != nil {
		return flows.View{}, "", err
	}
	stale := false
	if r.Phase(p, f.cfg.Now()) == flows.Open && r.Sale != "" {
		r, p, stale = f.refreshCart(ctx, r, p)
	}
	view := f.refreshView(ctx, r, p)
	view.Stale = stale
	if stale && view.Message == "" {
		view.Message = "The club's system did not answer just now, so the cart is shown as it was when it was last read."
	}
	return view, token, nil
}

// takeLink uses a link up, and stores the token that it was exchanged for.
func (f *Service) takeLink(ctx context.Context, clientToken, code string) (*flows.Registration, *flows.Payment, string, error) {
	id, _, _ := strings.Cut(code, ".")
	if uuid.Validate(id) != nil {
		return nil, nil, "", notResumable(nil)
	}
	token, hash := newToken(f.cfg.Keys, id)
	for range maxSaveAttempts {
		r, p, err := f.cfg.Store.Registration(ctx, id)
		switch {
		case errors.Is(err, flows.ErrNotFound):
			return nil, nil, "", notResumable(err)
		case err != nil:
			return nil, nil, "", flows.StorageFailed(err)
		case r.ClientToken != clientToken || r.Resume == nil || !flows.TokenMatches(code, r.Resume.Hash) || f.cfg.Now().After(r.Resume.ExpiresAt):
			return nil, nil, "", notResumable(nil)
		}
		r.Resume = nil
		r.AddHolder(hash)
		if err := f.cfg.Store.AmendRegistration(ctx, r); !errors.Is(err, flows.ErrConflict) {
			return r, p, token, flows.StorageFailed(err)
		}
	}
	return nil, nil, "", flows.StorageFailed(flows.ErrConflict)
}

func notResumable(err error) error {
	return &flows.Error{Code: flows.ResumptionInvalid, Detail: "Please make a new link on the device on which you began, or start again.",
		Fields: []flows.FieldProblem{{Pointer: "/resume", Message: "It was used, replaced, has expired, or never was one."}}, Err: err}
}

// refreshCart reads the cart of somebody who was away, and marks the prices that
// are others than before. When that fails, the cart is stale. Whoever changed the
// registration meanwhile has read it themselves.
func (f *Service) refreshCart(ctx context.Context, r *flows.Registration, p *flows.Payment) (*flows.Registration, *flows.Payment, bool) {
	before := *r
	looking, cancel := context.WithTimeout(ctx, cartTime)
	defer cancel()
	at, err := f.cfg.Catalogue.Club(looking, r.ClientToken, r.ClubID)
	if err == nil {
		err = f.readCart(looking, r, at)
	}
	if err != nil {
		f.cfg.Log.WarnContext(ctx, "cart not read for a resumption", "error", err)
		return &before, p, true
	}
	r.Cart.MarkChanges(before.Cart)
	switch err := f.cfg.Store.AmendRegistration(ctx, r); {
	case err == nil:
		return r, p, false
	case errors.Is(err, flows.ErrConflict):
		if r, p, err := f.cfg.Store.Registration(ctx, r.ID); err == nil {
			return r, p, false
		}
	}
	return &before, p, true // what is not stored may not be shown as what will be paid
}
