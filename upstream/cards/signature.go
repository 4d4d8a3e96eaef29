package cards

import (
	"crypto/hmac"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"
)

// signatureTolerance is how far the time of a webhook may differ from ours, either way. The
// processor recommends it. Every attempt of a delivery has a new signature.
const signatureTolerance = 300 * time.Second

// checkSignature checks the header of a webhook, "t=<unix seconds>,v1=<hex HMAC>", with one
// v1 for each valid secret: two while a secret is being rolled. Unknown and unreadable parts
// are ignored. Every error is an ErrSignature.
func checkSignature(header string, body []byte, secret string, now time.Time) error {
	var at time.Time
	var signatures [][]byte
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
				at = time.Unix(seconds, 0)
			}
		case "v1":
			if signature, err := hex.DecodeString(value); err == nil {
				signatures = append(signatures, signature)
			}
		}
	}
	if at.IsZero() {
		return fmt.Errorf("%w: it is not signed", ErrSignature)
	}
	if age := now.Sub(at); age.Abs() > signatureTolerance {
		return fmt.Errorf("%w: it was signed %s from now", ErrSignature, age.Round(time.Second))
	}
	want := stripe.ComputeSignature(at, body, secret)
	if !slices.ContainsFunc(signatures, func(given []byte) bool { return hmac.Equal(want, given) }) {
		return fmt.Errorf("%w: no signature matches", ErrSignature)
	}
	return nil
}
