package flows

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
)

// newToken makes 256 random bits for the holder, and what is stored of them.
func newToken() (token, hash string) {
	bits := make([]byte, 32)
	rand.Read(bits)
	token = base64.RawURLEncoding.EncodeToString(bits)
	return token, hashToken(token)
}

func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// holds tells whether a token is the one that a hash was made of, in a time
// that does not depend on how much of it is right.
func holds(token, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(hashToken(token)), []byte(hash)) == 1
}
