package clubsim

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// The grants of a token. With the last two, which are not documented, a client acts as one of its contacts or clubs.
const (
	grantClient  = "client_credentials"
	grantContact = "http://contactclientcredentials"
	grantClub    = "http://clubclientcredentials"
)

// tokenOperations are the grants, with the name of each in the journal.
var tokenOperations = map[string]string{grantClient: "token", grantContact: "contactToken", grantClub: "clubToken"}

// caller is what an access token authenticates.
type caller struct {
	Client  string // client_id, which is also the caller's home world
	Contact int    // the contact of a contact's own token; zero: not one
	Club    int    // the club of a club's own token; zero: not one
	Expires int64  // Unix seconds of the home world's clock
}

// mayEnter reports whether the caller may use a world. The organisation's client may use
// every demo world, a world's own client only that one.
func (c caller) mayEnter(token string) bool {
	return IsWorld(token) && (token == c.Client || c.Client == DemoClientID && c.Contact == 0 && c.Club == 0)
}

// maySee reports whether the caller may read a contact: with its own token, only itself.
func (c caller) maySee(contactID int) bool { return c.Contact == 0 || c.Contact == contactID }

// issue makes an access token. Tokens are opaque to clients. They contain the caller and a
// signature, so they use no memory and survive a restart of the simulator.
func (s *Server) issue(c caller) string {
	text := fmt.Appendf(nil, "%d %d %d %d %s", s.lastToken.Add(1), c.Expires, c.Contact, c.Club, c.Client)
	payload := base64.RawURLEncoding.EncodeToString(text)
	return payload + "." + signToken(payload)
}

func parseToken(token string) (parsed caller, valid bool) {
	payload, signature, _ := strings.Cut(token, ".")
	if !hmac.Equal([]byte(signature), []byte(signToken(payload))) {
		return caller{}, false
	}
	raw, _ := base64.RawURLEncoding.DecodeString(payload)
	var serial int64
	_, err := fmt.Sscan(string(raw), &serial, &parsed.Expires, &parsed.Contact, &parsed.Club, &parsed.Client)
	return parsed, err == nil
}

func signToken(payload string) string {
	mac := hmac.New(sha256.New, []byte(DemoIdentitySecret))
	mac.Write([]byte("access-token|" + payload))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// authenticate checks the gateway key and the bearer token.
func (s *Server) authenticate(r *http.Request) (caller, error) {
	if !hasGatewayKey(r.Header) {
		return caller{}, failure(http.StatusUnauthorized, "", "Unauthorized")
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return caller{}, unauthorized()
	}
	c, valid := parseToken(strings.TrimSpace(token))
	if home := s.World(c.Client); !valid || home == nil || home.Now().Unix() >= c.Expires {
		return caller{}, unauthorized()
	}
	return c, nil
}

func unauthorized() error {
	e := failure(http.StatusUnauthorized, "", "The access token provided has expired or is invalid.")
	e.header = http.Header{"Www-Authenticate": {`Bearer error="invalid_token"`}}
	return e
}

// hasGatewayKey looks for the key of the API gateway. Installations use differently named
// headers, so any x-…-api-key is accepted; x-gateway-api-key is documented.
func hasGatewayKey(header http.Header) bool {
	for name, values := range header {
		if strings.HasPrefix(name, "X-") && strings.HasSuffix(name, "-Api-Key") && len(values) == 1 && values[0] == DemoGatewayKey {
			return true
		}
	}
	return false
}

// isTokenPath accepts the documented path, and the same below a client token, which some
// installations use.
func isTokenPath(path []string) bool {
	if len(path) == 4 && IsWorld(path[0]) {
		path = path[1:]
	}
	return strings.Join(path, "/") == "oauth/v2/token"
}

// serveToken handles POST /oauth/v2/token (club system API, section Token). Faults and the
// journal are those of the client's own world, or of the world in the path for the token of
// a contact or a club, of which the organisation's client has some in every demo world.
func (s *Server) serveToken(rw http.ResponseWriter, req *httpRequest) {
	fields, unreadable := tokenFields(req)
	world := s.World(fields.Get("client_id"))
	if below := req.path[0]; fields.Get("grant_type") != grantClient && world != nil && (caller{Client: world.clientToken}).mayEnter(below) {
		world = s.World(below)
	}
	fault := world.disturb(rw.Header(), req.Method, "/oauth/v2/token")
	entry := Request{
		Method:    req.Method,
		Path:      "/oauth/v2/token",
		Operation: cmp.Or(tokenOperations[fields.Get("grant_type")], tokenOperations[grantClient]),
		Fault:     fault.Kind,
		TraceID:   traceID(req.Header),
	}
	began := s.cfg.Now()
	effect := func() httpResponse { return world.issueToken(req, fields, unreadable) }
	s.respond(rw, req, fault, effect, func(status int) { world.recordRequest(entry, began, status) })
}

// tokenFields reads the form data, urlencoded or multipart.
func tokenFields(req *httpRequest) (fields url.Values, unreadable error) {
	kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	req.Body = io.NopCloser(bytes.NewReader(req.body))
	switch kind {
	case "application/x-www-form-urlencoded":
		unreadable = req.ParseForm() // #nosec G120 -- the body was read within maxBody
	case "multipart/form-data":
		unreadable = req.ParseMultipartForm(maxBody) // #nosec G120 -- the body was read within maxBody
	default:
		return nil, errors.New("clubsim: no form data")
	}
	return req.PostForm, unreadable
}

// issueToken checks a token request in the same order as business requests: key, method,
// form. The world is nil for an unknown client.
func (w *World) issueToken(req *httpRequest, fields url.Values, unreadable error) httpResponse {
	switch {
	case !hasGatewayKey(req.Header):
		return failure(http.StatusUnauthorized, "", "Unauthorized").render(DefaultSettings())
	case req.Method != http.MethodPost:
		return methodNotAllowed(http.MethodPost).render(DefaultSettings())
	case unreadable != nil:
		return oauthError(http.StatusBadRequest, "invalid_request", "The token request must be form data.")
	case fields.Get("grant_type") == "":
		return oauthError(http.StatusBadRequest, "invalid_request", "grant_type: "+messageBlank)
	case tokenOperations[fields.Get("grant_type")] == "":
		return oauthError(http.StatusBadRequest, "unsupported_grant_type", "grant_type must be client_credentials.")
	case w == nil || fields.Get("client_secret") != DemoClientSecret:
		return oauthError(http.StatusUnauthorized, "invalid_client", "The client credentials are invalid.")
	case len(req.path) == 4 && !(caller{Client: w.clientToken}).mayEnter(req.path[0]):
		return errorResponse(itemNotFound(), DefaultSettings())
	}
	return w.grantToken(fields)
}

// grantToken is the response to a token request (RFC 6749, section 5.1).
func (w *World) grantToken(fields url.Values) httpResponse {
	w.mu.Lock()
	defer w.mu.Unlock()
	var of caller
	switch fields.Get("grant_type") {
	case grantContact:
		of.Contact = w.contactWithEmail(fields.Get("email"))
	case grantClub:
		if at := w.catalogue.club(w.parseIRI("clubs", fields.Get("clubId"))); w.inScope(at) {
			of.Club = at.ID
		}
	}
	if fields.Get("grant_type") != grantClient && of == (caller{}) {
		return oauthError(http.StatusBadRequest, "invalid_grant", "The email or clubId of this grant is not known.")
	}
	r := record{"access_token": w.accessToken(of, w.now()), "token_type": "Bearer"}
	if w.settings.TokenExpiresIn {
		r["expires_in"] = w.settings.TokenLifetime
	}
	return jsonResponse(http.StatusOK, r)
}

// contactWithEmail returns the number of the first contact of the organisation with an e-mail address, in whichever club; zero:
// none. A registration may have given the address to its temporary contact as well, which has no account.
func (w *World) contactWithEmail(email string) int {
	for _, k := range w.state.Contacts.Rows {
		if email != "" && strings.EqualFold(k.Email, email) && !k.Deleted && k.Status != statusTemp && w.inScope(w.catalogue.club(k.ClubID)) {
			return k.ID
		}
	}
	return 0
}

func (w *World) accessToken(of caller, now time.Time) string {
	of.Client, of.Expires = w.clientToken, now.Add(w.settings.TokenLifetime.Duration()).Unix()
	return w.server.issue(of)
}

func oauthError(status int, code, description string) httpResponse {
	return jsonResponse(status, record{"error": code, "error_description": description})
}

// identityLifetime is the longest accepted life of an identity token.
const identityLifetime = 10 * time.Minute

// identityKeyID names the one key of the simulated login.
const identityKeyID = "demo-login-1"

// identityKey is the key of the simulated login. It derives from the secret, so that tokens
// are valid at every simulator with that secret, and after a restart.
func identityKey() ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("identity-token|" + DemoIdentitySecret))
	return ed25519.NewKeyFromSeed(seed[:])
}

// identityKeys are the login's public keys (RFC 7517, RFC 8037), the same in every world.
func identityKeys() record {
	public, _ := identityKey().Public().(ed25519.PublicKey)
	return record{"keys": []record{{
		"kty": "OKP", "crv": "Ed25519", "kid": identityKeyID, "use": "sig", "alg": "EdDSA", "x": base64.RawURLEncoding.EncodeToString(public),
	}}}
}

// identityToken signs a contact's identity as the club's own login does. The login is not
// part of the club system: it has the clock of those who read the token.
func (w *World) identityToken(contact *contact) string {
	now := w.callersNow()
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{
		"sub": itoa(contact.ID), "club": itoa(contact.ClubID), "aud": w.clientToken, "iat": now.Unix(), "exp": now.Add(identityLifetime).Unix(),
	})
	token.Header["kid"] = identityKeyID
	signed, err := token.SignedString(identityKey())
	if err != nil {
		panic(err) // a map of strings and numbers is signed by a key that was just made
	}
	return signed
}
