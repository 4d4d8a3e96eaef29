package store_test

import (
	"slices"
	"testing"
	"time"

	"frontdesk/flows"
)

// TestEmailFollows: a payment whose buyer's contact awaits its e-mail address has the registration refreshed at once. The mark of a
// payment stays when others change its record, and none is made of a payment that is gone.
func TestEmailFollows(t *testing.T) {
	onEach(t, func(redis *fixture) {
		for _, email := range []string{"", "ada@example.com"} {
			registration := redis.registered()
			registration.Contact.Email = email
			payment := redis.next(registration)
			if err := redis.StartPayment(redis.Context(), registration, payment); err != nil {
				redis.Fatal(err)
			}
			now := payment.CreatedAt
			due, err := redis.DueRefreshes(redis.Context(), now, now.Add(time.Minute), 20, time.Second)
			if err != nil || slices.Contains(due, registration.ID) != (email != "") {
				redis.Errorf("with the address %q to be put, %v is due, %v", email, due, err)
			}
			if err := redis.MarkEmailInUse(redis.Context(), payment.ID); err != nil {
				redis.Fatal(err)
			}
			redis.commit(to(payment, flows.Intent))
			if read, err := redis.Payment(redis.Context(), payment.ID); err != nil || !read.EmailInUse {
				redis.Errorf("the marked payment is %+v, %v", read, err)
			}
		}
		redis.unchanged("the mark of a payment that is gone", func() {
			if err := redis.MarkEmailInUse(redis.Context(), "unknown-1"); err != nil {
				redis.Fatal(err)
			}
		})
	})
}

// TestUniqueEmails: each organisation's club system is noted for itself.
func TestUniqueEmails(t *testing.T) {
	onEach(t, func(redis *fixture) {
		if err := redis.NoteUniqueEmails(redis.Context(), "demo-unique"); err != nil {
			redis.Fatal(err)
		}
		for organisation, want := range map[string]bool{"demo-unique": true, "demo-other": false} {
			if unique, err := redis.HasUniqueEmails(redis.Context(), organisation); err != nil || unique != want {
				redis.Errorf("%s: %v, %v", organisation, unique, err)
			}
		}
	})
}
