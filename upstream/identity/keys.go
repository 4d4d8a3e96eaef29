package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/sync/singleflight"
)

// Limits of the login's keys.
const (
	// fetchTimeout is short because a visitor waits, and the next token causes another fetch.
	fetchTimeout = 5 * time.Second
	// freshFor is how long keys are used without another fetch, and so how long a withdrawn
	// key is still accepted.
	freshFor = 15 * time.Minute
	// usableFor is how long keys are used when they cannot be fetched again. A day is enough
	// to end an outage of the login, which must not lock members out.
	usableFor = 24 * time.Hour
	// minRefreshInterval separates two fetches, so that tokens with invented key ids cannot
	// make the gateway flood the login.
	minRefreshInterval = 10 * time.Second
	// minFirstInterval replaces it until the first success, before which no contact can log in.
	minFirstInterval = time.Second
	// maxKeySetBytes limits the response; a set of a dozen keys is below 20 KiB.
	maxKeySetBytes = 256 << 10
)

// keySet holds the login's public keys from the latest fetch.
type keySet struct {
	url    string
	http   *http.Client
	now    func() time.Time
	flight singleflight.Group

	mu      sync.Mutex
	keys    keyfunc.Keyfunc // nil before the first success
	fetched time.Time       // of keys
	tried   time.Time       // the last fetch, successful or not
}

func newKeySet(cfg Config) *keySet {
	return &keySet{url: cfg.JWKSURL, now: cfg.Now, http: &http.Client{
		Timeout: fetchTimeout,
		// An open redirect on the login's host would let an attacker choose the keys.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// lookup returns the key that a token names. It fetches the keys again when they are old, or
// lack that key, within the limits above.
func (k *keySet) lookup(ctx context.Context, token *jwt.Token) (any, error) {
	keys, age, rested := k.cached()
	if keys != nil {
		key, err := keys.KeyfuncCtx(ctx)(token)
		if !rested || err == nil && age < freshFor {
			return key, k.checkAge(age, err)
		}
	}
	failed := k.refresh(ctx)
	keys, age, _ = k.cached()
	if keys == nil {
		return nil, errors.Join(ErrUnavailable, failed)
	}
	key, err := keys.KeyfuncCtx(ctx)(token)
	if err != nil && failed != nil {
		return nil, errors.Join(ErrUnavailable, failed) // the key may be newer than ours
	}
	return key, k.checkAge(age, err)
}

func (k *keySet) checkAge(age time.Duration, err error) error {
	if age > usableFor {
		return ErrUnavailable
	}
	return err
}

// cached returns the keys, their age, and whether another fetch is allowed.
func (k *keySet) cached() (keys keyfunc.Keyfunc, age time.Duration, rested bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, rest := k.now(), minRefreshInterval
	if k.keys == nil {
		rest = minFirstInterval
	}
	return k.keys, now.Sub(k.fetched), now.Sub(k.tried) >= rest
}

// refresh fetches the keys once for all callers, and continues when one of them leaves.
func (k *keySet) refresh(ctx context.Context) error {
	_, err, _ := k.flight.Do("", func() (any, error) {
		if _, _, rested := k.cached(); !rested {
			return nil, nil // another caller just did
		}
		keys, err := k.fetch(context.WithoutCancel(ctx))
		k.mu.Lock()
		defer k.mu.Unlock()
		k.tried = k.now()
		if err == nil {
			k.keys, k.fetched = keys, k.tried
		}
		return nil, err
	})
	return err
}

func (k *keySet) fetch(ctx context.Context) (keyfunc.Keyfunc, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := k.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("identity: the keys' address responds with status %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxKeySetBytes))
	if err != nil {
		return nil, err
	}
	return keyfunc.NewJWKSetJSON(body)
}

// UsableKeys fetches the login's keys and counts those that can sign an accepted token; 0
// without a JWKSURL.
func (v *Verifier) UsableKeys(ctx context.Context) (usable int, err error) {
	if v.keys == nil {
		return 0, nil
	}
	keys, err := v.keys.fetch(ctx)
	if err != nil {
		return 0, err
	}
	published, err := keys.Storage().KeyReadAll(ctx)
	for _, key := range published {
		switch key := key.Key().(type) {
		case *rsa.PublicKey, ed25519.PublicKey:
			usable++
		case *ecdsa.PublicKey:
			if key.Curve == elliptic.P256() {
				usable++
			}
		}
	}
	return usable, err
}
