package security_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestCrossSiteRequestForgery checks that a page of another site can change nothing with the visitor's
// cookie and without a preflight.
func TestCrossSiteRequestForgery(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	registration := client.Register()
	session := [2]string{"Cookie", "frontdesk-" + registration.Id + "=" + client.Token + "; frontdesk-world=" + client.World}
	page := attacker(client)
	page.World = "" // a form sends no headers of its own
	path := "/v1/registrations/" + registration.Id
	quiet := expectUnchanged(t, client)
	for _, origin := range []string{
		"https://evil.example", "null", "http://evil.example:80", "http://localhost.evil.example",
		"https://localhost@evil.example",
	} {
		for _, media := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json"} {
			for _, wish := range []struct{ path, body string }{
				{"/payment", requestBodies["startPayment"]}, {"/items", requestBodies["addItem"]}, {"/check", ""},
				{"/resume-link", ""},
			} {
				page.Do("POST", path+wish.path, wish.body, session, [2]string{"Origin", origin}, [2]string{"Content-Type", media},
					[2]string{"Sec-Fetch-Site", "cross-site"}, frontdesktest.Key("")).Problem(api.ForbiddenOrigin)
			}
		}
		for _, method := range []string{"DELETE", "PUT"} {
			response := page.Do(method, path, `{}`, session, [2]string{"Origin", origin})
			if response.Status != http.StatusForbidden && response.Status != http.StatusMethodNotAllowed {
				t.Errorf("%s from %s is answered with %d", method, origin, response.Status)
			}
		}
		read := page.Do("GET", path, nil, session, [2]string{"Origin", origin}, [2]string{"Sec-Fetch-Site", "cross-site"})
		if header := read.Header; header.Get("Access-Control-Allow-Origin") != "" || header.Get("Access-Control-Allow-Credentials") != "" ||
			header.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("a page at %s may read: %v", origin, header)
		}
	}
	quiet("a page elsewhere")
	if state := client.Registration(registration.Id).State; state != api.Open {
		t.Errorf("the registration is %s", state)
	}
}

// TestHostHeader checks that the gateway does not trust a request's host outside mock mode: a name that points at it (DNS
// rebinding), a poisoned cache, or a proxy's header. Mock mode follows the host; TestHostIsNotTrusted checks its form.
func TestHostHeader(t *testing.T) {
	t.Parallel()
	_, client := frontdesktest.NewEnv(t).Gateway(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id
	for _, host := range []string{"evil.example", "evil.example:8080", "localhost.evil.example", "x\"><script>", "127.0.0.1.evil.example"} {
		for _, target := range []string{
			"GET /v1/clubs", "GET /", "GET /docs", "GET /openapi.yaml", "GET " + path, "POST " + path + "/resume-link",
			"POST " + path + "/check",
		} {
			response := dial(t, client, target+" HTTP/1.1\r\nHost: "+host+"\r\nX-Forwarded-Host: evil.example\r\n"+
				"X-Forwarded-Proto: https\r\nForwarded: host=evil.example\r\nX-Original-Host: evil.example\r\n"+
				"Authorization: Bearer "+client.Token+"\r\n"+
				"Idempotency-Key: host-"+host[:4]+"-0123456789abcdef\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			if strings.Contains(response, "evil.example") || strings.Contains(response, "<script>\"") {
				t.Errorf("%s for %s is answered with %.400s", target, host, response)
			}
		}
		// The page's origin and the host match, as after DNS rebinding; the session is still the visitor's.
		response := dial(t, client, "DELETE "+path+" HTTP/1.1\r\nHost: "+host+"\r\nOrigin: http://"+host+"\r\n"+
			"Cookie: frontdesk-"+registration.Id+"="+client.Token+"\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(response, "HTTP/1.1 403 ") && !strings.HasPrefix(response, "HTTP/1.1 400 ") {
			t.Errorf("a page that was rebound from %s is answered with %.200s", host, response)
		}
	}
	if state := client.Registration(registration.Id).State; state != api.Open {
		t.Errorf("the registration is %s", state)
	}
}

// TestCachePolicy checks that personal responses are never stored, and that Vary names what the others
// depend on.
func TestCachePolicy(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	registration := client.Register()
	for path, kept := range map[string]string{
		"/v1/clubs":                                       "private, no-cache",
		"/v1/clubs/11/products":                           "private, no-cache",
		"/v1/clubs/11/products/x.css":                     "no-store",
		"/v1/registrations/" + registration.Id:            "no-store",
		"/v1/registrations/" + registration.Id + "/x.css": "no-store",
		"/v1/nothing":                                     "no-store",
		"/v1/me":                                          "no-store",
	} {
		header := client.Do("GET", path, nil, [2]string{"X-Forwarded-Host", "evil.example"}).Header
		if header.Get("Cache-Control") != kept || !strings.Contains(strings.Join(header.Values("Vary"), ","), "Origin") {
			t.Errorf("%s comes with %q, %q", path, header.Get("Cache-Control"), header.Values("Vary"))
		}
	}
	if kept := client.Do("GET", "/", nil).Header.Get("Cache-Control"); kept != "no-cache" {
		t.Errorf("the site comes with %q", kept)
	}
}

// TestRequestSmuggling checks that a message that two servers could read differently is refused, and
// that what follows on the connection is never read as a request.
func TestRequestSmuggling(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	registration := client.Register()
	hidden := "DELETE /v1/registrations/" + registration.Id + " HTTP/1.1\r\nHost: x\r\nX-Frontdesk-World: " + client.World +
		"\r\nAuthorization: Bearer " + client.Token + "\r\n\r\n"
	const head = "POST /v1/registrations HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nIdempotency-Key: 0123456789abcdef\r\n"
	for name, text := range map[string]string{
		"two lengths":              head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
		"a list of lengths":        head + "Content-Length: 2, 3\r\n\r\n{}",
		"a length with a sign":     head + "Content-Length: +2\r\n\r\n{}",
		"a length in hexadecimals": head + "Content-Length: 0x2\r\n\r\n{}",
		"a length below nothing":   head + "Content-Length: -1\r\n\r\n",
		"a space before the colon": head + "Content-Length : 2\r\n\r\n{}",
		"coded in two ways":        head + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
		"coded twice":              head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"coded in a way unknown":   head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"coded behind a tab":       head + "Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
		"a chunk of a wrong size":  head + "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
		"a chunk that is endless":  head + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
		"a line that is folded":    "GET /v1/clubs HTTP/1.1\r\n Host: x\r\n\r\n",
		"a NUL in a header":        "GET /v1/clubs HTTP/1.1\r\nHost: x\r\nX-Y: a\x00b\r\n\r\n",
		"a return in a header":     "GET /v1/clubs HTTP/1.1\r\nHost: x\r\nX-Y: a\rTransfer-Encoding: chunked\r\n\r\n",
		"two hosts":                "GET /v1/clubs HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"a path with a return":     "GET /v1/clubs\rHost: x HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		response := dial(t, client, text+hidden)
		if strings.Count(response, "HTTP/1.1 ") > 1 ||
			response != "" && !strings.HasPrefix(response, "HTTP/1.1 4") && !strings.HasPrefix(response, "HTTP/1.1 501") {
			t.Errorf("%s: %.400q", name, response)
		}
	}
	if state := client.Registration(registration.Id).State; state != api.Open {
		t.Errorf("the registration is %s: a hidden request was carried out", state)
	}
}

// TestHeaderInjection checks that a visitor's input never becomes a header of a response, or of a
// request to the club system.
func TestHeaderInjection(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	registration := client.Register()
	const mark = "injected-by-eve"
	for _, path := range []string{
		"/v1/clubs%0d%0aX-Eve:%20" + mark, "/v1/registrations/%0d%0aSet-Cookie:%20a=" + mark,
		"/v1/clubs/11/products?cursor=1%0d%0aX-Eve:" + mark, "/docs?x=%0d%0aX-Eve:" + mark, "/%0d%0aX-Eve:" + mark,
		"//evil.example/%2f..", "/\\evil.example",
	} {
		response := client.Do("GET", path, nil, [2]string{"traceparent", mark}, [2]string{"Last-Event-ID", mark},
			[2]string{"Idempotency-Key", mark})
		for name, values := range response.Header {
			if strings.Contains(strings.Join(values, " "), mark) || name == "X-Eve" || name == "Location" {
				t.Errorf("%s is answered with %s: %v", path, name, values)
			}
		}
	}
	response := client.Do("POST", "/v1/registrations/"+registration.Id+"/prospect", `{"accessToken":"x\r\nX-Eve: `+mark+`"}`,
		frontdesktest.Key(""))
	if response.Status < 400 || response.Status >= 500 || strings.Contains(string(response.Body), mark) {
		t.Errorf("an access token with a header in it is answered with %d %s", response.Status, response.Body)
	}
}
