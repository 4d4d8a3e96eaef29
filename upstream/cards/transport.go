package cards

import (
	"cmp"
	"fmt"
	"net/http"
)

// webhookURLHeader asks a double to send the events of the payments that are created with it to an address.
const webhookURLHeader = "X-Frontdesk-Webhook-Url"

// transport sends calls to an API below a path. The library refuses an address with one, because it reads the API's
// release from the path of each request.
type transport struct {
	http.RoundTripper
	path       string // before that of the API, without a final slash
	webhookURL string // see Config
}

// RoundTrip sends a copy of the request. Its error names the call and where it was sent, without what was asked for.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Path, r.URL.RawPath = t.path+r.URL.Path, t.path+r.URL.EscapedPath()
	if t.webhookURL != "" {
		r.Header.Set(webhookURLHeader, t.webhookURL)
	}
	response, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("%s %s%s: %w", r.Method, r.URL.Host, r.URL.Path, err)
	}
	return response, nil
}

// httpClient returns the configured client, which sends its calls below a path.
func (cfg Config) httpClient(path string) *http.Client {
	client := *cmp.Or(cfg.HTTPClient, NewHTTPClient())
	sends := client.Transport
	if sends == nil {
		sends = http.DefaultTransport
	}
	client.Transport = transport{sends, path, cfg.WebhookURL}
	return &client
}
