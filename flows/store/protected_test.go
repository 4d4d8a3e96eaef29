package store_test

import (
	"testing"

	"frontdesk/flows/store"
)

func TestIsProtected(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"rediss://redis.club":         true,
		"rediss+sentinel://a,b/main":  true,
		"rediss+cluster://a,b":        true,
		"redis://127.0.0.1":           true,
		"redis://:x@[::1]:7000":       true,
		"redis://localhost/1":         true,
		"redis://redis.club":          false,
		"redis://10.0.0.1":            false,
		"redis://0.0.0.0":             false,
		"redis://localhost.club":      false,
		"redis://127.0.0.1@club":      false,
		"redis+sentinel://[::1]/main": false,
		"redis+cluster://127.0.0.1":   false,
		"redis://127.0.0.1,10.0.0.1":  false,
		"":                            false,
	} {
		if got := store.IsProtected(address); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}
