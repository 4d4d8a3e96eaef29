package handlers_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestUnknownPage: a browser gets a page in both languages for an unknown address, under the site's policy; a
// program gets a problem document.
func TestUnknownPage(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	for path, page := range map[string]bool{"/membership": true, "/views/none": true, "/v1/nothing": false, "/docs/none": false, "/sim": false} {
		answer := c.Do("GET", path, nil, [2]string{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"})
		isPage := strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html")
		if answer.Status != http.StatusNotFound || isPage != page {
			t.Errorf("%s: %d %s", path, answer.Status, answer.Header.Get("Content-Type"))
		}
		if page && (!strings.Contains(string(answer.Body), `lang="fr"`) || !strings.HasPrefix(answer.Header.Get("Content-Security-Policy"), "default-src 'self'")) {
			t.Errorf("%s: policy %q, page:\n%s", path, answer.Header.Get("Content-Security-Policy"), answer.Body)
		}
	}
	c.Do("GET", "/membership", nil).Problem("not_found")
}
