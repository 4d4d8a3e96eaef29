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

// The figures of the keys.
const (
	// fetchTimeout: a visitor waits for it, and the login is asked again soon anyway.
	fetchTimeout = 5 * time.Second
	// freshFor: how long keys are taken without asking again; a key that was withdrawn is accepted no longer than that.
	freshFor = 15 * time.Minute
	// usableFor: how long keys are taken that cannot be asked for again. An outage of
	// the login shall not lock members out, and a day is enough to mend one.
	usableFor = 24 * time.Hour
	// minRefreshInterval between two fetches: tokens with made-up key ids cost the login no more than this.
	minRefreshInterval = 10 * time.Second
	// minFirstInterval is the pause while no keys were ever had: nobody can log in meanwhile.
	minFirstInterval = time.Second
	// maxKeySetBytes bounds the answer; a set of a dozen keys is below 20 KiB.
	maxKeySetBytes = 256 << 10
)

// keySet holds the keys that the login publishes, as they were last read.
type keySet struct {
	url    string
	http   *http.Client
	now    func() time.Time
	flight singleflight.Group

	mu      sync.Mutex
	keys    keyfunc.Keyfunc // nil before the first success
	fetched time.Time       // of keys
	tried   time.Time       // the last fetch, whatever came of it
}

func newKeySet(cfg Config) *keySet {
	k := &keySet{url: cfg.JWKSURL, http: cfg.HTTP, now: cfg.Now}
	if k.http == nil {
		k.http = &http.Client{Timeout: fetchTimeout, CheckRedirect: refuseRedirects}
	}
	return k
}

// refuseRedirects follows no redirect: whoever can make the login's host send one, such as by
// an open redirect on it, would choose the keys, and with them who is who.
func refuseRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// lookup gives the key that a token names. Keys are read again when they are old,
// and when the token names one that is not known, but not at every token.
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
		return nil, errors.Join(ErrUnavailable, failed) // it may be a key that the login has made since
	}
	return key, k.checkAge(age, err)
}

// checkAge refuses keys that were read too long ago to be trusted.
func (k *keySet) checkAge(age time.Duration, err error) error {
	if age > usableFor {
		return ErrUnavailable
	}
	return err
}

// cached gives the keys, their age, and whether the login may be asked again.
func (k *keySet) cached() (keys keyfunc.Keyfunc, age time.Duration, rested bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, rest := k.now(), minRefreshInterval
	if k.keys == nil {
		rest = minFirstInterval
	}
	return k.keys, now.Sub(k.fetched), now.Sub(k.tried) >= rest
}

// refresh reads the keys once for all who wait, and goes on when one of them leaves.
func (k *keySet) refresh(ctx context.Context) error {
	_, err, _ := k.flight.Do("", func() (any, error) {
		if _, _, rested := k.cached(); !rested {
			return nil, nil // somebody else just did
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
		defer cancel()
		keys, err := k.fetch(ctx)
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
	answer, err := k.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("identity: the keys are answered with status %d", answer.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxKeySetBytes))
	if err != nil {
		return nil, err
	}
	return keyfunc.NewJWKSetJSON(body)
}

// UsableKeys reads the login's keys now, and counts those that can have signed a
// token that is accepted. It is 0 without a JWKSURL.
func (v *Verifier) UsableKeys(ctx context.Context) (usable int, err error) {
	if v.keys == nil {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
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
