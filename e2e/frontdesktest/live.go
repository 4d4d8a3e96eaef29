package frontdesktest

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
)

// Credentials of an organisation other than the demo's, which live mode refuses.
const (
	liveToken      = "gym-4711"
	liveClientID   = "gym-4711-signup"
	liveSecret     = "qT7vZk2mWx9c"
	liveGatewayKey = "gk_5Nq8sYp3Lr"
)

// confirmer is a subscriber that is said to send confirmations. It cannot be reached.
const confirmer = `[{"name": "mailer", "url": "https://mailer.gym-4711.fr/hooks", "events": ["registration.completed"], "confirms": true,
	"secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}]` // #nosec G101 -- the example of the Standard Webhooks specification

// Live is the environment of a gateway in live mode. As live mode demands, everything is reached by
// https and is safe. Doubles stand in for the upstreams.
type Live struct {
	Upstreams *Upstreams
	Processor *sandbox.Server   // sends its webhooks nowhere yet
	Redis     string            // its URL
	Front     *httptest.Server  // what visitors reach: a proxy that ends TLS
	Env       map[string]string // the gateway's variables

	mu      sync.Mutex
	gateway *url.URL // behind Front
}

// NewLive makes an environment in which live mode starts. options are for its Redis.
func NewLive(t TB, options ...string) *Live {
	t.Helper()
	live := &Live{Upstreams: NewUpstreams(t), Redis: NewDurableRedis(t, options...)}
	live.Processor = sandbox.New(sandbox.Config{Accounts: []sandbox.Account{
		{
			SecretKey:      "sk_live_" + rand.Text(),
			PublishableKey: "pk_live_" + rand.Text(),
			WebhookSecrets: []string{"whsec_" + rand.Text() + rand.Text()},
		},
	}})
	t.Cleanup(live.Processor.Close)
	club, cards := newTLSServer(t, http.HandlerFunc(live.clubSystem)), newTLSServer(t, live.Processor)
	live.Front = newTLSServer(t, http.HandlerFunc(live.proxy))
	sealKey, token := sha256.Sum256([]byte(rand.Text())), sha256.Sum256([]byte(rand.Text()))
	live.Env = map[string]string{
		"FRONTDESK_MODE":                   "live",
		"FRONTDESK_REDIS_URL":              live.Redis,
		"FRONTDESK_PUBLIC_URL":             live.Front.URL,
		"SSL_CERT_FILE":                    certificateFile(t, live.Front),
		"FRONTDESK_CLUB_URL":               club.URL,
		"FRONTDESK_CLUB_TOKEN":             liveToken,
		"FRONTDESK_CLUB_CLIENT_ID":         liveClientID,
		"FRONTDESK_CLUB_CLIENT_SECRET":     liveSecret,
		"FRONTDESK_CLUB_GATEWAY_KEY":       liveGatewayKey,
		"FRONTDESK_STRIPE_URL":             cards.URL,
		"FRONTDESK_STRIPE_SECRET_KEY":      live.Processor.SecretKey,
		"FRONTDESK_STRIPE_PUBLISHABLE_KEY": live.Processor.PublishableKey,
		"FRONTDESK_STRIPE_WEBHOOK_SECRET":  live.Processor.WebhookSecret,
		"FRONTDESK_IDENTITY_SECRET":        rand.Text() + rand.Text(),
		"FRONTDESK_IDENTITY_AUDIENCE":      "signup",
		"FRONTDESK_IDENTITY_ISSUER":        "https://login.gym-4711.fr",
		"FRONTDESK_OPERATORS":              "ada:" + fmt.Sprintf("%x", token),
		"FRONTDESK_CLUBS_FILE":             ApprovedClubs(t),
		"FRONTDESK_SEAL_KEYS":              base64.StdEncoding.EncodeToString(sealKey[:]),
		"FRONTDESK_STAFF_KEYS":             rand.Text(),
		"FRONTDESK_ALLOWED_ORIGINS":        "https://www.gym-4711.fr",
		"FRONTDESK_DRAIN_DELAY":            "1s",
		"FRONTDESK_SUBSCRIBERS":            confirmer,
		"FRONTDESK_METRICS_ADDR":           "127.0.0.1:0",
	}
	return live
}

// approvedClubs is an operator's file in which nothing is missing.
const approvedClubs = `
defaults:
  timeZone: Europe/Paris
  documents:
    terms: {version: "3.1", files: {en: terms.txt}}
    privacy: {version: "3.1", files: {en: privacy.txt}}
    withdrawal_information: {version: "3.1", files: {en: withdrawal.txt}}
    early_start_request: {version: "3.1", files: {en: early.txt}}
    mandate_text: {version: "3.1", files: {en: mandate.txt}}
    guarantee_notice: {version: "3.1", files: {en: guarantee.svg}}
  creditor: {name: Gym 4711, identifier: FR72ZZZ123456, address: {street: 1 rue du Lac, postalCode: "75004", city: Paris, country: FR}}
  trader: {name: Gym 4711}
  mediator: {name: Mediation 4711, url: "https://mediation.gym-4711.fr"}
  proofs: {email: proofs@gym-4711.fr}
  cancellation: {effects: {en: Access ends on the last day.}}
`

// ApprovedClubs writes an operator's file with documents that are no placeholders, and returns its path.
func ApprovedClubs(t TB) (path string) {
	t.Helper()
	folder := t.TempDir()
	path = filepath.Join(folder, "clubs.yaml")
	Must(t, os.WriteFile(path, []byte(approvedClubs), 0o600))
	for _, name := range []string{"terms", "privacy", "withdrawal", "early", "mandate"} {
		Must(t, os.WriteFile(filepath.Join(folder, name+".txt"), []byte("What the club says for {creditor}: "+name), 0o600))
	}
	const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 595 842"><rect width="595" height="842" fill="#039"/></svg>`
	Must(t, os.WriteFile(filepath.Join(folder, "guarantee.svg"), []byte(picture), 0o600))
	return path
}

// newTLSServer serves a handler over https.
func newTLSServer(t TB, handler http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server
}

// certificateFile writes the certificate that a gateway trusts: the test servers share a certificate.
func certificateFile(t TB, server *httptest.Server) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "roots.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	Must(t, os.WriteFile(path, text, 0o600))
	return path
}

// clubSystem is the simulator's demo organisation under another name and with other credentials: it
// translates requests and responses.
func (l *Live) clubSystem(w http.ResponseWriter, r *http.Request) {
	in := strings.NewReplacer(
		liveClientID, clubsim.DemoClientID, liveToken, clubsim.DemoClientToken, liveSecret, clubsim.DemoClientSecret,
		liveGatewayKey, clubsim.DemoGatewayKey,
	)
	out := strings.NewReplacer("/"+clubsim.DemoClientToken+"/", "/"+liveToken+"/", `\/`+clubsim.DemoClientToken+`\/`, `\/`+liveToken+`\/`)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	request, err := http.NewRequestWithContext(
		r.Context(), r.Method, l.Upstreams.URL+"/sim"+in.Replace(r.URL.RequestURI()),
		strings.NewReader(in.Replace(string(body))),
	)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	for name, values := range r.Header {
		request.Header.Set(name, in.Replace(values[0]))
	}
	request.Header.Del("Accept-Encoding")
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		panic(http.ErrAbortHandler) // as the simulator did
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), response.Header)
	w.Header().Del("Content-Length")
	w.WriteHeader(response.StatusCode)
	io.Copy(w, bytes.NewReader([]byte(out.Replace(string(text)))))
}

// proxy terminates TLS in front of the gateway.
func (l *Live) proxy(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	at := l.gateway
	l.mu.Unlock()
	if at == nil {
		http.Error(w, "no gateway yet", http.StatusBadGateway)
		return
	}
	httputil.NewSingleHostReverseProxy(at).ServeHTTP(w, r)
}

// Environment returns the environment with changes; an empty value removes a variable.
func (l *Live) Environment(changes map[string]string) (environment []string) {
	env := maps.Clone(l.Env)
	maps.Copy(env, changes)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if env[name] != "" {
			environment = append(environment, name+"="+env[name])
		}
	}
	return environment
}

// Start runs a gateway behind the front, and returns a visitor of it.
func (l *Live) Start(t TB) (*Process, *Client) {
	t.Helper()
	// A disk that is busy with other tests sometimes keeps Redis from answering in time. The gateway then
	// refuses to start, as it should.
	var process *Process
	Eventually(t, "a gateway in live mode starts", func() bool {
		process = TryStart(t, l.Environment(nil)...)
		if process.URL == "" && !strings.Contains(process.Log(), "redis ") {
			t.Fatal(process.Log())
		}
		return process.URL != ""
	})
	at, err := url.Parse(process.URL)
	Must(t, err)
	l.mu.Lock()
	l.gateway = at
	l.mu.Unlock()
	c := NewClient(t, l.Front.URL)
	c.UpstreamsURL = l.Upstreams.URL
	roots := x509.NewCertPool()
	roots.AddCert(l.Front.Certificate())
	c.UseTransport(&http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}})
	return process, c
}
