package handlers_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestSiteFiles: a browser gets each file of the site compressed, and again only when it has changed.
func TestSiteFiles(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for path, kind := range map[string]string{
		"/main.js": "text/javascript; charset=utf-8", "/views/cart.js": "text/javascript; charset=utf-8",
		"/site.css": "text/css; charset=utf-8", "/icons.svg": "image/svg+xml",
	} {
		want, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "web-example", path))
		if err != nil {
			t.Fatal(err)
		}
		plain := client.Do("GET", path, nil, [2]string{"Accept-Encoding", "identity"})
		if plain.Status != http.StatusOK || plain.Header.Get("Content-Type") != kind || !bytes.Equal(plain.Body, want) {
			t.Errorf("%s: status %d, %s, %d bytes instead of %d", path, plain.Status, plain.Header.Get("Content-Type"), len(plain.Body), len(want))
		}
		packed := client.Do("GET", path, nil, [2]string{"Accept-Encoding", "gzip, deflate, br"})
		reader, err := gzip.NewReader(bytes.NewReader(packed.Body))
		if err != nil || packed.Header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("%s is not compressed: %v, %v", path, err, packed.Header)
		}
		if body, err := io.ReadAll(reader); err != nil || !bytes.Equal(body, want) {
			t.Errorf("%s is compressed to something else: %v", path, err)
		}
		for _, known := range []*frontdesktest.Response{plain, packed} {
			again := client.Do("GET", path, nil, [2]string{"Accept-Encoding", "gzip"}, [2]string{"If-None-Match", known.Header.Get("ETag")})
			want := http.StatusOK
			if known == packed {
				want = http.StatusNotModified
			}
			if again.Status != want {
				t.Errorf("%s is requested again with %s: status %d instead of %d", path, known.Header.Get("ETag"), again.Status, want)
			}
			if again.Header.Get("Cache-Control") != "no-cache" || again.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("%s comes with %v", path, again.Header)
			}
			if coding := again.Header.Get("Content-Encoding"); again.Status == http.StatusNotModified && (coding != "" || len(again.Body) > 0) {
				t.Errorf("%s has not changed, and %d bytes come, coded as %q", path, len(again.Body), coding)
			}
		}
		vary := strings.Join(packed.Header.Values("Vary"), ", ")
		if !strings.Contains(vary, "Origin") || !strings.Contains(vary, "Accept-Encoding") {
			t.Errorf("%s has Vary: %s", path, vary)
		}
		if head := client.Do("HEAD", path, nil); head.Status != http.StatusOK || len(head.Body) > 0 || head.Header.Get("ETag") == "" {
			t.Errorf("HEAD %s: status %d, %v", path, head.Status, head.Header)
		}
	}
	small := client.Do("GET", "/logo.svg", nil, [2]string{"Accept-Encoding", "gzip"})
	if small.Status != http.StatusOK || small.Header.Get("Content-Encoding") != "" {
		t.Errorf("a file that fits into a packet: status %d, %v", small.Status, small.Header)
	}
	if home := client.Do("GET", "/", nil); home.Status != http.StatusOK || home.Header.Get("ETag") == "" {
		t.Errorf("the page: status %d, %v", home.Status, home.Header)
	}
	index := client.Do("GET", "/index.html?club=11", nil)
	if index.Status != http.StatusMovedPermanently || index.Header.Get("Location") != "./?club=11" {
		t.Errorf("the page by its file's name: status %d, %v", index.Status, index.Header)
	}
}
