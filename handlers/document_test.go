package handlers_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/upstream/mock"
)

// termsHash is the hash of the demo clubs' terms in English.
func termsHash() string {
	terms, err := mock.Documents.ReadFile("documents/terms.en.html")
	if err != nil {
		panic(err) // the demo clubs have no terms
	}
	hash := sha256.Sum256(terms)
	return hex.EncodeToString(hash[:])
}

// TestDocuments: a club lists its documents in the language that is asked for, with the address of the exact bytes.
func TestDocuments(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	for query, language := range map[string]string{"?language=fr": "fr", "?language=FR-ca": "fr", "": "en", "?language=de": "en"} {
		var list api.DocumentList
		c.Do("GET", "/v1/clubs/11/documents"+query, nil).Into(http.StatusOK, &list)
		var names []string
		for _, document := range list.Items {
			names = append(names, string(document.Document))
			at := strings.TrimPrefix(document.Url, "http://localhost:8080")
			at = at[strings.Index(at, "/v1/"):]
			served := c.Do("GET", at, nil)
			if hash := sha256.Sum256(served.Body); served.Status != http.StatusOK || hex.EncodeToString(hash[:]) != document.Sha256 {
				t.Errorf("%s: status %d, %q", document.Url, served.Status, served.Body)
			}
			if document.Language != language || document.Version != "2026-11" {
				t.Errorf("%q lists %+v", query, document)
			}
		}
		if got := strings.Join(names, " "); got != "terms privacy withdrawal_information early_start_request mandate_text" {
			t.Errorf("%q lists %s", query, got)
		}
	}
	var french api.DocumentList
	c.Do("GET", "/v1/clubs/11/documents", nil, [2]string{"Accept-Language", "fr"}).Into(http.StatusOK, &french)
	if french.Items[0].Language != "fr" {
		t.Errorf("a French visitor gets %+v", french.Items[0])
	}
	c.Do("GET", "/v1/clubs/99/documents", nil).Problem(api.ClubNotFound)
	c.Do("GET", "/v1/clubs/11/documents?lang=fr", nil).Problem(api.InvalidRequest)
	c.Do("GET", "/v1/clubs/11/documents?language=%2e%2e%2f", nil).Problem(api.InvalidRequest)
}

// TestDocumentBytes: the bytes never change, run no script, and nothing else is below their address.
func TestDocumentBytes(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	var list api.DocumentList
	c.Do("GET", "/v1/clubs/11/documents?language=fr", nil).Into(http.StatusOK, &list)
	address := "/v1/clubs/11/documents/"
	page, text := c.Do("GET", address+list.Items[0].Sha256, nil), c.Do("GET", address+list.Items[4].Sha256, nil)
	for response, kind := range map[*http.Header]string{&page.Header: "text/html; charset=utf-8", &text.Header: "text/plain; charset=utf-8"} {
		policy := response.Get("Content-Security-Policy")
		if response.Get("Content-Type") != kind || response.Get("X-Content-Type-Options") != "nosniff" ||
			response.Get("Cache-Control") != "public, max-age=31536000, immutable" ||
			!strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "; sandbox ") || strings.Contains(policy, "script") {
			t.Errorf("a document comes with %v", *response)
		}
	}
	known := c.Do("GET", address+list.Items[0].Sha256, nil, [2]string{"If-None-Match", page.Header.Get("ETag")})
	if known.Status != http.StatusNotModified || len(known.Body) > 0 {
		t.Errorf("the same bytes are sent again: status %d, %d bytes", known.Status, len(known.Body))
	}
	unknown := strings.Repeat("0", 64)
	if gone := c.Do("GET", address+unknown, nil); gone.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("what is not there may be kept: %v", gone.Header)
	}
	c.Do("GET", address+unknown, nil).Problem(api.NotFound)
	c.Do("GET", "/v1/clubs/99/documents/"+unknown, nil).Problem(api.ClubNotFound)
	for _, wrong := range []string{"clubs.yaml", list.Items[0].Sha256[:63], strings.ToUpper(list.Items[0].Sha256), "..%2fclubs.yaml"} {
		if got := c.Do("GET", address+wrong, nil); got.Status != http.StatusUnprocessableEntity && got.Status != http.StatusNotFound {
			t.Errorf("%s: status %d %s", wrong, got.Status, got.Body)
		}
	}
}
