package captcha_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"frontdesk/upstream/captcha"
)

// service is the captcha service: it gives the same response to every request, and keeps the last request's
// form.
type service struct {
	*httptest.Server
	asked url.Values
}

func newService(t *testing.T, status int, response string) *service {
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.ParseForm() == nil {
			s.asked = r.PostForm
		}
		w.WriteHeader(status)
		io.WriteString(w, response)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status   int
		response string
		want     error
	}{
		"right":               {200, `{"success": true, "hostname": "club.example", "error-codes": []}`, nil},
		"wrong":               {200, `{"success": false, "error-codes": ["invalid-input-response"]}`, captcha.ErrRefused},
		"used before":         {400, `{"success": false, "error-codes": ["timeout-or-duplicate"]}`, captcha.ErrRefused},
		"no reason":           {200, `{"success": false}`, captcha.ErrRefused},
		"made to look broken": {200, `{"success": false, "error-codes": ["bad-request"]}`, captcha.ErrRefused},
		"our secret":          {200, `{"success": false, "error-codes": ["invalid-input-secret"]}`, captcha.ErrUnavailable},
		"failed":              {500, `oh`, captcha.ErrUnavailable},
		"no verdict":          {200, `{}`, captcha.ErrUnavailable},
		"another document":    {200, `<html>`, captcha.ErrUnavailable},
		"endless":             {200, `{"success"` + strings.Repeat(" ", 70<<10) + `: true}`, captcha.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			service := newService(t, test.status, test.response)
			err := captcha.New(captcha.Config{URL: service.URL, Secret: "the secret"}).Verify(t.Context(), "the answer", "203.0.113.7")
			if !errors.Is(err, test.want) || err != nil && strings.Contains(err.Error(), "secret\"") {
				t.Errorf("%v", err)
			}
			want := url.Values{"secret": {"the secret"}, "response": {"the answer"}, "remoteip": {"203.0.113.7"}}
			if service.asked.Encode() != want.Encode() {
				t.Errorf("asked %v", service.asked)
			}
		})
	}
}

func TestServiceIsAway(t *testing.T) {
	t.Parallel()
	s := newService(t, 200, "")
	s.Close()
	err := captcha.New(captcha.Config{URL: s.URL, Secret: "the secret"}).Verify(t.Context(), "the answer", "")
	if !errors.Is(err, captcha.ErrUnavailable) || strings.Contains(err.Error(), "the secret") || strings.Contains(err.Error(), "the answer") {
		t.Errorf("%v", err)
	}
}
