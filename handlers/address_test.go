package handlers_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestPageUnderAnyHost: in mock mode no response names another host than the one under which the page was opened.
func TestPageUnderAnyHost(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.Start(t)
	client := frontdesktest.NewClient(t, gateway.URL)
	registration := client.Register()
	client.Pay(registration.Id)
	var listed api.Registration
	client.Do("GET", "/v1/registrations/"+registration.Id, nil).Into(http.StatusOK, &listed)
	pay := strings.TrimPrefix(*listed.Payment.Card.RedirectUrl, gateway.URL)
	if !strings.HasPrefix(pay, "/pay/") {
		t.Fatalf("opened at %s, the card page is at %s", gateway.URL, pay)
	}
	for home, header := range map[string]http.Header{
		"http://frontdesk:8080":     {"Host": {"frontdesk:8080"}},
		"http://192.168.0.7:8080":   {"Host": {"192.168.0.7:8080"}},
		"https://a-8080.tunnel.dev": {"X-Forwarded-Host": {"a-8080.tunnel.dev"}, "X-Forwarded-Proto": {"https"}},
	} {
		for _, path := range []string{
			"/", "/v1/config", "/v1/clubs", "/v1/clubs/11", "/v1/clubs/11/products", "/v1/clubs/11/documents", pay,
			"/v1/registrations/" + registration.Id, "/docs", "/docs/session.sh", "/docs/how-to/build-a-website.md",
		} {
			text := getAs(t, gateway.URL+path, header, client.Token)
			if strings.Contains(text, "localhost:"+gateway.URL[strings.LastIndex(gateway.URL, ":")+1:]) || strings.Contains(text, gateway.URL) {
				t.Errorf("%s at %s names the gateway's own address:\n%.3000s", path, home, text)
			}
		}
		for path, want := range map[string]string{
			"/v1/config": home + "/sandbox/v3/", "/v1/clubs/11/documents": home + "/v1/clubs/11/documents/", pay: home + "/sandbox/v3/",
			"/v1/registrations/" + registration.Id: home + "/pay/", "/": "script-src 'self' " + home,
		} {
			if text := getAs(t, gateway.URL+path, header, client.Token); !strings.Contains(text, want) {
				t.Errorf("%s at %s lacks %s:\n%.3000s", path, home, want, text)
			} else if strings.Contains(text, "Cross-Origin-Opener-Policy") != strings.HasPrefix(home, "https://") {
				t.Errorf("%s at %s: browsers report the header in an insecure context:\n%.1000s", path, home, text)
			}
		}
	}
}

// TestHostIsNotTrusted: outside mock mode no header puts a host into a response, and in mock mode none that is not a host.
func TestHostIsNotTrusted(t *testing.T) {
	t.Parallel()
	forwarded := http.Header{"X-Forwarded-Host": {"evil.example"}, "X-Forwarded-Proto": {"https"}, "Host": {"evil.example"}}
	outside := frontdesktest.NewUpstreams(t)
	test := frontdesktest.Start(t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+outside.URL+"/sim",
		"FRONTDESK_SANDBOX_URL="+outside.URL+"/sandbox", "FRONTDESK_REDIS_URL="+frontdesktest.NewRedis(t))
	for _, path := range []string{"/", "/v1/config", "/v1/clubs/11", "/v1/clubs/11/documents", "/docs/session.sh"} {
		if text := getAs(t, test.URL+path, forwarded, ""); strings.Contains(text, "evil.example") {
			t.Errorf("%s believes the caller's host:\n%.2000s", path, text)
		}
	}
	mock := frontdesktest.Start(t)
	for _, host := range []string{`x"><script>`, "a b", "evil.example/path", "me@evil.example", "x;script-src *"} {
		if text := getAs(t, mock.URL+"/v1/config", http.Header{"X-Forwarded-Host": {host}}, ""); strings.Contains(text, host) {
			t.Errorf("the host %q is in a response:\n%.2000s", host, text)
		}
	}
}

// getAs returns the headers and the body of a response.
func getAs(t *testing.T, address string, header http.Header, token string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	frontdesktest.Must(t, err)
	request.Header = header.Clone()
	if host := header.Get("Host"); host != "" {
		request.Host = host
	}
	if token != "" && strings.Contains(address, "/registrations/") {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	frontdesktest.Must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	frontdesktest.Must(t, err)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", address, response.StatusCode, body)
	}
	var text strings.Builder
	_ = response.Header.Write(&text)
	return text.String() + string(body)
}
