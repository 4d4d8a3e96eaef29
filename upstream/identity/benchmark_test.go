package identity_test

import (
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

// BenchmarkVerify measures the check of one token, whose keys were fetched before.
func BenchmarkVerify(b *testing.B) {
	l := newLogin(b)
	verifier := l.verifier(nil)
	token := l.sign(jwt.SigningMethodEdDSA, l.ed25519, "ed25519", l.claims(nil))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := verifier.Verify(b.Context(), token, "demo"); err != nil {
			b.Fatal(err)
		}
	}
}
