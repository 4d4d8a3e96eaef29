package flows

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
)

// TokenBits is how many bytes of a token are random; its signature follows them.
const TokenBits = 32

// RandomToken makes 256 random bits, and what is stored of them.
func RandomToken() (token, hash string) {
	bits := make([]byte, TokenBits)
	rand.Read(bits)
	token = base64.RawURLEncoding.EncodeToString(bits)
	return token, HashToken(token)
}

// HashToken returns what is stored of a token: its SHA-256, in hex.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// TokenMatches tells whether a token is the one that a hash was made of, in a time
// that does not depend on how much of it is right.
func TokenMatches(token, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(HashToken(token)), []byte(hash)) == 1
}
