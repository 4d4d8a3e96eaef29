package store_test

import (
	"fmt"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
)

// BenchmarkCommit measures one compare-and-set of a payment on a real Redis: encoded, sealed, sent and
// answered.
func BenchmarkCommit(b *testing.B) {
	on := newFixture(b, frontdesktest.NewDatabase(b))
	_, p := on.started()
	p = on.commit(to(p, flows.Intent))
	b.ReportAllocs()
	for b.Loop() {
		p = on.commit(to(p, flows.Intent))
	}
}

// BenchmarkRegistration measures the read of a registration with its payment.
func BenchmarkRegistration(b *testing.B) {
	on := newFixture(b, frontdesktest.NewDatabase(b))
	r, _ := on.started()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := on.Registration(b.Context(), r.ID); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRegistrationAmong measures the read of a registration among few that are open and among many: benchstat
// -col /open compares them, and the difference is noise.
func BenchmarkRegistrationAmong(b *testing.B) {
	for _, open := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("open=%d", open), func(b *testing.B) {
			on := newFixture(b, frontdesktest.NewDatabase(b))
			ids := make([]string, open)
			for i := range ids {
				ids[i] = on.registered().ID
			}
			for n := 0; b.Loop(); n++ {
				if _, _, err := on.Registration(b.Context(), ids[n*7919%open]); err != nil { // a prime, so that all are read in turn
					b.Fatal(err)
				}
			}
		})
	}
}
