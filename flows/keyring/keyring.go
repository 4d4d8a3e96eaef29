// Package keyring seals stored records, signs tokens and metadata, and derives pseudonyms
// for data that must not be stored, with keys that can be rotated.
package keyring

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/aesgcm"
	"github.com/tink-crypto/tink-go/v2/insecuresecretdataaccess"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/secretdata"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Keyring seals what Redis keeps and signs what the card processor keeps for us. The
// first key seals and signs; every key opens and verifies. To rotate a key, put a new one
// in front, and drop the old one after the longest life of a record.
//
// Each secret has a key of its own for each purpose: sealing (AES-256-GCM), signing and
// pseudonyms (HMAC-SHA-256). Nothing by which the card processor recognises a request,
// such as an idempotency key, depends on them: a rotation changes no earlier request.
type Keyring struct {
	seal tink.AEAD
	keys []macKeys
}

// macKeys are the keys that one secret derives for signatures and for pseudonyms.
type macKeys struct {
	id        []byte // begins each pseudonym, and identifies the secret
	signing   []byte
	pseudonym []byte
}

const (
	// keySize is the length of every derived key: that of AES-256, and of a hash.
	keySize = 32
	// idSize is the length of a key's id at the beginning of sealed texts and pseudonyms.
	idSize = 4
	// sealedLayout begins everything that Tink seals; the key's id follows.
	sealedLayout = 1
)

// ErrSealed reports that a text cannot be opened; the error is a SealedError.
var ErrSealed = errors.New("keyring: the text cannot be opened")

// SealedError is an ErrSealed with its reason.
type SealedError struct {
	KeyID string // of the key that sealed the text; empty: a key of the ring did, or none, so the text was altered
}

// Error returns the reason. The id of a key reveals nothing about it.
func (e *SealedError) Error() string {
	if e.KeyID == "" {
		return "the text was altered, or belongs to another record"
	}
	return "sealed with the key " + e.KeyID + ", which is not configured"
}

// Is makes every SealedError an ErrSealed.
func (e *SealedError) Is(target error) bool { return target == ErrSealed }

// New returns a ring of secrets of at least 32 bytes each, the current one first.
func New(secrets ...[]byte) (*Keyring, error) {
	if len(secrets) == 0 {
		return nil, errors.New("at least one key is required")
	}
	ring, sealing := &Keyring{}, keyset.NewManager()
	for i, secret := range secrets {
		if len(secret) < keySize {
			return nil, fmt.Errorf("key %d is %d bytes long, at least %d are needed", i+1, len(secret), keySize)
		}
		keys := macKeys{derive(secret, "id", idSize), derive(secret, "mac", keySize), derive(secret, "hide", keySize)}
		if slices.ContainsFunc(ring.keys, func(other macKeys) bool { return bytes.Equal(other.signing, keys.signing) }) {
			continue // the same secret twice
		}
		if err := addSealingKey(sealing, keys.id, secret); err != nil {
			return nil, err
		}
		ring.keys = append(ring.keys, keys)
	}
	if err := sealing.SetPrimary(binary.BigEndian.Uint32(ring.keys[0].id)); err != nil {
		return nil, err
	}
	handle, err := sealing.Handle()
	if err != nil {
		return nil, err
	}
	ring.seal, err = aead.New(handle)
	return ring, err
}

func addSealingKey(ring *keyset.Manager, id, secret []byte) error {
	// 12 and 16 bytes are the nonce and the tag of every AES-GCM.
	parameters, err := aesgcm.NewParameters(
		aesgcm.ParametersOpts{KeySizeInBytes: keySize, IVSizeInBytes: 12, TagSizeInBytes: 16, Variant: aesgcm.VariantTink},
	)
	if err != nil {
		return err
	}
	material := secretdata.NewBytesFromData(derive(secret, "seal", keySize), insecuresecretdataaccess.Token{})
	key, err := aesgcm.NewKey(material, binary.BigEndian.Uint32(id), parameters)
	if err != nil {
		return err
	}
	_, err = ring.AddKey(key)
	return err
}

// derive makes an independent key from a secret. HKDF fails only for lengths over 255 hashes.
func derive(secret []byte, purpose string, length int) []byte {
	derived, _ := hkdf.Key(sha256.New, secret, nil, "frontdesk "+purpose, length)
	return derived
}

func mac(key, text []byte) []byte {
	hash := hmac.New(sha256.New, key)
	hash.Write(text)
	return hash.Sum(nil)
}

// Seal encrypts and authenticates a text. The same name is needed to open it, so that records cannot be swapped.
func (k *Keyring) Seal(name string, text []byte) []byte {
	sealed, err := k.seal.Encrypt(text, []byte(name))
	if err != nil {
		panic(err) // only a text of 64 GB is too long for the cipher
	}
	return sealed
}

// Open reverses Seal. It returns ErrSealed if it cannot.
func (k *Keyring) Open(name string, sealed []byte) ([]byte, error) {
	text, err := k.seal.Decrypt(sealed, []byte(name))
	if err != nil {
		return nil, &SealedError{k.missingKey(sealed)}
	}
	return text, nil
}

// missingKey returns the id of the key that sealed a text; empty if the ring has it, or nothing was sealed.
func (k *Keyring) missingKey(sealed []byte) string {
	if len(sealed) <= idSize || sealed[0] != sealedLayout {
		return ""
	}
	if id := hex.EncodeToString(sealed[1 : 1+idSize]); !slices.Contains(k.IDs(), id) {
		return id
	}
	return ""
}

// IDs returns the id of each key, in hex, the current one first.
func (k *Keyring) IDs() []string {
	ids := make([]string, len(k.keys))
	for i, key := range k.keys {
		ids[i] = hex.EncodeToString(key.id)
	}
	return ids
}

// Current reports whether the first key sealed a text, so that it stays readable without the others.
func (k *Keyring) Current(sealed []byte) bool {
	return len(sealed) > idSize && bytes.Equal(sealed[1:1+idSize], k.keys[0].id)
}

// Sign returns the HMAC-SHA-256 of a text.
func (k *Keyring) Sign(text []byte) []byte { return mac(k.keys[0].signing, text) }

// Verify reports whether any key of the ring signed the text.
func (k *Keyring) Verify(text, signature []byte) bool {
	return slices.ContainsFunc(k.keys, func(key macKeys) bool { return hmac.Equal(signature, mac(key.signing, text)) })
}

// Pseudonym returns the pseudonym, in hex, of a text that could be guessed from a plain
// hash, such as a contact's identifier. Each purpose has pseudonyms of its own.
func (k *Keyring) Pseudonym(purpose, text string) string { return k.Pseudonyms(purpose, text)[0] }

// Pseudonyms returns the pseudonym under every key of the ring, the current one first, to
// find what was stored before a rotation. The first eight characters identify the key.
func (k *Keyring) Pseudonyms(purpose, text string) []string {
	names := make([]string, len(k.keys))
	for i, key := range k.keys {
		names[i] = hex.EncodeToString(
			append(slices.Clip(key.id), mac(key.pseudonym, fmt.Appendf(nil, "%d:%s%s", len(purpose), purpose, text))...),
		)
	}
	return names
}
