package handlers_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestRemembered: cached responses have an ETag, are compressed for clients that accept it,
// and are not sent again to clients that have them. All other rules for responses hold.
func TestRemembered(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for _, path := range []string{"/v1/clubs", "/v1/clubs/11/products", "/v1/clubs/11/products?type=subscription", "/v1/clubs/11/debit-days"} {
		plain := client.Do("GET", path, nil, [2]string{"Accept-Encoding", "identity"})
		plain.Into(http.StatusOK, nil)
		tag := plain.Header.Get("ETag")
		expectWhole(t, path, plain)
		again := client.Do("GET", path, nil, [2]string{"Accept-Encoding", "identity"})
		if again.Header.Get("ETag") != tag || !bytes.Equal(again.Body, plain.Body) {
			t.Errorf("%s is another one a moment later", path)
		}
		for _, known := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
			same := client.Do("GET", path, nil, [2]string{"If-None-Match", known}, [2]string{"Accept-Encoding", "identity"})
			if same.Status != http.StatusNotModified || len(same.Body) != 0 || same.Header.Get("ETag") != tag ||
				same.Header.Get("Cache-Control") != plain.Header.Get("Cache-Control") || same.Header.Get("Vary") != plain.Header.Get("Vary") {
				t.Errorf("%s with If-None-Match: %s is answered with %d, %v", path, known, same.Status, same.Header)
			}
		}
		client.Do("GET", path, nil, [2]string{"If-None-Match", `"other"`}).Into(http.StatusOK, nil)
		head := client.Do("HEAD", path, nil, [2]string{"Accept-Encoding", "identity"})
		if head.Status != http.StatusOK || len(head.Body) != 0 || head.Header.Get("ETag") != tag ||
			head.Header.Get("Content-Length") != strconv.Itoa(len(plain.Body)) {
			t.Errorf("HEAD %s is answered with %d, %v", path, head.Status, head.Header)
		}
		packed := client.Do("GET", path, nil, [2]string{"Accept-Encoding", "br, gzip;q=0.5"})
		if big := len(plain.Body) >= 1400; big != (packed.Header.Get("Content-Encoding") == "gzip") {
			t.Errorf("%s, %d bytes, comes as %q", path, len(plain.Body), packed.Header.Get("Content-Encoding"))
		} else if big {
			if unpacked := unpack(t, packed.Body); !bytes.Equal(unpacked, plain.Body) || packed.Header.Get("ETag") == tag {
				t.Errorf("%s is another one compressed, or has the same tag", path)
			}
			expectWhole(t, path, packed)
		}
		for _, accepted := range []string{"gzip;q=0", "gzip;q=0.0, *", "br", "*;q=0"} {
			if client.Do("GET", path, nil, [2]string{"Accept-Encoding", accepted}).Header.Get("Content-Encoding") != "" {
				t.Errorf("%s is compressed although the client accepts %q", path, accepted)
			}
		}
	}
	// The cache must not serve requests that are refused without it.
	client.Do("GET", "/v1/clubs/11/products%3Ftype=subscription", nil).Problem("not_found")
	client.Do("GET", "/v1/clubs/11/products?typ=subscription", nil).Problem("invalid_request")
	client.Do("GET", "/v1/clubs/11/products?cursor=1", nil).Problem("invalid_request")
	client.Do("GET", "/v1/clubs/11/products?cursor=030", nil).Problem("invalid_request")
	client.Do("GET", "/v1/clubs/11/products", nil, [2]string{"X-Frontdesk-Staff-Key", "wrong"}).Problem("staff_key_unknown")
	client.Do("GET", "/v1/clubs/11/products", nil, [2]string{"Authorization",
		"Bearer " + strings.Repeat("a.", 2) + "a"}).Problem("not_identified")
}

// expectWhole checks the headers that every response of these routes has.
func expectWhole(t *testing.T, path string, response *frontdesktest.Response) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Content-Length": strconv.Itoa(len(response.Body)), "X-Content-Type-Options": "nosniff",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s has %s: %q, want %q", path, name, got, want)
		}
	}
	if tag := response.Header.Get("ETag"); len(tag) < 20 || tag[0] != '"' {
		t.Errorf("%s has the tag %s", path, tag)
	}
	for _, header := range []string{"Origin", "Accept-Encoding", "Authorization"} {
		if !strings.Contains(response.Header.Get("Vary"), header) {
			t.Errorf("%s has Vary: %s", path, response.Header.Get("Vary"))
		}
	}
}

func unpack(t *testing.T, packed []byte) []byte {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// TestOneEntryForEqualRequests: requests that differ only in how their address is written share one cache
// entry, so that no caller can fill the gateway's memory with addresses.
func TestOneEntryForEqualRequests(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.Start(t)
	client, operators := frontdesktest.NewClient(t, gateway.URL), frontdesktest.NewClient(t, "http://"+gateway.OpsAddress())
	heap := func() int {
		operators.Do("GET", operators.URL+"/debug/pprof/heap?gc=1", nil)
		metrics := operators.Do("GET", operators.URL+"/metrics", nil)
		_, rest, _ := strings.Cut(string(metrics.Body), "\ngo_memstats_heap_alloc_bytes ")
		text, _, _ := strings.Cut(rest, "\n")
		bytes, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return int(bytes)
	}
	plain := client.Do("GET", "/v1/clubs/11/debit-days", nil)
	before := heap()
	const requests, length = 1500, 25_000
	for i := range requests {
		if same := client.Do("GET", "/v1/clubs/11/debit-days?"+strings.Repeat("&", length+i), nil); !bytes.Equal(same.Body, plain.Body) {
			t.Fatalf("%d %s", same.Status, same.Body)
		}
	}
	if grown := heap() - before; grown > requests*length/4 {
		t.Errorf("%d addresses of %d bytes for one page take %d bytes of memory", requests, length, grown)
	}
}
