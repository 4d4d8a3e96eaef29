package identity_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"frontdesk/upstream/identity"
)

const secret = "a-secret-of-the-club's-login-and-frontdesk"

// login is a club's own login: it signs tokens and publishes its keys over HTTP.
type login struct {
	testing.TB
	url     string
	rsa     *rsa.PrivateKey
	ecdsa   *ecdsa.PrivateKey
	ed25519 ed25519.PrivateKey

	mu      sync.Mutex
	now     time.Time
	kids    map[string]crypto.PublicKey // the published keys
	fetches int
	status  int // of the response
}

func newLogin(t testing.TB) *login {
	t.Helper()
	l := &login{TB: t, now: time.Now(), status: http.StatusOK}
	var err error
	if l.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	if l.ecdsa, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if _, l.ed25519, err = ed25519.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	l.kids = map[string]crypto.PublicKey{"rsa": l.rsa.Public(), "ecdsa": l.ecdsa.Public(), "ed25519": l.ed25519.Public()}
	server := httptest.NewServer(http.HandlerFunc(l.publish))
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

func (l *login) publish(w http.ResponseWriter, _ *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fetches++
	keys := []map[string]string{}
	for kid, key := range l.kids {
		keys = append(keys, publicJWK(kid, key))
	}
	w.WriteHeader(l.status)
	json.NewEncoder(w).Encode(map[string]any{"keys": keys})
}

func publicJWK(kid string, key crypto.PublicKey) map[string]string {
	text := base64.RawURLEncoding.EncodeToString
	switch key := key.(type) {
	case *rsa.PublicKey:
		return map[string]string{"kty": "RSA", "kid": kid, "n": text(key.N.Bytes()), "e": text(big.NewInt(int64(key.E)).Bytes())}
	case *ecdsa.PublicKey:
		point, _ := key.Bytes()
		return map[string]string{"kty": "EC", "crv": "P-256", "kid": kid, "x": text(point[1:33]), "y": text(point[33:])}
	case ed25519.PublicKey:
		return map[string]string{"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": text(key)}
	}
	return nil
}

func (l *login) clock() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// set changes the login's behaviour.
func (l *login) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

func (l *login) asked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fetches
}

// claims returns valid claims with changes; nil removes a claim.
func (l *login) claims(changes jwt.MapClaims) jwt.MapClaims {
	now := l.clock()
	claims := jwt.MapClaims{"sub": "1001", "club": "11", "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix()}
	for name, value := range changes {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	return claims
}

// sign makes a token; an empty kid is left out.
func (l *login) sign(method jwt.SigningMethod, key any, kid string, claims jwt.MapClaims) string {
	l.Helper()
	token := jwt.NewWithClaims(method, claims)
	if kid != "" {
		token.Header["kid"] = kid
	}
	signed, err := token.SignedString(key)
	if err != nil {
		l.Fatal(err)
	}
	return signed
}

func (l *login) good(changes jwt.MapClaims) string {
	return l.sign(jwt.SigningMethodES256, l.ecdsa, "ecdsa", l.claims(changes))
}

func (l *login) verifier(change func(*identity.Config)) *identity.Verifier {
	cfg := identity.Config{JWKSURL: l.url, Now: l.clock}
	if change != nil {
		change(&cfg)
	}
	return identity.New(cfg)
}

func TestGoodTokens(t *testing.T) {
	t.Parallel()
	l := newLogin(t)
	both := l.verifier(func(cfg *identity.Config) { cfg.Secret = secret })
	for name, token := range map[string]string{
		"RS256":            l.sign(jwt.SigningMethodRS256, l.rsa, "rsa", l.claims(nil)),
		"ES256":            l.good(nil),
		"EdDSA":            l.sign(jwt.SigningMethodEdDSA, l.ed25519, "ed25519", l.claims(nil)),
		"EdDSA, no kid":    l.sign(jwt.SigningMethodEdDSA, l.ed25519, "", l.claims(nil)),
		"HS256":            l.sign(jwt.SigningMethodHS256, []byte(secret), "", l.claims(nil)),
		"no iat":           l.good(jwt.MapClaims{"iat": nil}),
		"ten minutes":      l.good(jwt.MapClaims{"exp": l.clock().Add(10 * time.Minute).Unix()}),
		"clock of a login": l.good(jwt.MapClaims{"iat": l.clock().Add(20 * time.Second).Unix(), "nbf": l.clock().Add(20 * time.Second).Unix()}),
		"some audience":    l.good(jwt.MapClaims{"aud": "website", "iss": "https://login.example"}),
	} {
		who, err := both.Verify(t.Context(), token, "demo")
		if err != nil || who != (identity.Contact{ID: "1001", Club: "11"}) {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
}

func TestBadTokens(t *testing.T) {
	t.Parallel()
	l := newLogin(t)
	public, err := x509.MarshalPKIXPublicKey(l.rsa.Public())
	if err != nil {
		t.Fatal(err)
	}
	_, stranger, _ := ed25519.GenerateKey(rand.Reader)
	in := func(d time.Duration) int64 { return l.clock().Add(d).Unix() }
	keysOnly := func(*identity.Config) {}
	both := func(cfg *identity.Config) { cfg.Secret = secret }
	secretOnly := func(cfg *identity.Config) { cfg.JWKSURL, cfg.Secret = "", secret }
	strict := func(cfg *identity.Config) { cfg.Audience, cfg.Issuer = "frontdesk", "https://login.example" }
	worlds := func(cfg *identity.Config) { cfg.Organisations = true }
	whole := strings.Split(l.good(nil), ".")
	for name, test := range map[string]struct {
		accepts func(*identity.Config)
		token   string
	}{
		"nothing":           {both, ""},
		"garbage":           {both, "a.b.c"},
		"dots":              {both, ".."},
		"two parts":         {both, whole[0] + "." + whole[1]},
		"other claims":      {both, whole[0] + "." + strings.Split(l.good(jwt.MapClaims{"sub": "1002"}), ".")[1] + "." + whole[2]},
		"no signature":      {both, whole[0] + "." + whole[1] + "."},
		"none":              {both, l.sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "ecdsa", l.claims(nil))},
		"none for a secret": {secretOnly, l.sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "", l.claims(nil))},
		"public key as secret": {
			both,
			l.sign(jwt.SigningMethodHS256, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), "rsa", l.claims(nil)),
		},
		"public key as secret, raw":   {keysOnly, l.sign(jwt.SigningMethodHS256, l.rsa.N.Bytes(), "rsa", l.claims(nil))},
		"public key, empty secret":    {keysOnly, l.sign(jwt.SigningMethodHS256, []byte{}, "rsa", l.claims(nil))},
		"secret, none configured":     {keysOnly, l.sign(jwt.SigningMethodHS256, []byte(secret), "", l.claims(nil))},
		"key, none configured":        {secretOnly, l.good(nil)},
		"another secret":              {both, l.sign(jwt.SigningMethodHS256, []byte("another"), "", l.claims(nil))},
		"longer hash":                 {both, l.sign(jwt.SigningMethodHS512, []byte(secret), "", l.claims(nil))},
		"other algorithm of the key":  {both, l.sign(jwt.SigningMethodPS256, l.rsa, "rsa", l.claims(nil))},
		"another key of that name":    {both, l.sign(jwt.SigningMethodEdDSA, stranger, "ed25519", l.claims(nil))},
		"an unknown key":              {both, l.sign(jwt.SigningMethodEdDSA, stranger, "mine", l.claims(nil))},
		"a stranger's key, not named": {both, l.sign(jwt.SigningMethodEdDSA, stranger, "", l.claims(nil))},
		"expired":                     {both, l.good(jwt.MapClaims{"iat": in(-10 * time.Minute), "exp": in(-31 * time.Second)})},
		"not yet valid":               {both, l.good(jwt.MapClaims{"nbf": in(time.Minute)})},
		"issued in the future":        {both, l.good(jwt.MapClaims{"iat": in(time.Minute)})},
		"exp too far":                 {both, l.good(jwt.MapClaims{"iat": nil, "exp": in(11 * time.Minute)})},
		"a long life":                 {both, l.good(jwt.MapClaims{"iat": in(-time.Hour)})},
		"no exp":                      {both, l.good(jwt.MapClaims{"exp": nil})},
		"exp as text":                 {both, l.good(jwt.MapClaims{"exp": "tomorrow"})},
		"no sub":                      {both, l.good(jwt.MapClaims{"sub": nil})},
		"no club":                     {both, l.good(jwt.MapClaims{"club": nil})},
		"sub that leaves its path":    {both, l.good(jwt.MapClaims{"sub": "../sales/1"})},
		"sub is an IRI":               {both, l.good(jwt.MapClaims{"sub": "/demo/contacts/1001"})},
		"club as a number":            {both, l.good(jwt.MapClaims{"club": 11})},
		"no audience":                 {strict, l.good(jwt.MapClaims{"iss": "https://login.example"})},
		"another audience":            {strict, l.good(jwt.MapClaims{"iss": "https://login.example", "aud": "shop"})},
		"another issuer":              {strict, l.good(jwt.MapClaims{"iss": "https://evil.example", "aud": "frontdesk"})},
		"another organisation":        {worlds, l.good(jwt.MapClaims{"aud": "demo-other"})},
		"oversized":                   {both, l.good(jwt.MapClaims{"note": strings.Repeat("x", 8<<10)})},
	} {
		who, err := l.verifier(test.accepts).Verify(t.Context(), test.token, "demo")
		if !errors.Is(err, identity.ErrInvalid) || who != (identity.Contact{}) {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
	for name, test := range map[string]struct {
		accepts func(*identity.Config)
		token   string
	}{
		"its audience":     {strict, l.good(jwt.MapClaims{"iss": "https://login.example", "aud": []string{"shop", "frontdesk"}})},
		"its organisation": {worlds, l.good(jwt.MapClaims{"aud": "demo"})},
		"no organisation":  {worlds, l.good(nil)},
	} {
		if _, err := l.verifier(test.accepts).Verify(t.Context(), test.token, "demo"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeysAreReadSeldomAndFollowTheLogin(t *testing.T) {
	t.Parallel()
	l := newLogin(t)
	v := l.verifier(nil)
	_, next, _ := ed25519.GenerateKey(rand.Reader)
	verify := func(token string) error { _, err := v.Verify(t.Context(), token, "demo"); return err }
	fetched := func(want int) {
		t.Helper()
		if got := l.asked(); got != want {
			t.Errorf("the keys were read %d times, want %d", got, want)
		}
	}
	wait := func(d time.Duration) { l.set(func() { l.now = l.now.Add(d) }) }

	fetched(0)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if err := verify(l.good(nil)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	fetched(1)

	// The gateway requests an unpublished key only once in a while, not for every token.
	for range 5 {
		if err := verify(l.sign(jwt.SigningMethodEdDSA, next, "next", l.claims(nil))); !errors.Is(err, identity.ErrInvalid) {
			t.Error(err)
		}
	}
	fetched(1)
	l.set(func() { l.kids = map[string]crypto.PublicKey{"next": next.Public()} })
	wait(11 * time.Second)
	for range 5 {
		if err := verify(l.sign(jwt.SigningMethodEdDSA, next, "next", l.claims(nil))); err != nil {
			t.Error(err)
		}
	}
	fetched(2)
	if err := verify(l.good(nil)); !errors.Is(err, identity.ErrInvalid) {
		t.Errorf("a withdrawn key: %v", err)
	}

	// An outage of the login of up to a day does not lock members out.
	l.set(func() { l.status = http.StatusBadGateway })
	for _, outage := range []time.Duration{time.Hour, 22 * time.Hour} {
		wait(outage)
		if err := verify(l.sign(jwt.SigningMethodEdDSA, next, "next", l.claims(nil))); err != nil {
			t.Errorf("after %s more: %v", outage, err)
		}
	}
	wait(2 * time.Hour)
	if err := verify(l.sign(jwt.SigningMethodEdDSA, next, "next", l.claims(nil))); !errors.Is(err, identity.ErrUnavailable) {
		t.Errorf("after more than a day: %v", err)
	}
	l.set(func() { l.status = http.StatusOK })
	wait(11 * time.Second)
	if err := verify(l.sign(jwt.SigningMethodEdDSA, next, "next", l.claims(nil))); err != nil {
		t.Errorf("the login is back: %v", err)
	}
}

func TestUnreachableLogin(t *testing.T) {
	t.Parallel()
	l := newLogin(t)
	for name, address := range map[string]string{"no listener": "http://127.0.0.1:1/jwks", "not found": l.url} {
		l.set(func() { l.status = http.StatusNotFound })
		v := l.verifier(func(cfg *identity.Config) { cfg.JWKSURL, cfg.Secret = address, secret })
		for range 3 {
			if _, err := v.Verify(t.Context(), l.good(nil), "demo"); !errors.Is(err, identity.ErrUnavailable) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := v.Verify(t.Context(), l.sign(jwt.SigningMethodHS256, []byte(secret), "", l.claims(nil)), "demo"); err != nil {
			t.Errorf("%s: what the secret signed needs no keys: %v", name, err)
		}
	}
	if got := l.asked(); got != 1 {
		t.Errorf("a login in trouble was asked %d times within a second", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.set(func() { l.status, l.now = http.StatusOK, l.now.Add(2*time.Second) })
	v := l.verifier(nil)
	if _, err := v.Verify(ctx, l.good(nil), "demo"); err != nil {
		t.Errorf("one visitor who leaves does not stop the reading for the others: %v", err)
	}
}
