package sandbox

import (
	_ "embed"
	"net/http"
)

//go:embed browser.js
var browserScript []byte

// Script is the double of https://js.stripe.com: Stripe's script for browsers, as far as
// a page with the Payment Element calls it. It has one field in the place of Stripe's
// frames, and calls the API as a buyer's browser does. A page that calls anything else
// gets an error.
func (s *Server) Script() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v3/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/javascript")
		w.Write(browserScript)
	})
}

// CORSHandler is the API for pages of other origins. Only Script calls it so.
func (s *Server) CORSHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		s.ServeHTTP(w, r)
	})
}
