package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
)

// TestKeptDocuments: a document is stored once under the hash of its bytes, is kept for longer each time, and never for less.
func TestKeptDocuments(t *testing.T) {
	onEach(t, func(b *fixture) {
		document := func(text string) flows.Document {
			hash := sha256.Sum256([]byte(text))
			return flows.Document{ContentType: "text/plain", SHA256: hex.EncodeToString(hash[:]), Body: []byte(text)}
		}
		keep := func(keep time.Duration, documents ...flows.Document) {
			b.Helper()
			if err := b.KeepDocuments(b.Context(), documents, keep); err != nil {
				b.Fatal(err)
			}
		}
		terms, notice := document("Conditions\r\n\x00é"), document("Confidentialité")
		if _, err := b.Document(b.Context(), terms.SHA256); !errors.Is(err, flows.ErrNotFound) {
			b.Errorf("before anybody has agreed: %v", err)
		}
		keep(time.Hour, terms)
		keep(2*time.Hour, terms, notice)
		keep(time.Minute, terms)
		for _, want := range []flows.Document{terms, notice} {
			got, err := b.Document(b.Context(), want.SHA256)
			if err != nil || string(got.Body) != string(want.Body) || got.ContentType != want.ContentType {
				b.Errorf("%+v, %v instead of %+v", got, err, want)
			}
			if left := b.redis.PTTL(b.Context(), "fd:document:"+want.SHA256).Val(); left < 110*time.Minute {
				b.Errorf("%s is kept for %s", want.Body, left)
			}
		}
		if written := b.redis.HSet(b.Context(), "fd:document:"+terms.SHA256, "body", "Other"); written.Err() != nil {
			b.Fatal(written.Err())
		}
		if _, err := b.Document(b.Context(), terms.SHA256); !errors.Is(err, flows.ErrDamaged) || strings.Contains(err.Error(), "Other") {
			b.Errorf("altered bytes: %v", err)
		}
		b.expire("fd:document:" + notice.SHA256)
		if _, err := b.Document(b.Context(), notice.SHA256); !errors.Is(err, flows.ErrNotFound) {
			b.Errorf("after its time: %v", err)
		}
	})
}
