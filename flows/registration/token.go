package registration

import (
	"crypto/rand"
	"encoding/base64"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
)

// newToken makes 256 random bits for a registration's holder, signed, and what is
// stored of them.
func newToken(keys *keyring.Keyring, registration string) (token, hash string) {
	bits := make([]byte, flows.TokenBits)
	rand.Read(bits)
	token = base64.RawURLEncoding.EncodeToString(append(bits, keys.Sign(tokenText(registration, bits))...))
	return token, flows.HashToken(token)
}

// tokenText is what a token's signature is over. Its first line keeps it apart
// from everything else that is signed with the same key.
func tokenText(registration string, bits []byte) []byte {
	return append([]byte("registration token\n"+registration+"\n"), bits...)
}

// tokenSignedFor tells whether we made a token for a registration, which needs no
// memory of either.
func tokenSignedFor(keys *keyring.Keyring, registration, token string) bool {
	all, err := base64.RawURLEncoding.DecodeString(token)
	return err == nil && len(all) > flows.TokenBits && keys.Verify(tokenText(registration, all[:flows.TokenBits]), all[flows.TokenBits:])
}

// TokenIssued tells whether a token was made for a registration. Whether its holder still
// holds it, only the registration knows.
func (f *Service) TokenIssued(id, token string) bool {
	return tokenSignedFor(f.cfg.Keys, id, token)
}
