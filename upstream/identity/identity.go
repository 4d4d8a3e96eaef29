// Package identity verifies the short-lived tokens (JWT, RFC 7519) that the club's own login
// signs for a contact. Handlers and flows decide what the contact may do.
//
// Start reading at Verifier.Verify. keys.go reads the login's public keys.
package identity

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Limits of a token.
const (
	// maxToken: usual claims with an RSA signature of 4096 bits stay below 1.5 KiB.
	maxToken = 4 << 10
	// maxLifetime is short because a stolen token cannot be revoked.
	maxLifetime = 10 * time.Minute
	// leeway is how far the clocks of the login and of the gateway may differ.
	leeway = 30 * time.Second
)

// sharedMethod is the only algorithm for a shared secret, and none for a published key, so
// that a public key cannot be passed off as a secret.
const sharedMethod = "HS256"

// methods are the accepted algorithms; "none" is not among them.
var methods = []string{sharedMethod, "RS256", "ES256", "EdDSA"}

// The outcomes of Verify.
var (
	// ErrInvalid: the token is not one of the login, or not valid now.
	ErrInvalid = errors.New("identity: not a valid token")
	// ErrUnavailable: the login's keys cannot be read, so the token cannot be judged.
	ErrUnavailable = errors.New("identity: the keys of the login cannot be read")
)

// Config says which tokens are accepted: none when both JWKSURL and Secret are empty.
type Config struct {
	JWKSURL  string // where the login publishes its keys (RFC 7517); empty: it does not
	Secret   string // what the login shares with Frontdesk, at least 32 bytes; empty: no shared secret
	Audience string // what aud must name; empty: it is not checked
	Issuer   string // what iss must be; empty: it is not checked
	// Organisations requires a token's aud, if any, to name the request's organisation: for a
	// login that serves several, as in the demo worlds.
	Organisations bool
	Now           func() time.Time
}

// Contact is the subject of a token, by public ids: the last segments of IRIs.
type Contact struct{ ID, Club string }

// Verifier verifies tokens.
type Verifier struct {
	cfg    Config
	keys   *keySet // nil without JWKSURL
	parser *jwt.Parser
}

// New returns a verifier. It fetches no keys before the first token.
func New(cfg Config) *Verifier {
	v := &Verifier{cfg: cfg, parser: cfg.parser()}
	if cfg.JWKSURL != "" {
		v.keys = newKeySet(cfg)
	}
	return v
}

// Configured reports whether any token can be accepted.
func (v *Verifier) Configured() bool { return v.keys != nil || v.cfg.Secret != "" }

func (cfg Config) parser() *jwt.Parser {
	options := []jwt.ParserOption{
		jwt.WithValidMethods(methods), jwt.WithExpirationRequired(), jwt.WithIssuedAt(),
		jwt.WithLeeway(leeway), jwt.WithTimeFunc(cfg.Now), jwt.WithStrictDecoding(),
	}
	if cfg.Audience != "" {
		options = append(options, jwt.WithAudience(cfg.Audience))
	}
	if cfg.Issuer != "" {
		options = append(options, jwt.WithIssuer(cfg.Issuer))
	}
	return jwt.NewParser(options...)
}

// claims are the claims that are read.
type claims struct {
	jwt.RegisteredClaims
	Club string `json:"club"`
}

// LooksLikeToken distinguishes credentials from a registration's token, which has no dot.
func LooksLikeToken(credentials string) bool { return strings.Contains(credentials, ".") }

// Verify returns the contact of a token. organisation is the one of the request. It fails
// with ErrInvalid or ErrUnavailable.
func (v *Verifier) Verify(ctx context.Context, token, organisation string) (Contact, error) {
	if len(token) > maxToken {
		return Contact{}, fmt.Errorf("%w: too long", ErrInvalid)
	}
	var said claims
	_, err := v.parser.ParseWithClaims(token, &said, v.keyFor(ctx))
	switch {
	case errors.Is(err, ErrUnavailable):
		return Contact{}, ErrUnavailable
	case errors.Is(err, jwt.ErrTokenMalformed): // whose text may quote the token
		return Contact{}, fmt.Errorf("%w: not readable", ErrInvalid)
	case err != nil:
		return Contact{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if problem := v.rejectReason(said, organisation); problem != "" {
		return Contact{}, fmt.Errorf("%w: %s", ErrInvalid, problem)
	}
	return Contact{ID: said.Subject, Club: said.Club}, nil
}

func (v *Verifier) keyFor(ctx context.Context) jwt.Keyfunc {
	return func(token *jwt.Token) (any, error) {
		shared := token.Method.Alg() == sharedMethod
		switch {
		case shared && v.cfg.Secret != "":
			return []byte(v.cfg.Secret), nil
		case !shared && v.keys != nil:
			return v.keys.lookup(ctx, token)
		default:
			return nil, jwt.ErrTokenUnverifiable
		}
	}
}

// publicID matches ids that can appear in a path of the club system.
var publicID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// rejectReason checks what the library does not: subject, lifetime and organisation.
func (v *Verifier) rejectReason(said claims, organisation string) string {
	now, expires := v.cfg.Now(), said.ExpiresAt.Time
	switch {
	case !publicID.MatchString(said.Subject):
		return "sub is not a contact id"
	case !publicID.MatchString(said.Club):
		return "club is not a club id"
	case expires.After(now.Add(maxLifetime + leeway)):
		return "exp is too far ahead"
	case said.IssuedAt != nil && expires.Sub(said.IssuedAt.Time) > maxLifetime:
		return "the lifetime is too long"
	case v.cfg.Organisations && len(said.Audience) > 0 && !slices.Contains(said.Audience, organisation):
		return "aud is another organisation"
	}
	return ""
}
