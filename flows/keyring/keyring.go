// Package keyring seals what is stored, signs what is handed out, and makes pseudonyms of
// what may not be stored, with keys that can be rotated.
package keyring

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/aesgcm"
	"github.com/tink-crypto/tink-go/v2/insecuresecretdataaccess"
	"github.com/tink-crypto/tink-go/v2/key"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/mac"
	"github.com/tink-crypto/tink-go/v2/mac/hmac"
	"github.com/tink-crypto/tink-go/v2/prf"
	"github.com/tink-crypto/tink-go/v2/prf/hmacprf"
	"github.com/tink-crypto/tink-go/v2/secretdata"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Keyring seals what Redis keeps and signs what the card processor keeps for
// us. The first key seals and signs; every key opens and verifies, so a key is
// rotated by putting a new one in front and dropping the old one after the
// longest life of a record.
//
// Each purpose has a keyset of its own, derived from the same secrets: records
// are sealed (AES-256-GCM), tokens and metadata are signed (HMAC-SHA-256), and
// what could be guessed is named (a pseudorandom function). Nothing that the card
// processor remembers a request by, such as an idempotency key, is made with a
// key: a rotation changes no request that was made before.
type Keyring struct {
	seal          tink.AEAD
	sign          tink.MAC
	pseudonymKeys []pseudonymKey
}

// pseudonymKey is what one secret names things with.
type pseudonymKey struct {
	id  []byte // stands in front of every name, and tells the secret
	prf prf.PRF
}

const (
	// subkey is the length of every derived key: that of AES-256, and of a hash.
	subkey = 32
	// keyID is the length of what tells secrets apart, as it stands in front of what was sealed.
	keyID = 4
)

// ErrSealed says that something is not sealed or signed by any key of the ring, or was altered.
var ErrSealed = errors.New("flows: not sealed by a known key")

// New makes a ring from secrets of at least 32 bytes each, the current one first.
func New(secrets ...[]byte) (*Keyring, error) {
	if len(secrets) == 0 {
		return nil, errors.New("at least one key is needed")
	}
	for i, secret := range secrets {
		if len(secret) < subkey {
			return nil, fmt.Errorf("key %d is %d bytes long, at least %d are needed", i+1, len(secret), subkey)
		}
	}
	secrets = distinctSecrets(secrets)
	ring := &Keyring{}
	sealing, _, sealErr := ringOf(secrets, sealingKey)
	signing, _, signErr := ringOf(secrets, signingKey)
	naming, names, nameErr := ringOf(secrets, derivePseudonymKey)
	err := errors.Join(sealErr, signErr, nameErr)
	if err != nil {
		return nil, err
	}
	if ring.seal, err = aead.New(sealing); err != nil {
		return nil, err
	}
	if ring.sign, err = mac.New(signing); err != nil {
		return nil, err
	}
	set, err := prf.NewPRFSet(naming)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		ring.pseudonymKeys = append(ring.pseudonymKeys, pseudonymKey{derive(secrets[i], "id", keyID), set.PRFs[name]})
	}
	return ring, nil
}

// distinctSecrets leaves out what is in the list already.
func distinctSecrets(secrets [][]byte) (kept [][]byte) {
	for _, secret := range secrets {
		if !slices.ContainsFunc(kept, func(other []byte) bool { return bytes.Equal(secret, other) }) {
			kept = append(kept, secret)
		}
	}
	return kept
}

// ringOf makes the keyset of one purpose, with the numbers that its keys have there.
func ringOf(secrets [][]byte, keyOf func(secret []byte) (key.Key, error)) (*keyset.Handle, []uint32, error) {
	manager := keyset.NewManager()
	numbers := make([]uint32, len(secrets))
	for i, secret := range secrets {
		made, err := keyOf(secret)
		if err != nil {
			return nil, nil, err
		}
		if numbers[i], err = manager.AddKey(made); err != nil {
			return nil, nil, err
		}
	}
	if err := manager.SetPrimary(numbers[0]); err != nil {
		return nil, nil, err
	}
	handle, err := manager.Handle()
	return handle, numbers, err
}

// sealingKey is one whose sealed texts begin with its number, which every gateway
// derives alike.
func sealingKey(secret []byte) (key.Key, error) {
	// 12 and 16 bytes of nonce and tag are what every AES-GCM has; the library wants them said.
	parameters, err := aesgcm.NewParameters(aesgcm.ParametersOpts{KeySizeInBytes: subkey, IVSizeInBytes: 12, TagSizeInBytes: 16, Variant: aesgcm.VariantTink})
	if err != nil {
		return nil, err
	}
	return aesgcm.NewKey(derived(secret, "seal"), binary.BigEndian.Uint32(derive(secret, "id", keyID)), parameters)
}

// signingKey is one whose signatures are the plain HMAC, as the card processor keeps it.
func signingKey(secret []byte) (key.Key, error) {
	parameters, err := hmac.NewParameters(hmac.ParametersOpts{KeySizeInBytes: subkey, TagSizeInBytes: subkey, HashType: hmac.SHA256, Variant: hmac.VariantNoPrefix})
	if err != nil {
		return nil, err
	}
	return hmac.NewKey(derived(secret, "mac"), parameters, 0)
}

func derivePseudonymKey(secret []byte) (key.Key, error) {
	parameters, err := hmacprf.NewParameters(subkey, hmacprf.SHA256)
	if err != nil {
		return nil, err
	}
	return hmacprf.NewKey(derived(secret, "hide"), parameters)
}

func derived(secret []byte, purpose string) secretdata.Bytes {
	return secretdata.NewBytesFromData(derive(secret, purpose, subkey), insecuresecretdataaccess.Token{})
}

// derive makes keys of their own out of a secret. HKDF fails only for lengths over 255 hashes.
func derive(secret []byte, purpose string, length int) []byte {
	made, _ := hkdf.Key(sha256.New, secret, nil, "frontdesk "+purpose, length)
	return made
}

// Seal encrypts and authenticates; name is what the text belongs to, and the
// same name is needed to open it, so that records cannot be swapped.
func (k *Keyring) Seal(name string, text []byte) []byte {
	sealed, err := k.seal.Encrypt(text, []byte(name))
	if err != nil {
		panic(err) // only a text of 64 GB is too long for the cipher
	}
	return sealed
}

// Open reverses Seal. ErrSealed when it cannot.
func (k *Keyring) Open(name string, sealed []byte) ([]byte, error) {
	text, err := k.seal.Decrypt(sealed, []byte(name))
	if err != nil {
		return nil, ErrSealed
	}
	return text, nil
}

// Current tells whether something was sealed with the first key, so that it stays
// readable when the others are dropped.
func (k *Keyring) Current(sealed []byte) bool {
	return len(sealed) > keyID && bytes.Equal(sealed[1:1+keyID], k.pseudonymKeys[0].id) // a byte of the layout stands first
}

// Sign returns an HMAC-SHA-256 over the text.
func (k *Keyring) Sign(text []byte) []byte {
	signature, err := k.sign.ComputeMAC(text)
	if err != nil {
		panic(err) // a hash takes every text
	}
	return signature
}

// Verify tells whether any key of the ring signed the text.
func (k *Keyring) Verify(text, signature []byte) bool {
	return k.sign.VerifyMAC(signature, text) == nil
}

// Pseudonym makes a name, in hex, out of a text that could be guessed from a plain
// hash, such as a contact's identifier. The purpose keeps names for one thing
// apart from those for another.
func (k *Keyring) Pseudonym(purpose, text string) string { return k.Pseudonyms(purpose, text)[0] }

// Pseudonyms is Hide with every key of the ring, the current one first, for
// names that were made before a rotation. The first eight characters tell the key.
func (k *Keyring) Pseudonyms(purpose, text string) []string {
	names := make([]string, len(k.pseudonymKeys))
	for i, namer := range k.pseudonymKeys {
		name, err := namer.prf.ComputePRF(fmt.Appendf(nil, "%d:%s%s", len(purpose), purpose, text), subkey)
		if err != nil {
			panic(err) // it fails for lengths over that of its hash alone
		}
		names[i] = hex.EncodeToString(append(bytes.Clone(namer.id), name...))
	}
	return names
}
