package handlers

import (
	_ "embed"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// The content security policies of the site. Each allows what a page needs, and nothing else.
const (
	sitePolicy = "default-src 'self'; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'"
	// stripePolicy is added for Stripe's card fields, as Stripe documents it: its script, its frames
	// (the second host shows a bank's challenge), and its API.
	stripePolicy = "; script-src 'self' https://js.stripe.com; frame-src https://js.stripe.com https://hooks.stripe.com; connect-src 'self' https://api.stripe.com"
)

// siteContentPolicy allows other origins only where the card processor needs them.
func (s *Server) siteContentPolicy() string {
	if s.cfg.Cards.Name() == "stripe" {
		return sitePolicy + stripePolicy
	}
	return sitePolicy
}

// mountSite adds a route for every file of the signup site, so that other paths get the same
// response as unknown paths of the API.
func (s *Server) mountSite() error {
	files, policy := http.FileServerFS(s.cfg.Site), s.siteContentPolicy()
	serve := func(c echo.Context) error {
		c.Response().Header().Set("Content-Security-Policy", policy)
		c.Response().Header().Set("Cache-Control", "no-cache")
		files.ServeHTTP(c.Response(), c.Request())
		return nil
	}
	both := []string{http.MethodGet, http.MethodHead}
	s.router.Match(both, "/", serve)
	return fs.WalkDir(s.cfg.Site, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			s.router.Match(both, "/"+path, serve)
		}
		return err
	})
}

// notFoundPage uses the site's style and its two languages. It needs no script.
//
//go:embed notfound.html
var notFoundPage string

// apiPrefixes are the parts of the gateway for programs and developers. Their unknown paths get a
// problem document, whatever the request accepts.
var apiPrefixes = []string{"v1", "sim", "sandbox", "docs", "ops"}

// wantsPage reports whether a browser requests a page of the site.
func wantsPage(r *http.Request) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return r.Method == http.MethodGet && !slices.Contains(apiPrefixes, first) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

func (s *Server) writeNotFoundPage(c echo.Context) error {
	c.Response().Header().Set("Content-Security-Policy", s.siteContentPolicy())
	c.Response().Header().Set("Cache-Control", "no-store")
	c.Response().Header().Add("Vary", "Accept")
	return c.HTML(http.StatusNotFound, notFoundPage)
}
