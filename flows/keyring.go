package flows

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Keyring seals what Redis keeps and signs what the card processor keeps for
// us. The first key seals and signs; every key opens and verifies, so a key is
// rotated by putting a new one in front and dropping the old one after the
// longest life of a record.
type Keyring struct {
	keys []derived
}

// derived is what one secret yields: each purpose has a key of its own.
type derived struct {
	id   []byte // names the key in front of what it sealed
	aead cipher.AEAD
	mac  []byte
	hide []byte
}

// keyIDLength is enough to tell a handful of keys apart.
const keyIDLength = 4

// ErrSealed says that something is not sealed or signed by any key of the ring, or was altered.
var ErrSealed = errors.New("flows: not sealed by a known key")

// NewKeyring makes a ring from secrets of at least 32 bytes each, the current one first.
func NewKeyring(secrets ...[]byte) (*Keyring, error) {
	if len(secrets) == 0 {
		return nil, errors.New("at least one key is needed")
	}
	ring := &Keyring{}
	for i, secret := range secrets {
		if len(secret) < 32 {
			return nil, fmt.Errorf("key %d is %d bytes long, at least 32 are needed", i+1, len(secret))
		}
		key, err := derive(secret)
		if err != nil {
			return nil, err
		}
		ring.keys = append(ring.keys, key)
	}
	return ring, nil
}

func derive(secret []byte) (derived, error) {
	expand := func(purpose string, length int) []byte {
		// HKDF fails only for lengths over 255 hashes.
		key, _ := hkdf.Key(sha256.New, secret, nil, "frontdesk "+purpose, length)
		return key
	}
	block, err := aes.NewCipher(expand("seal", 32))
	if err != nil {
		return derived{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return derived{}, err
	}
	return derived{id: expand("id", keyIDLength), aead: aead, mac: expand("mac", 32), hide: expand("hide", 32)}, nil
}

// Seal encrypts and authenticates; name is what the text belongs to, and the
// same name is needed to open it, so that records cannot be swapped.
func (k *Keyring) Seal(name string, text []byte) []byte {
	key := k.keys[0]
	return key.aead.Seal(bytes.Clone(key.id), nil, text, []byte(name))
}

// Open reverses Seal. ErrSealed when it cannot.
func (k *Keyring) Open(name string, sealed []byte) ([]byte, error) {
	if len(sealed) < keyIDLength {
		return nil, ErrSealed
	}
	for _, key := range k.keys {
		if !bytes.Equal(sealed[:keyIDLength], key.id) {
			continue
		}
		if text, err := key.aead.Open(nil, nil, sealed[keyIDLength:], []byte(name)); err == nil {
			return text, nil
		}
	}
	return nil, ErrSealed
}

// Sign returns an HMAC-SHA-256 over the text.
func (k *Keyring) Sign(text []byte) []byte { return k.keys[0].sign(text) }

// Verify tells whether any key of the ring signed the text.
func (k *Keyring) Verify(text, signature []byte) bool {
	for _, key := range k.keys {
		if hmac.Equal(signature, key.sign(text)) {
			return true
		}
	}
	return false
}

// Hide makes a name, in hex, out of a text that could be guessed from a plain
// hash, such as a contact's identifier. The purpose keeps names for one thing
// apart from those for another.
func (k *Keyring) Hide(purpose, text string) string { return k.HideWithEach(purpose, text)[0] }

// HideWithEach is Hide with every key of the ring, the current one first, for
// names that were made before a rotation. The first eight characters tell the key.
func (k *Keyring) HideWithEach(purpose, text string) []string {
	names := make([]string, len(k.keys))
	for i, key := range k.keys {
		h := hmac.New(sha256.New, key.hide)
		fmt.Fprintf(h, "%d:%s%s", len(purpose), purpose, text)
		names[i] = hex.EncodeToString(h.Sum(bytes.Clone(key.id)))
	}
	return names
}

func (d derived) sign(text []byte) []byte {
	h := hmac.New(sha256.New, d.mac)
	h.Write(text)
	return h.Sum(nil)
}
