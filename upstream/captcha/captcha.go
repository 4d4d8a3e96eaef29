// Package captcha asks a captcha service whether a browser's response is valid. It uses the
// "siteverify" request of hCaptcha, Turnstile and reCAPTCHA: a form with secret, response and
// remoteip, answered by {"success": true}. The handlers decide which routes need a captcha.
//
// Start reading at Verifier.Verify.
package captcha

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	// verifyTimeout is short because a visitor waits, and the request continues without a
	// verdict.
	verifyTimeout = 5 * time.Second
	// maxResponse limits the service's response; the longest known one is below 2 KiB.
	maxResponse = 64 << 10
)

// The outcomes of Verify.
var (
	// ErrRefused: the response is wrong, too old, or was used before.
	ErrRefused = errors.New("captcha: not a valid response")
	// ErrUnavailable: the service gave no verdict, or does not know our secret.
	ErrUnavailable = errors.New("captcha: no verdict")
)

// Config names the service. URL and Secret are required.
type Config struct {
	URL    string // where responses are verified, such as https://challenges.cloudflare.com/turnstile/v0/siteverify
	Secret string // which proves to the service that we are the site
	Widget Widget
}

// Widget is what a page needs to show a captcha.
type Widget struct {
	Provider string // HCaptcha, ReCAPTCHA or Turnstile; empty: another one
	SiteKey  string // public; empty: the page knows it
}

// The providers whose widgets the signup site can show.
const (
	HCaptcha  = "hcaptcha"
	ReCAPTCHA = "recaptcha"
	Turnstile = "turnstile"
)

// ProviderAt returns the provider that verifies responses at an address; empty for another one.
func ProviderAt(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	switch strings.TrimPrefix(u.Hostname(), "www.") {
	case "hcaptcha.com", "api.hcaptcha.com":
		return HCaptcha
	case "google.com", "recaptcha.net":
		return ReCAPTCHA
	case "challenges.cloudflare.com":
		return Turnstile
	}
	return ""
}

// Verifier verifies responses.
type Verifier struct {
	cfg  Config
	http *http.Client
}

// New returns a verifier.
func New(cfg Config) *Verifier {
	return &Verifier{cfg: cfg, http: &http.Client{
		Timeout: verifyTimeout,
		// A redirect that keeps the method would forward our secret.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Widget returns what a page needs to show the captcha; nothing for a nil verifier.
func (v *Verifier) Widget() Widget {
	if v == nil {
		return Widget{}
	}
	return v.cfg.Widget
}

// verifyResponse has the fields that the services share.
type verifyResponse struct {
	Success *bool    `json:"success"`
	Errors  []string `json:"error-codes"`
}

// misconfiguredCodes are the errors that no visitor can cause: the secret is wrong.
var misconfiguredCodes = []string{"missing-input-secret", "invalid-input-secret"}

// Verify checks a browser's response, once. The service compares from, the visitor's address,
// with the one that it saw; empty: not known. It fails with ErrRefused or ErrUnavailable.
func (v *Verifier) Verify(ctx context.Context, answer, from string) error {
	form := url.Values{"secret": {v.cfg.Secret}, "response": {answer}}
	if from != "" {
		form.Set("remoteip", from)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, v.cfg.URL, strings.NewReader(form.Encode()))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := v.http.Do(request)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer response.Body.Close()
	var said verifyResponse
	// Some services send an error status with a verdict; only the verdict counts.
	if err := json.NewDecoder(io.LimitReader(response.Body, maxResponse)).Decode(&said); err != nil || said.Success == nil {
		return fmt.Errorf("%w: status %d without a verdict", ErrUnavailable, response.StatusCode)
	}
	switch {
	case *said.Success:
		return nil
	case slices.ContainsFunc(said.Errors, func(code string) bool { return slices.Contains(misconfiguredCodes, code) }):
		return fmt.Errorf("%w: the secret is not accepted", ErrUnavailable)
	}
	return ErrRefused
}
