package handlers_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestUnknownPage: a browser gets a page in both languages for an unknown address, under the site's policy, or the
// developers' page that it means; a program gets a problem document.
func TestUnknownPage(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for path, page := range map[string]bool{"/membership": true, "/views/none": true, "/docs/none": true, "/v1/nothing": false} {
		response := client.Do("GET", path, nil, [2]string{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"})
		isPage := strings.HasPrefix(response.Header.Get("Content-Type"), "text/html")
		if response.Status != http.StatusNotFound || isPage != page {
			t.Errorf("%s: %d %s", path, response.Status, response.Header.Get("Content-Type"))
		}
		policy := response.Header.Get("Content-Security-Policy")
		if page && (!strings.Contains(string(response.Body), `lang="fr"`) || !strings.HasPrefix(policy, "default-src 'self'")) {
			t.Errorf("%s: policy %q, page:\n%s", path, policy, response.Body)
		}
	}
	for path, page := range map[string]string{
		"/docs/how-to/build-a-website": "/docs/how-to/build-a-website.md",
		"/sim":                         "/sim/demo/_control/",
		"/sandbox":                     "/sandbox/payments",
	} {
		response := client.Do("GET", path, nil, [2]string{"Accept", "text/html"})
		if response.Status != http.StatusFound || response.Header.Get("Location") != page {
			t.Errorf("%s: %d to %q", path, response.Status, response.Header.Get("Location"))
		}
		client.Do("GET", page, nil, [2]string{"Accept", "text/html"}).Into(http.StatusOK, nil)
	}
	client.Do("GET", "/membership", nil).Problem("not_found")
}
