package clubsim

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// identityLifetime is the longest accepted life of an identity token.
const identityLifetime = 10 * time.Minute

// identityKeyID names the one key of the simulated login.
const identityKeyID = "demo-login-1"

// identityKey is the key of the simulated login. It derives from the secret, so that tokens
// are valid at every simulator with that secret, and after a restart.
func (s *Server) identityKey() ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("identity-token|" + DemoIdentitySecret))
	return ed25519.NewKeyFromSeed(seed[:])
}

// identityKeys are the login's public keys (RFC 7517, RFC 8037), the same in every world.
func (s *Server) identityKeys() record {
	public, _ := s.identityKey().Public().(ed25519.PublicKey)
	return record{"keys": []record{{
		"kty": "OKP", "crv": "Ed25519", "kid": identityKeyID, "use": "sig", "alg": "EdDSA", "x": base64.RawURLEncoding.EncodeToString(public),
	}}}
}

// identityToken signs a contact's identity as the club's own login does. The login is not
// part of the club system, so the real clock counts, not the world's.
func (w *World) identityToken(k *contact) string {
	now := w.server.cfg.Now()
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{
		"sub": itoa(k.ID), "club": itoa(k.ClubID), "aud": w.clientToken, "iat": now.Unix(), "exp": now.Add(identityLifetime).Unix(),
	})
	token.Header["kid"] = identityKeyID
	signed, err := token.SignedString(w.server.identityKey())
	if err != nil {
		panic(err) // a map of strings and numbers is signed by a key that was just made
	}
	return signed
}
