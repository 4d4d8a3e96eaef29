package keyring_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"frontdesk/flows/keyring"
)

// To rotate a key, put the new one first: what the old key sealed can still be opened, and new records need
// the new key.
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
	// after it: sealed with the key be99b2a1, which is not configured
	// sealed again: content
}

func TestNewKeyring(t *testing.T) {
	t.Parallel()
	good, short := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{1}, 31)
	for name, test := range map[string]struct {
		secrets [][]byte
		ok      bool
	}{
		"none":                 {nil, false},
		"short":                {[][]byte{short}, false},
		"one short among them": {[][]byte{good, short}, false},
		"good":                 {[][]byte{good}, true},
		"twice the same":       {[][]byte{good, good}, true},
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
		"another key":             {other, "name", sealed},
		"another name":            {ring, "another name", sealed},
		"altered":                 {ring, "name", altered},
		"cut off":                 {ring, "name", sealed[:8]},
		"shorter than a key's id": {ring, "name", sealed[:3]},
		"empty":                   {ring, "name", nil},
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

// TestStoredFormats: signatures and pseudonyms remain valid in later versions.
func TestStoredFormats(t *testing.T) {
	t.Parallel()
	ring, err := keyring.New(bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{9}, 40))
	if err != nil {
		t.Fatal(err)
	}
	for name, is := range map[string]struct{ got, want string }{
		"signature":     {hex.EncodeToString(ring.Sign([]byte("abc"))), "c9d0fa09630160235c1ab36669db9279182ba9f9a56e3d0b633c9b50d0b5d8a4"},
		"sealed":        {hex.EncodeToString(ring.Seal("n", []byte("abc"))[:5]), "01f5d41557"},
		"pseudonym":     {ring.Pseudonym("person", "x"), "f5d41557a67c5ee098b923412c21afc3eedf42912c6c24664166f7f2f0e754040a4ded8b"},
		"old pseudonym": {ring.Pseudonyms("person", "x")[1], "1c8b689fe2a905d6f83639cf477366978b27f79c032fc26e0d884088dcedbbe727a9ffb8"},
		"phone":         {ring.PhonePseudonym("demo", "612345678"), "f5d41557fdf28a2b58eb2a99fba43aeccadf7eeaaf89204d19129438b5a1a54c9c6167b2"},
		"e-mail": {
			ring.PersonPseudonyms("demo", " A@b.c", "612345678")[0],
			"f5d41557c2991fbe541b6c156a907880753bf44253d0c1b7b8576a5b2670cc6e50cb5ec2",
		},
		"mobile": {
			ring.CurrentPersonPseudonyms("demo", "", "612345678")[0],
			"f5d415577298befa5d0ea09a720f2598c8614610b71f618bdba0f9281fe53a38849c14fa",
		},
	} {
		if is.got != is.want {
			t.Errorf("%s: %s, not %s", name, is.got, is.want)
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
