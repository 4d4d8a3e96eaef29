package store_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
)

// TestRecordsOfANewerVersion: an older gateway does not touch them, and reports ErrNewer for what it cannot
// read.
func TestRecordsOfANewerVersion(t *testing.T) {
	onEach(t, func(b *fixture) {
		r, p := b.started()
		secret := sha256.Sum256([]byte("one"))
		keys, err := keyring.New(secret[:])
		if err != nil {
			b.Fatal(err)
		}
		put := func(key, body string) { b.set(key, string(keys.Seal(key, []byte(body)))) }
		put(registrationKey(r), fmt.Sprintf(`{"id":%q,"schema":%d,"generation":1,"state":{"since":"then"}}`, r.ID, flows.RegistrationSchema+1))
		put(paymentKey(p), fmt.Sprintf(`{"id":%q,"schema":%d,"state":"priced"}`, p.ID, flows.PaymentSchema+1))
		b.unchanged("reading", func() {
			if _, _, err := b.Registration(b.Context(), r.ID); !errors.Is(err, flows.ErrNewer) {
				b.Errorf("the registration is read with %v", err)
			}
			if seen, err := b.Payment(b.Context(), p.ID); err != nil || seen.Schema <= flows.PaymentSchema {
				b.Errorf("the payment, which can still be looked at, is read as %+v with %v", seen, err)
			}
		})
		put(paymentKey(p), fmt.Sprintf(`{"id":%q,"schema":%d,"state":["priced"]}`, p.ID, flows.PaymentSchema+1))
		if _, err := b.Payment(b.Context(), p.ID); !errors.Is(err, flows.ErrNewer) {
			b.Errorf("the payment, which cannot be read, is read with %v", err)
		}
	})
}
