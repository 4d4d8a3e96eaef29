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
	onEach(t, func(redis *fixture) {
		registration, payment := redis.started()
		secret := sha256.Sum256([]byte("one"))
		keys, err := keyring.New(secret[:])
		if err != nil {
			redis.Fatal(err)
		}
		put := func(key, body string) { redis.set(key, string(keys.Seal(key, []byte(body)))) }
		put(registrationKey(registration), fmt.Sprintf(`{"id":%q,"schema":%d,"generation":1,"state":{"since":"then"}}`, registration.ID,
			flows.RegistrationSchema+1))
		put(paymentKey(payment), fmt.Sprintf(`{"id":%q,"schema":%d,"state":"priced"}`, payment.ID, flows.PaymentSchema+1))
		redis.unchanged("reading", func() {
			if _, _, err := redis.Registration(redis.Context(), registration.ID); !errors.Is(err, flows.ErrNewer) {
				redis.Errorf("the registration is read with %v", err)
			}
			if seen, err := redis.Payment(redis.Context(), payment.ID); err != nil || seen.Schema <= flows.PaymentSchema {
				redis.Errorf("the payment, which can still be looked at, is read as %+v with %v", seen, err)
			}
		})
		put(paymentKey(payment), fmt.Sprintf(`{"id":%q,"schema":%d,"state":["priced"]}`, payment.ID, flows.PaymentSchema+1))
		if _, err := redis.Payment(redis.Context(), payment.ID); !errors.Is(err, flows.ErrNewer) {
			redis.Errorf("the payment, which cannot be read, is read with %v", err)
		}
	})
}
