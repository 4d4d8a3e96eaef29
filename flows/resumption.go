package flows

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// The figures of a resumption.
const (
	// resumeLife: whoever takes another device does so on the same day. A link that
	// lies around for longer is somebody else's in the end.
	resumeLife = 24 * time.Hour
	// maxResumed: devices that hold a registration beside the first one. A phone, a
	// computer, and each once more after its browser forgot; then the oldest goes.
	maxResumed = 4
	// cartTime is how long the look at the cart may keep somebody who resumes.
	cartTime = 5 * time.Second
)

// ResumeLink is a link with which a registration is resumed on another device.
type ResumeLink struct {
	URL       string
	ExpiresAt time.Time
}

// Resume is what a registration keeps of the link that resumes it. It is part of
// the record that it gives access to: the version that guards every change makes
// it good for one use, and a new link takes its place.
type Resume struct {
	Hash      string    `json:"hash"` // SHA-256 of what the link holds, hex
	ExpiresAt time.Time `json:"expiresAt"`
}

// NewResumeLink makes the link for the registration's holder; the one before is
// good for nothing any more.
func (f *Registrations) NewResumeLink(ctx context.Context, id, token string) (ResumeLink, error) {
	secret, _ := randomToken()
	code := id + "." + secret
	var link ResumeLink
	for range maxSaveAttempts {
		r, p, err := f.load(ctx, id, token)
		if err != nil {
			return ResumeLink{}, err
		}
		link = ResumeLink{URL: f.cfg.PublicURL + "/?resume=" + code, ExpiresAt: r.linkEnd(p, f.cfg.Now())}
		r.Resume = &Resume{Hash: hashToken(code), ExpiresAt: link.ExpiresAt}
		if err = f.cfg.Store.AmendRegistration(ctx, r); !errors.Is(err, ErrConflict) {
			return link, storageFailed(err)
		}
	}
	return ResumeLink{}, storageFailed(ErrConflict)
}

// linkEnd is until when a new link is good: as long as the registration can be
// looked at for certain, which with a payment under way is as long as that takes.
func (r *Registration) linkEnd(p *Payment, now time.Time) time.Time {
	link, end := now.Add(resumeLife), r.ExpiresAt
	if p != nil && p.UpdatedAt.After(end) {
		end = p.UpdatedAt
	}
	end = end.Add(KeepRegistration)
	if p != nil && !p.State.Final() || link.Before(end) {
		return link
	}
	return end
}

// Resume exchanges what a link holds for the registration, and a token of this
// device's own. Whoever comes first has it: a second use, a link that was replaced,
// an expired one and one that never was are told apart by nobody. The club system
// is asked afterwards, so that whatever it does the link has done its work.
func (f *Registrations) Resume(ctx context.Context, clientToken, code string) (View, string, error) {
	r, p, token, err := f.takeLink(ctx, clientToken, code)
	if err != nil {
		return View{}, "", err
	}
	stale := false
	if r.Phase(p, f.cfg.Now()) == Open && r.Sale != "" {
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
func (f *Registrations) takeLink(ctx context.Context, clientToken, code string) (*Registration, *Payment, string, error) {
	id, _, _ := strings.Cut(code, ".")
	if uuid.Validate(id) != nil {
		return nil, nil, "", notResumable(nil)
	}
	token, hash := newToken(f.cfg.Keys, id)
	for range maxSaveAttempts {
		r, p, err := f.cfg.Store.Registration(ctx, id)
		switch {
		case errors.Is(err, ErrNotFound):
			return nil, nil, "", notResumable(err)
		case err != nil:
			return nil, nil, "", storageFailed(err)
		case r.ClientToken != clientToken || r.Resume == nil || !tokenMatches(code, r.Resume.Hash) || f.cfg.Now().After(r.Resume.ExpiresAt):
			return nil, nil, "", notResumable(nil)
		}
		r.Resume = nil
		r.addHolder(hash)
		if err := f.cfg.Store.AmendRegistration(ctx, r); !errors.Is(err, ErrConflict) {
			return r, p, token, storageFailed(err)
		}
	}
	return nil, nil, "", storageFailed(ErrConflict)
}

func notResumable(err error) error {
	return &Error{Code: ResumptionInvalid, Detail: "Please make a new link on the device on which you began, or start again.",
		Fields: []FieldProblem{{"/resume", "It was used, replaced, has expired, or never was one."}}, Err: err}
}

// addHolder makes the holder of another token a holder of the registration. The first
// device's stays one for good.
func (r *Registration) addHolder(hash string) {
	r.Resumed = append(r.Resumed, hash)
	r.Resumed = slices.Delete(r.Resumed, 0, max(0, len(r.Resumed)-maxResumed))
}

// refreshCart reads the cart of somebody who was away, and marks the prices that
// are others than before. When that fails, the cart is stale. Whoever changed the
// registration meanwhile has read it themselves.
func (f *Registrations) refreshCart(ctx context.Context, r *Registration, p *Payment) (*Registration, *Payment, bool) {
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
	r.Cart.markChanges(before.Cart)
	switch err := f.cfg.Store.AmendRegistration(ctx, r); {
	case err == nil:
		return r, p, false
	case errors.Is(err, ErrConflict):
		if r, p, err := f.cfg.Store.Registration(ctx, r.ID); err == nil {
			return r, p, false
		}
	}
	return &before, p, true // what is not stored may not be shown as what will be paid
}

// markChanges notes what each line cost in a cart that was shown before, and what
// is not there any more.
func (c *Cart) markChanges(before Cart) {
	old := slices.Clone(before.Lines)
	for i, line := range c.Lines {
		at := slices.IndexFunc(old, func(o Line) bool { return o.Offer == line.Offer && o.Name == line.Name && o.Added == line.Added })
		if at < 0 {
			continue
		}
		if was := old[at].Price; was != line.Price {
			c.Lines[i].Was = &was
		}
		old = slices.Delete(old, at, at+1)
	}
	c.Gone = old
}
