package store_test

import (
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
