package flows

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
)

// tokenBits is how many bytes of a token are random; its signature follows them.
const tokenBits = 32

// randomToken makes 256 random bits, and what is stored of them.
func randomToken() (token, hash string) {
	bits := make([]byte, tokenBits)
	rand.Read(bits)
	token = base64.RawURLEncoding.EncodeToString(bits)
	return token, hashToken(token)
}

// newToken makes 256 random bits for a registration's holder, signed, and what is
// stored of them.
func newToken(keys *Keyring, registration string) (token, hash string) {
	bits := make([]byte, tokenBits)
	rand.Read(bits)
	token = base64.RawURLEncoding.EncodeToString(append(bits, keys.Sign(tokenText(registration, bits))...))
	return token, hashToken(token)
}

// tokenText is what a token's signature is over. Its first line keeps it apart
// from everything else that is signed with the same key.
func tokenText(registration string, bits []byte) []byte {
	return append([]byte("registration token\n"+registration+"\n"), bits...)
}

// tokenSignedFor tells whether we made a token for a registration, which needs no
// memory of either.
func tokenSignedFor(keys *Keyring, registration, token string) bool {
	all, err := base64.RawURLEncoding.DecodeString(token)
	return err == nil && len(all) > tokenBits && keys.Verify(tokenText(registration, all[:tokenBits]), all[tokenBits:])
}

// TokenIssued tells whether a token was made for a registration. Whether its holder still
// holds it, only the registration knows.
func (f *Registrations) TokenIssued(id, token string) bool {
	return tokenSignedFor(f.cfg.Keys, id, token)
}

func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// tokenMatches tells whether a token is the one that a hash was made of, in a time
// that does not depend on how much of it is right.
func tokenMatches(token, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(hashToken(token)), []byte(hash)) == 1
}
