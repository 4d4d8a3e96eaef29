package frontdeskmock_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"frontdeskmock"
)

// TestSignups signs up two visitors at once: with a card, and with a card whose recording in the club system fails.
func TestSignups(t *testing.T) {
	mock := frontdeskmock.Start(t)
	t.Run("pays once", func(t *testing.T) {
		t.Parallel()
		world := mock.World(t)
		registration := startRegistration(t, world)
		world.Confirm(registration.pay(), "4242424242424242")
		registration.await("completed")
		if ledger := world.Ledger(); len(ledger) != 1 || ledger[0].Amount != 14900 || !world.AuditOK() {
			t.Errorf("the club has recorded %+v", ledger)
		}
	})
	t.Run("is refunded", func(t *testing.T) {
		t.Parallel()
		world := mock.World(t)
		world.SetFaults(frontdeskmock.Fault{
			Match: frontdeskmock.Match{Method: "POST", Path: "/sales/*/payments"}, Kind: "error_before", Status: 422,
		})
		registration := startRegistration(t, world)
		world.Confirm(registration.pay(), "4242424242424242")
		registration.await("refunded")
		if ledger := world.Ledger(); len(ledger) != 0 {
			t.Errorf("the club has recorded %+v", ledger)
		}
	})
}

// TestMandate signs a mandate with the code that the visitor's phone gets.
func TestMandate(t *testing.T) {
	world := frontdeskmock.Start(t).World(t)
	registration := startRegistration(t, world)
	registration.post("/items", map[string]string{"offerId": "901", "startDate": "2030-01-15"})
	registration.post("/mandate", map[string]string{"holder": "Ada Martin", "iban": "FR76 3000 6000 0112 3456 7890 189"})
	registration.post("/mandate/signature", map[string]string{"code": world.SMSCode()})
	if world.Token("customer") == "" {
		t.Error("the member has no token")
	}
}

// registration is a visitor of your program; here, of the API itself.
type registration struct {
	ID, Token, State string
	Cart             struct{ Revision string }
	Order            struct {
		Agreements []struct{ Document, Version string }
	}
	Payment struct {
		State string
		Card  struct{ ClientSecret string }
	}

	t     *testing.T
	world *frontdeskmock.World
}

func startRegistration(t *testing.T, world *frontdeskmock.World) *registration {
	t.Helper()
	r := &registration{t: t, world: world}
	r.send("POST", "", map[string]any{
		"clubId": "11",
		"items":  []any{map[string]string{"offerId": "201", "startDate": "2030-01-15"}},
		"person": map[string]any{
			"givenName": "Ada", "familyName": "Martin", "birthDate": "1990-05-17", "email": "ada@example.com", "mobile": "+33612345678",
			"address": map[string]string{"street": "12 rue des Lilas", "postalCode": "75011", "city": "Paris", "country": "FR"},
		},
	})
	return r
}

// pay starts the payment of what the visitor sees, and returns its client secret.
func (r *registration) pay() string {
	r.t.Helper()
	var agreements []any
	for _, needed := range r.Order.Agreements {
		agreements = append(agreements, map[string]string{"document": needed.Document, "version": needed.Version})
	}
	r.post("/payment", map[string]any{"method": "card", "cart": r.Cart.Revision, "agreements": agreements})
	return r.Payment.Card.ClientSecret
}

// await reads the registration until it, or its payment, has a state.
func (r *registration) await(state string) {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); r.State != state && r.Payment.State != state; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("the registration is %s, its payment %s", r.State, r.Payment.State)
		}
		r.send("GET", "/"+r.ID, nil)
	}
}

func (r *registration) post(path string, body any) {
	r.t.Helper()
	r.send("POST", "/"+r.ID+path, body)
}

func (r *registration) send(method, path string, body any) {
	r.t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		r.t.Fatal(err)
	}
	request, err := http.NewRequest(method, r.world.URL+"/v1/registrations"+path, bytes.NewReader(content))
	if err != nil {
		r.t.Fatal(err)
	}
	if method == "GET" {
		request.Body = http.NoBody
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", fmt.Sprintf("%s %d", r.t.Name(), time.Now().UnixNano()))
	if r.Token != "" {
		request.Header.Set("Authorization", "Bearer "+r.Token)
	}
	response, err := r.world.Client().Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode > 299 {
		r.t.Fatalf("%s %s: %s", method, path, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(r); err != nil {
		r.t.Fatal(err)
	}
}
