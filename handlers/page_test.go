package handlers_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestSiteFiles: a browser gets each file of the site compressed, and again only when it has changed.
func TestSiteFiles(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	for path, kind := range map[string]string{
		"/main.js": "text/javascript; charset=utf-8", "/views/cart.js": "text/javascript; charset=utf-8",
		"/site.css": "text/css; charset=utf-8", "/icons.svg": "image/svg+xml",
	} {
		want, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "web-example", path))
		if err != nil {
			t.Fatal(err)
		}
		plain := c.Do("GET", path, nil, [2]string{"Accept-Encoding", "identity"})
		if plain.Status != http.StatusOK || plain.Header.Get("Content-Type") != kind || !bytes.Equal(plain.Body, want) {
			t.Errorf("%s: status %d, %s, %d bytes instead of %d", path, plain.Status, plain.Header.Get("Content-Type"), len(plain.Body), len(want))
		}
		packed := c.Do("GET", path, nil, [2]string{"Accept-Encoding", "gzip, deflate, br"})
		reader, err := gzip.NewReader(bytes.NewReader(packed.Body))
		if err != nil || packed.Header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("%s is not compressed: %v, %v", path, err, packed.Header)
		}
		if body, err := io.ReadAll(reader); err != nil || !bytes.Equal(body, want) {
			t.Errorf("%s is compressed to something else: %v", path, err)
		}
		for _, known := range []*frontdesktest.Response{plain, packed} {
			again := c.Do("GET", path, nil, [2]string{"Accept-Encoding", "gzip"}, [2]string{"If-None-Match", known.Header.Get("ETag")})
			if want := map[bool]int{true: http.StatusNotModified, false: http.StatusOK}[known == packed]; again.Status != want {
				t.Errorf("%s is requested again with %s: status %d instead of %d", path, known.Header.Get("ETag"), again.Status, want)
			}
			if again.Header.Get("Cache-Control") != "no-cache" || again.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("%s comes with %v", path, again.Header)
			}
		}
	}
	home, index := c.Do("GET", "/", nil), c.Do("GET", "/index.html", nil)
	if home.Header.Get("ETag") == "" || !bytes.Equal(home.Body, index.Body) {
		t.Errorf("the page has %v; by its file's name, %v", home.Header, index.Header)
	}
}
