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
		claims[name] = value
		if value == nil {
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
	login := newLogin(t)
	both := login.verifier(func(cfg *identity.Config) { cfg.Secret = secret })
	for name, token := range map[string]string{
		"RS256":         login.sign(jwt.SigningMethodRS256, login.rsa, "rsa", login.claims(nil)),
		"ES256":         login.good(nil),
		"EdDSA":         login.sign(jwt.SigningMethodEdDSA, login.ed25519, "ed25519", login.claims(nil)),
		"EdDSA, no kid": login.sign(jwt.SigningMethodEdDSA, login.ed25519, "", login.claims(nil)),
		"HS256":         login.sign(jwt.SigningMethodHS256, []byte(secret), "", login.claims(nil)),
		"no iat":        login.good(jwt.MapClaims{"iat": nil}),
		"ten minutes":   login.good(jwt.MapClaims{"exp": login.clock().Add(10 * time.Minute).Unix()}),
		"clock of a login": login.good(jwt.MapClaims{
			"iat": login.clock().Add(20 * time.Second).Unix(),
			"nbf": login.clock().Add(20 * time.Second).Unix(),
		}),
		"some audience": login.good(jwt.MapClaims{"aud": "website", "iss": "https://login.example"}),
	} {
		who, err := both.Verify(t.Context(), token, "demo")
		if err != nil || who != (identity.Contact{ID: "1001", Club: "11"}) {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
}

func TestBadTokens(t *testing.T) {
	t.Parallel()
	login := newLogin(t)
	public, err := x509.MarshalPKIXPublicKey(login.rsa.Public())
	if err != nil {
		t.Fatal(err)
	}
	_, stranger, _ := ed25519.GenerateKey(rand.Reader)
	in := func(d time.Duration) int64 { return login.clock().Add(d).Unix() }
	keysOnly := func(*identity.Config) {}
	both := func(cfg *identity.Config) { cfg.Secret = secret }
	secretOnly := func(cfg *identity.Config) { cfg.JWKSURL, cfg.Secret = "", secret }
	strict := func(cfg *identity.Config) { cfg.Audience, cfg.Issuer = "frontdesk", "https://login.example" }
	worlds := func(cfg *identity.Config) { cfg.Organisations = true }
	whole := strings.Split(login.good(nil), ".")
	for name, test := range map[string]struct {
		accepts func(*identity.Config)
		token   string
	}{
		"nothing":           {both, ""},
		"garbage":           {both, "a.b.c"},
		"dots":              {both, ".."},
		"two parts":         {both, whole[0] + "." + whole[1]},
		"other claims":      {both, whole[0] + "." + strings.Split(login.good(jwt.MapClaims{"sub": "1002"}), ".")[1] + "." + whole[2]},
		"no signature":      {both, whole[0] + "." + whole[1] + "."},
		"none":              {both, login.sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "ecdsa", login.claims(nil))},
		"none for a secret": {secretOnly, login.sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "", login.claims(nil))},
		"public key as secret": {
			both,
			login.sign(jwt.SigningMethodHS256, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), "rsa", login.claims(nil)),
		},
		"public key as secret, raw":   {keysOnly, login.sign(jwt.SigningMethodHS256, login.rsa.N.Bytes(), "rsa", login.claims(nil))},
		"public key, empty secret":    {keysOnly, login.sign(jwt.SigningMethodHS256, []byte{}, "rsa", login.claims(nil))},
		"secret, none configured":     {keysOnly, login.sign(jwt.SigningMethodHS256, []byte(secret), "", login.claims(nil))},
		"key, none configured":        {secretOnly, login.good(nil)},
		"another secret":              {both, login.sign(jwt.SigningMethodHS256, []byte("another"), "", login.claims(nil))},
		"longer hash":                 {both, login.sign(jwt.SigningMethodHS512, []byte(secret), "", login.claims(nil))},
		"other algorithm of the key":  {both, login.sign(jwt.SigningMethodPS256, login.rsa, "rsa", login.claims(nil))},
		"another key of that name":    {both, login.sign(jwt.SigningMethodEdDSA, stranger, "ed25519", login.claims(nil))},
		"an unknown key":              {both, login.sign(jwt.SigningMethodEdDSA, stranger, "mine", login.claims(nil))},
		"a stranger's key, not named": {both, login.sign(jwt.SigningMethodEdDSA, stranger, "", login.claims(nil))},
		"expired":                     {both, login.good(jwt.MapClaims{"iat": in(-10 * time.Minute), "exp": in(-31 * time.Second)})},
		"not yet valid":               {both, login.good(jwt.MapClaims{"nbf": in(time.Minute)})},
		"issued in the future":        {both, login.good(jwt.MapClaims{"iat": in(time.Minute)})},
		"exp too far":                 {both, login.good(jwt.MapClaims{"iat": nil, "exp": in(11 * time.Minute)})},
		"a long life":                 {both, login.good(jwt.MapClaims{"iat": in(-time.Hour)})},
		"no exp":                      {both, login.good(jwt.MapClaims{"exp": nil})},
		"exp as text":                 {both, login.good(jwt.MapClaims{"exp": "tomorrow"})},
		"no sub":                      {both, login.good(jwt.MapClaims{"sub": nil})},
		"no club":                     {both, login.good(jwt.MapClaims{"club": nil})},
		"sub that leaves its path":    {both, login.good(jwt.MapClaims{"sub": "../sales/1"})},
		"sub is an IRI":               {both, login.good(jwt.MapClaims{"sub": "/demo/contacts/1001"})},
		"club as a number":            {both, login.good(jwt.MapClaims{"club": 11})},
		"no audience":                 {strict, login.good(jwt.MapClaims{"iss": "https://login.example"})},
		"another audience":            {strict, login.good(jwt.MapClaims{"iss": "https://login.example", "aud": "shop"})},
		"another issuer":              {strict, login.good(jwt.MapClaims{"iss": "https://evil.example", "aud": "frontdesk"})},
		"another organisation":        {worlds, login.good(jwt.MapClaims{"aud": "demo-other"})},
		"oversized":                   {both, login.good(jwt.MapClaims{"note": strings.Repeat("x", 8<<10)})},
	} {
		who, err := login.verifier(test.accepts).Verify(t.Context(), test.token, "demo")
		if !errors.Is(err, identity.ErrInvalid) || who != (identity.Contact{}) {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
	for name, test := range map[string]struct {
		accepts func(*identity.Config)
		token   string
	}{
		"its audience":     {strict, login.good(jwt.MapClaims{"iss": "https://login.example", "aud": []string{"shop", "frontdesk"}})},
		"its organisation": {worlds, login.good(jwt.MapClaims{"aud": "demo"})},
		"no organisation":  {worlds, login.good(nil)},
	} {
		if _, err := login.verifier(test.accepts).Verify(t.Context(), test.token, "demo"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeysAreReadSeldomAndFollowTheLogin(t *testing.T) {
	t.Parallel()
	login := newLogin(t)
	v := login.verifier(nil)
	_, next, _ := ed25519.GenerateKey(rand.Reader)
	verify := func(token string) error { _, err := v.Verify(t.Context(), token, "demo"); return err }
	fetched := func(want int) {
		t.Helper()
		if got := login.asked(); got != want {
			t.Errorf("the keys were read %d times, want %d", got, want)
		}
	}
	wait := func(d time.Duration) { login.set(func() { login.now = login.now.Add(d) }) }

	fetched(0)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if err := verify(login.good(nil)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	fetched(1)

	// The gateway requests an unpublished key only once in a while, not for every token.
	for range 5 {
		if err := verify(login.sign(jwt.SigningMethodEdDSA, next, "next", login.claims(nil))); !errors.Is(err, identity.ErrInvalid) {
			t.Error(err)
		}
	}
	fetched(1)
	login.set(func() { login.kids = map[string]crypto.PublicKey{"next": next.Public()} })
	wait(11 * time.Second)
	for range 5 {
		if err := verify(login.sign(jwt.SigningMethodEdDSA, next, "next", login.claims(nil))); err != nil {
			t.Error(err)
		}
	}
	fetched(2)
	if err := verify(login.good(nil)); !errors.Is(err, identity.ErrInvalid) {
		t.Errorf("a withdrawn key: %v", err)
	}

	// An outage of the login of up to a day does not lock members out.
	login.set(func() { login.status = http.StatusBadGateway })
	for _, outage := range []time.Duration{time.Hour, 22 * time.Hour} {
		wait(outage)
		if err := verify(login.sign(jwt.SigningMethodEdDSA, next, "next", login.claims(nil))); err != nil {
			t.Errorf("after %s more: %v", outage, err)
		}
	}
	wait(2 * time.Hour)
	if err := verify(login.sign(jwt.SigningMethodEdDSA, next, "next", login.claims(nil))); !errors.Is(err, identity.ErrUnavailable) {
		t.Errorf("after more than a day: %v", err)
	}
	login.set(func() { login.status = http.StatusOK })
	wait(11 * time.Second)
	if err := verify(login.sign(jwt.SigningMethodEdDSA, next, "next", login.claims(nil))); err != nil {
		t.Errorf("the login is back: %v", err)
	}
}

func TestUnreachableLogin(t *testing.T) {
	t.Parallel()
	login := newLogin(t)
	for name, address := range map[string]string{"no listener": "http://127.0.0.1:1/jwks", "not found": login.url} {
		login.set(func() { login.status = http.StatusNotFound })
		verifier := login.verifier(func(cfg *identity.Config) { cfg.JWKSURL, cfg.Secret = address, secret })
		for range 3 {
			if _, err := verifier.Verify(t.Context(), login.good(nil), "demo"); !errors.Is(err, identity.ErrUnavailable) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := verifier.Verify(t.Context(), login.sign(jwt.SigningMethodHS256, []byte(secret), "", login.claims(nil)), "demo"); err != nil {
			t.Errorf("%s: what the secret signed needs no keys: %v", name, err)
		}
	}
	if got := login.asked(); got != 1 {
		t.Errorf("a login in trouble was asked %d times within a second", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	login.set(func() { login.status, login.now = http.StatusOK, login.now.Add(2*time.Second) })
	v := login.verifier(nil)
	if _, err := v.Verify(ctx, login.good(nil), "demo"); err != nil {
		t.Errorf("one visitor who leaves does not stop the reading for the others: %v", err)
	}
}
