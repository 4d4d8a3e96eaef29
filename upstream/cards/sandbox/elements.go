package sandbox

import (
	"embed"
	"net/http"
	"net/url"
)

//go:embed web
var web embed.FS

// framePolicy is the content security policy of the pages that a merchant's page shows in a frame, whatever its origin:
// their own files, and nothing else. The challenge also calls the API, and has an icon where it is a page of its own.
const (
	framePolicy     = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *"
	challengePolicy = framePolicy + "; connect-src 'self'; img-src 'self'"
)

// addPages serves what a buyer's browser loads, as https://js.stripe.com does: the library, the frame of its payment
// element, and the page of the buyer's bank. Their addresses are relative, so they fit a server that serves the double
// below a path of its own.
func (s *Server) addPages() {
	for path, page := range map[string]struct{ file, policy string }{
		"{$}":            {file: "stripe.js"},
		"element":        {file: "element.html", policy: framePolicy},
		"challenge/{id}": {file: "challenge.html", policy: challengePolicy},
		"element.js":     {file: "element.js"},
		"element.css":    {file: "element.css"},
		"challenge.js":   {file: "challenge.js"},
		"challenge.css":  {file: "challenge.css"},
		"texts.js":       {file: "texts.js"},
		"icon.svg":       {file: "icon.svg"},
	} {
		s.mux.HandleFunc("GET /v3/"+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-cache") // it changes with the binary
			w.Header().Set("X-Content-Type-Options", "nosniff")
			if page.policy != "" {
				w.Header().Set("Content-Security-Policy", page.policy)
				w.Header().Set("Referrer-Policy", "no-referrer") // the address of a challenge holds the client secret
			}
			http.ServeFileFS(w, r, web, "web/"+page.file)
		})
	}
}

// challengeURL is the page of the buyer's bank, with what the page needs to ask for the payment.
func (s *Server) challengeURL(in *intent) string {
	proof := url.Values{"key": {in.account.PublishableKey}, "payment_intent_client_secret": {in.clientSecret()}}
	return s.URL + "/v3/challenge/" + in.id + "?" + proof.Encode()
}

// maxReturnURL bounds what a payment holds, and is what browsers and proxies agree on.
const maxReturnURL = 2 << 10

// checkReturnURL refuses an address that a browser must not be sent to.
func checkReturnURL(address string) error {
	if u, err := url.Parse(address); address != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return invalidRequest("url_invalid", "return_url", "Not a valid URL. Use an address with http or https.")
	}
	if len(address) > maxReturnURL {
		return invalidRequest("url_invalid", "return_url", "The URL is too long: this double keeps at most 2048 bytes.")
	}
	return nil
}
