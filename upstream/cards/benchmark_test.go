package cards_test

import (
	"fmt"
	"net/http"
	"testing"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// BenchmarkCall is a payment's five calls in one process, both sides: creation, claim, read, capture and result. The buyer confirms
// in between. Divide by five for one call.
func BenchmarkCall(b *testing.B) {
	clock := newClock()
	double := sandbox.New(sandbox.Config{Now: clock.Now, Seed: 1, BaseURL: "http://processor", MaxPayments: 10_000})
	b.Cleanup(double.Close)
	client, err := cards.New(cards.Config{SecretKey: double.SecretKey, URL: double.URL, Now: clock.Now,
		HTTPClient: &http.Client{Transport: double}})
	if err != nil {
		b.Fatal(err)
	}
	ctx, n := b.Context(), 0
	must := func(_ cards.Payment, err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		n++
		key := fmt.Sprint("payment:", n)
		metadata := map[string]string{"fd_registration": "r1", "fd_generation": "1", "fd_sale": "/demo/sales/4711", "fd_environment": "test"}
		made, err := client.Create(ctx, key, cards.NewPayment{Amount: 4990, Currency: "EUR", Description: "Club Riverside", Metadata: metadata})
		must(made, err)
		if _, err := double.Confirm(made.ID, goodCard); err != nil {
			b.Fatal(err)
		}
		must(client.Get(ctx, made.ID))
		must(client.UpdateMetadata(ctx, key+":claim", made.ID, map[string]string{"fd_post_1": "8c1f4f0e-5a3a-4d6e-9d2e-000000000000"}))
		must(client.Capture(ctx, key+":capture", made.ID, 4990))
		must(client.UpdateMetadata(ctx, key+":done", made.ID, map[string]string{"fd_done": "2026-11-21T09:30:00Z"}))
		if n%10_000 == 0 { // the keys of a day are bounded
			double.Reset("")
		}
	}
}
