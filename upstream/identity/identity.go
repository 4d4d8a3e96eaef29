// Package identity is the club's own login as Frontdesk sees it: it verifies
// the short-lived tokens (JWT, RFC 7519) that the login signs for a contact. It
// signs nothing, keeps no session and knows nothing of what a contact may do;
// that stands in handlers and flows.
//
// Start reading at Verifier.Verify; where the login's public keys come from
// stands in key.go.
package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// The figures of a token.
const (
	// maxToken: a token with the usual claims and an RSA signature of 4096 bits is below 1.5 KiB.
	maxToken = 4 << 10
	// maxLifetime is the longest life of a token: it cannot be taken back, so a stolen one is soon worthless.
	maxLifetime = 10 * time.Minute
	// leeway is how far the clocks of the login and of the gateway may be apart.
	leeway = 30 * time.Second
)

// sharedMethod is the one algorithm by which a shared secret signs. A published key
// signs by one of the others alone, so that nobody can pass a public key off as a secret.
const sharedMethod = "HS256"

// methods are the algorithms that are accepted; "none" is not among them.
var methods = []string{sharedMethod, "RS256", "ES256", "EdDSA"}

// The outcomes that a caller has to tell apart.
var (
	// ErrInvalid: this is no token of the login, or not one that is good now.
	ErrInvalid = errors.New("identity: not a valid token")
	// ErrUnavailable: the login's keys cannot be had, so nothing can be said of the token.
	ErrUnavailable = errors.New("identity: the keys of the login cannot be read")
)

// Config says whose tokens are accepted. With neither JWKSURL nor Secret no
// token is.
type Config struct {
	JWKSURL  string // where the login publishes its keys (RFC 7517); empty: it does not
	Secret   string // what the login shares with Frontdesk, at least 32 bytes; empty: nothing
	Audience string // what aud has to name; empty: it is not asked for
	Issuer   string // what iss has to be; empty: it is not asked for
	// Organisations makes an aud that is there name the organisation that is
	// called: for a login that speaks for several, as that of the demo worlds does.
	Organisations bool
	HTTP          *http.Client // fetches the keys; nil: one with a timeout that follows no redirects
	Now           func() time.Time
}

// Contact is whom a token is about: public ids, as a club system's path ends in.
type Contact struct {
	ID   string
	Club string
}

// Verifier verifies tokens.
type Verifier struct {
	cfg    Config
	keys   *keySet // nil without JWKSURL
	parser *jwt.Parser
}

// New makes a verifier. It fetches nothing before the first token.
func New(cfg Config) *Verifier {
	v := &Verifier{cfg: cfg, parser: cfg.parser()}
	if cfg.JWKSURL != "" {
		v.keys = newKeySet(cfg)
	}
	return v
}

// parser makes a parser that takes the accepted algorithms and no other.
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

// claims are what is read of a token.
type claims struct {
	jwt.RegisteredClaims
	Club string `json:"club"`
}

// LooksLikeToken tells whether credentials have the form of a token: three parts with
// dots between them, which a registration's token never has.
func LooksLikeToken(credentials string) bool { return strings.Contains(credentials, ".") }

// Verify tells whom a token is about. organisation is the one that is called.
// ErrInvalid, whatever is wrong with the token; ErrUnavailable.
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

// keyFor gives the key that a token has to be signed with.
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

// publicIDPattern is what an id looks like that can stand in a path of the club system.
var publicID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// rejectReason says what the library does not check: whom the token is about, that it
// lives shortly, and which organisation it is for.
func (v *Verifier) rejectReason(said claims, organisation string) string {
	now, expires := v.cfg.Now(), said.ExpiresAt.Time
	switch {
	case !publicID.MatchString(said.Subject):
		return "sub is no id of a contact"
	case !publicID.MatchString(said.Club):
		return "club is no id of a club"
	case expires.After(now.Add(maxLifetime + leeway)):
		return "exp is too far away"
	case said.IssuedAt != nil && expires.Sub(said.IssuedAt.Time) > maxLifetime:
		return "it lives too long"
	case v.cfg.Organisations && len(said.Audience) > 0 && !slices.Contains(said.Audience, organisation):
		return "aud is another organisation"
	}
	return ""
}
