package captcha_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"frontdesk/upstream/captcha"
)

// TestSecretGoesNowhereElse: following a redirect that keeps the method would send the secret and the
// visitor's address elsewhere.
func TestSecretGoesNowhereElse(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Write([]byte(`{"success":true}`))
	}))
	t.Cleanup(elsewhere.Close)
	redirector := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirector.Close)
	err := captcha.New(captcha.Config{URL: redirector.URL, Secret: "s"}).Verify(t.Context(), "answer", "192.0.2.1")
	if !errors.Is(err, captcha.ErrUnavailable) || asked.Load() != 0 {
		t.Errorf("the redirect is answered with %v, after %d requests elsewhere", err, asked.Load())
	}
}
