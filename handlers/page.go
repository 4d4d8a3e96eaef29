package handlers

import (
	"io/fs"
	"net/http"

	"github.com/labstack/echo/v4"
)

// The pages' own content security policies: each allows what the page needs, and nothing from elsewhere.
const (
	sitePolicy = "default-src 'self'; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'"
	// What Stripe's own card fields need beside it, as the company documents it: its
	// script, its frames (the second host is a bank's question), and its API.
	stripePolicy = "; script-src 'self' https://js.stripe.com; frame-src https://js.stripe.com https://hooks.stripe.com; connect-src 'self' https://api.stripe.com"
)

// getContract serves GET /openapi.yaml.
func (s *Server) getContract(c echo.Context) error {
	return c.Blob(http.StatusOK, "application/yaml", s.cfg.Contract)
}

// siteContentPolicy is the one source of what the site's pages may load: others
// than ourselves only where the configured processor has the card entered in the page.
func (s *Server) siteContentPolicy() string {
	if s.cfg.Cards.Name() == "stripe" {
		return sitePolicy + stripePolicy
	}
	return sitePolicy
}

// mountSite serves the signup site, a route for every file: whatever has no
// file is answered as every unknown path of the API is.
func (s *Server) mountSite() error {
	files := http.FileServerFS(s.cfg.Site)
	policy := s.siteContentPolicy()
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
