package stripetest

import (
	_ "embed"
	"net/http"
)

// script is what stands in for the company's script.
//
//go:embed browser.js
var script []byte

// Script is the double of https://js.stripe.com: the company's script for
// browsers, as far as a page with the Payment Element calls it. It has one field
// in the place of the company's frames, and speaks to the API as a buyer's
// browser does. It is hard on a page that calls what it does not know.
func (s *Server) Script() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v3/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/javascript")
		w.Write(script)
	})
}

// CORSHandler is the API as pages of other origins reach it, which its own
// script is the only one to do.
func (s *Server) CORSHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		s.ServeHTTP(w, r)
	})
}
