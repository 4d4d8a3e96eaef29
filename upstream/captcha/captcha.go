// Package captcha asks the service behind a captcha whether a
// browser's answer to it is right. It speaks what hCaptcha, Turnstile and reCAPTCHA
// have in common, the "siteverify" request: a form with secret, response and
// remoteip, answered by {"success": true}. Which routes ask for an answer, and of
// whom, is a matter of handlers.
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

// The figures of the request.
const (
	// verifyTimeout: a visitor waits for it, and the request goes on without it.
	verifyTimeout = 5 * time.Second
	// maxResponse bounds the answer; the longest of the known ones is below 2 KiB.
	maxResponse = 64 << 10
)

// The outcomes that a caller has to tell apart.
var (
	// ErrRefused: the answer is wrong, too old, or was used before.
	ErrRefused = errors.New("captcha: not a valid answer")
	// ErrUnavailable: the service gave no verdict, or does not know our secret.
	ErrUnavailable = errors.New("captcha: no verdict")
)

// Config says whom to ask. URL and Secret are required.
type Config struct {
	URL    string       // where answers are verified, such as https://challenges.cloudflare.com/turnstile/v0/siteverify
	Secret string       // which proves to the service that we are the site
	HTTP   *http.Client // nil: one with a timeout that follows no redirects
}

// Verifier verifies answers.
type Verifier struct{ cfg Config }

// New makes a verifier.
func New(cfg Config) *Verifier {
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{Timeout: verifyTimeout, CheckRedirect: refuseRedirects}
	}
	return &Verifier{cfg: cfg}
}

// refuseRedirects follows no redirect: one that keeps the method would take our secret along.
func refuseRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// verifyResponse is what the services have in common in their answers.
type verifyResponse struct {
	Success *bool    `json:"success"`
	Errors  []string `json:"error-codes"`
}

// misconfiguredCodes are the errors that no visitor can cause: the secret is wrong.
var misconfiguredCodes = []string{"missing-input-secret", "invalid-input-secret"}

// Verify tells whether a browser's answer is right. from is the visitor's address, which
// the service compares with the one that it saw; empty when not known. ErrRefused,
// ErrUnavailable. An answer can be verified once.
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
	response, err := v.cfg.HTTP.Do(request)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer response.Body.Close()
	var said verifyResponse
	// Some services say no with a status of their own: what counts is the verdict.
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
