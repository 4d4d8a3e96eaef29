package registration

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
)

// cartTime is how long reading the cart may delay a resumption.
const cartTime = 5 * time.Second

// NewResumeLink returns a new link for the registration's holder, and invalidates the previous one.
func (s *Service) NewResumeLink(ctx context.Context, id, token string) (flows.ResumeLink, error) {
	secret, _ := flows.RandomToken()
	code := id + "." + secret
	link := flows.ResumeLink{URL: s.cfg.PublicURL + "/?resume=" + code}
	err := s.amend(ctx, id, token, func(r *flows.Registration, p *flows.Payment) {
		link.ExpiresAt = r.LinkEnd(p, s.cfg.Now())
		r.Resume = &flows.Resume{Hash: flows.HashToken(code), ExpiresAt: link.ExpiresAt}
	})
	return link, err
}

// amend changes a registration for its holder. It repeats a change that loses a race.
func (s *Service) amend(ctx context.Context, id, token string, change func(*flows.Registration, *flows.Payment)) error {
	for range maxSaveAttempts {
		r, p, err := s.load(ctx, id, token)
		if err != nil {
			return err
		}
		change(r, p)
		if err := s.cfg.Store.AmendRegistration(ctx, r); !errors.Is(err, flows.ErrConflict) {
			return flows.StorageFailed(err)
		}
	}
	return flows.StorageFailed(flows.ErrConflict)
}

// Resume exchanges a link's code for the registration and a token for this device. The first use
// wins. A used, replaced, expired or invented link gets the same error. The link counts as used
// even if the club system then fails.
func (s *Service) Resume(ctx context.Context, clientToken, code string) (flows.View, string, error) {
	registration, payment, token, err := s.takeLink(ctx, clientToken, code)
	if err != nil {
		return flows.View{}, "", err
	}
	stale := false
	if registration.Phase(payment, s.cfg.Now()) == flows.Open && registration.Sale != "" {
		registration, payment, stale = s.refreshCart(ctx, registration, payment)
	}
	view := s.refreshView(ctx, registration, payment)
	view.Stale = stale
	if stale && view.Message == "" {
		view.Message = flows.MessageCartStale
	}
	return view, token, nil
}

// takeLink consumes a link, and stores the token that it is exchanged for.
func (s *Service) takeLink(ctx context.Context, clientToken, code string) (*flows.Registration, *flows.Payment, string, error) {
	id, _, _ := strings.Cut(code, ".")
	if uuid.Validate(id) != nil {
		return nil, nil, "", notResumable(nil)
	}
	token, hash := newToken(s.cfg.Keys, id, s.cfg.Now())
	for range maxSaveAttempts {
		registration, payment, err := s.cfg.Store.Registration(ctx, id)
		switch {
		case errors.Is(err, flows.ErrNotFound):
			return nil, nil, "", notResumable(err)
		case err != nil:
			return nil, nil, "", flows.StorageFailed(err)
		case registration.ClientToken != clientToken, registration.Resume == nil, !flows.TokenMatches(code, registration.Resume.Hash),
			s.cfg.Now().After(registration.Resume.ExpiresAt):
			return nil, nil, "", notResumable(nil)
		}
		registration.Resume = nil
		registration.AddHolder(hash)
		if err := s.cfg.Store.AmendRegistration(ctx, registration); !errors.Is(err, flows.ErrConflict) {
			return registration, s.verifyDecline(ctx, payment), token, flows.StorageFailed(err)
		}
	}
	return nil, nil, "", flows.StorageFailed(flows.ErrConflict)
}

// Session is a token for a registration, as a browser keeps it in a cookie.
type Session struct{ ID, Token string }

// maxSessions bounds the readings for one request: a browser keeps the cookies of many registrations.
const maxSessions = 5

// Current returns the registration of the session that began last at an organisation. RegistrationNotFound if none of the latest
// sessions is valid there.
func (s *Service) Current(ctx context.Context, clientToken string, sessions []Session) (view flows.View, err error) {
	began := func(session Session) time.Time {
		issued, _ := tokenIssued(s.cfg.Keys, session.ID, session.Token)
		return issued
	}
	slices.SortStableFunc(sessions, func(a, b Session) int { return began(b).Compare(began(a)) })
	for _, session := range sessions[:min(len(sessions), maxSessions)] {
		view, err = s.Get(ctx, session.ID, session.Token)
		if err == nil && view.ClientToken != clientToken {
			err = noRegistration()
		}
		if flows.CodeOf(err) != flows.RegistrationNotFound {
			return view, err
		}
	}
	return flows.View{}, err
}

// EndSession revokes one of the registration's tokens. A token that was revoked before changes nothing.
func (s *Service) EndSession(ctx context.Context, id, token string) error {
	err := s.amend(ctx, id, token, func(r *flows.Registration, _ *flows.Payment) { r.EndSession(token) })
	if flows.CodeOf(err) == flows.RegistrationNotFound && s.TokenIssued(id, token) {
		return nil
	}
	return err
}

func notResumable(err error) error {
	return &flows.Error{Code: flows.ResumptionInvalid, Detail: flows.DetailResumptionEnded,
		Fields: []flows.FieldProblem{{Pointer: "/resume", Code: flows.FieldLinkEnded}}, Err: err}
}

// refreshCart reads the cart of a visitor who resumes, and marks changed prices. When that fails, the
// cart is stale. A concurrent change of the registration has read the cart as well.
func (s *Service) refreshCart(ctx context.Context, registration *flows.Registration, payment *flows.Payment) (*flows.Registration,
	*flows.Payment, bool) {
	before := *registration
	bounded, cancel := context.WithTimeout(ctx, cartTime)
	defer cancel()
	at, err := s.cfg.Catalogue.Club(bounded, registration.ClientToken, registration.ClubID)
	if err == nil {
		err = s.readCart(bounded, registration, at)
	}
	if err != nil {
		s.cfg.Log.WarnContext(ctx, "cart not read for a resumption", "error", err)
		return &before, payment, true
	}
	registration.Cart.MarkChanges(before.Cart)
	switch err := s.cfg.Store.AmendRegistration(ctx, registration); {
	case err == nil:
		return registration, payment, false
	case errors.Is(err, flows.ErrConflict):
		if r, p, err := s.cfg.Store.Registration(ctx, registration.ID); err == nil {
			return r, p, false
		}
	}
	return &before, payment, true // a cart that is not stored must not be shown as the one to be paid
}

// newToken returns a token for a registration's holder, and its hash. The token is 256 random
// bits and the time of issue in seconds, signed.
func newToken(keys *keyring.Keyring, registration string, now time.Time) (token, hash string) {
	bits := make([]byte, flows.TokenBytes)
	rand.Read(bits)
	bits = binary.BigEndian.AppendUint64(bits, uint64(now.Unix())) // #nosec G115 -- after 1970
	token = base64.RawURLEncoding.EncodeToString(append(bits, keys.Sign(tokenText(registration, bits))...))
	return token, flows.HashToken(token)
}

// tokenText is the signed text of a token. Its first line separates it from everything else that is
// signed with the same key.
func tokenText(registration string, bits []byte) []byte {
	return append([]byte("registration token\n"+registration+"\n"), bits...)
}

// tokenIssued reports whether we issued a token for a registration, and when. No storage is needed.
func tokenIssued(keys *keyring.Keyring, registration, token string) (at time.Time, signed bool) {
	const timed = flows.TokenBytes + 8
	all, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(all) <= timed || !keys.Verify(tokenText(registration, all[:timed]), all[timed:]) {
		return at, false
	}
	return time.Unix(int64(binary.BigEndian.Uint64(all[flows.TokenBytes:timed])), 0), true // #nosec G115 -- we signed it
}

// TokenIssued reports whether a token was issued for a registration, which may have revoked it.
func (s *Service) TokenIssued(id, token string) bool {
	_, signed := tokenIssued(s.cfg.Keys, id, token)
	return signed
}

// CheckHolder returns RegistrationNotFound for a token that was not issued for the registration. A revoked token passes, so
// callers that return data must load the registration too. It reads Redis only for a token without a valid
// signature, such as one that a retired key signed.
func (s *Service) CheckHolder(ctx context.Context, id, token string) error {
	if s.TokenIssued(id, token) {
		return nil
	}
	_, _, err := s.load(ctx, id, token)
	return err
}
