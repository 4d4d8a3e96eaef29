package keyring_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"frontdesk/flows/keyring"
)

// A key is rotated by putting the new one in front: what the old one sealed can
// still be opened, and what is sealed from now on needs the new one.
func ExampleKeyring() {
	oldKey, newKey := bytes.Repeat([]byte("old "), 8), bytes.Repeat([]byte("new "), 8)
	before, _ := keyring.New(oldKey)
	during, _ := keyring.New(newKey, oldKey)
	after, _ := keyring.New(newKey)

	sealed := before.Seal("a record", []byte("content"))
	text, _ := during.Open("a record", sealed)
	fmt.Println("during the rotation:", string(text))
	_, err := after.Open("a record", sealed)
	fmt.Println("after it:", err)
	text, _ = after.Open("a record", during.Seal("a record", text))
	fmt.Println("sealed again:", string(text))
	// Output:
	// during the rotation: content
	// after it: flows: not sealed by a known key
	// sealed again: content
}

func TestNewKeyring(t *testing.T) {
	t.Parallel()
	good, short := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{1}, 31)
	for name, test := range map[string]struct {
		secrets [][]byte
		ok      bool
	}{
		"none": {nil, false}, "short": {[][]byte{short}, false}, "one short among them": {[][]byte{good, short}, false},
		"good": {[][]byte{good}, true}, "twice the same": {[][]byte{good, good}, true},
	} {
		if _, err := keyring.New(test.secrets...); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSeal(t *testing.T) {
	t.Parallel()
	ring, other := newKeyring(t, "one"), newKeyring(t, "two")
	sealed := ring.Seal("name", []byte("text"))
	if again := ring.Seal("name", []byte("text")); bytes.Equal(sealed, again) {
		t.Error("the same text is sealed in the same way twice, which tells that it is the same")
	}
	if bytes.Contains(sealed, []byte("text")) {
		t.Error("the text can be read")
	}
	altered := bytes.Clone(sealed)
	altered[len(altered)-1] ^= 1
	for name, test := range map[string]struct {
		ring   *keyring.Keyring
		name   string
		sealed []byte
	}{
		"another key": {other, "name", sealed}, "another name": {ring, "another name", sealed}, "altered": {ring, "name", altered},
		"cut off": {ring, "name", sealed[:8]}, "shorter than a key's id": {ring, "name", sealed[:3]}, "empty": {ring, "name", nil},
	} {
		if text, err := test.ring.Open(test.name, test.sealed); !errors.Is(err, keyring.ErrSealed) || text != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if text, err := ring.Open("name", ring.Seal("name", nil)); err != nil || len(text) != 0 {
		t.Errorf("an empty text: %q, %v", text, err)
	}
}

func TestSign(t *testing.T) {
	t.Parallel()
	ring := newKeyring(t, "one")
	signature := ring.Sign([]byte("text"))
	for name, test := range map[string]struct {
		ring      *keyring.Keyring
		text      string
		signature []byte
		want      bool
	}{
		"its own":      {ring, "text", signature, true},
		"rotated":      {newKeyring(t, "two", "one"), "text", signature, true},
		"dropped":      {newKeyring(t, "two"), "text", signature, false},
		"another text": {ring, "texts", signature, false},
		"cut off":      {ring, "text", signature[:31], false},
		"empty":        {ring, "text", nil, false},
	} {
		if got := test.ring.Verify([]byte(test.text), test.signature); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// newKeyring returns a ring with a key for each name, the current one first.
func newKeyring(t testing.TB, names ...string) *keyring.Keyring {
	t.Helper()
	secrets := make([][]byte, len(names))
	for i, name := range names {
		secret := sha256.Sum256([]byte(name))
		secrets[i] = secret[:]
	}
	ring, err := keyring.New(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}
