package handlers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// notFoundPage is what a person sees at an address of the site that there is not,
// in the site's two languages and its colours; it needs no script.
const notFoundPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Page not found – Page introuvable</title>
<link rel="icon" href="/logo.svg">
<link rel="stylesheet" href="/theme.css">
<link rel="stylesheet" href="/site.css">
<main>
<h1>There is no page at this address.</h1>
<p><a href="/">Go to the sign-up</a></p>
<section lang="fr">
<h2>Il n’y a pas de page à cette adresse.</h2>
<p><a href="/">Aller à l’inscription</a></p>
</section>
</main>
</html>
`

// apiPrefixes are the parts of the gateway that programs and developers speak to;
// to them an unknown path is a problem document, whatever they accept.
var apiPrefixes = []string{"v1", "sim", "sandbox", "docs", "ops"}

// wantsPage tells whether a person's browser asks for a page of the site.
func wantsPage(r *http.Request) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return r.Method == http.MethodGet && !slices.Contains(apiPrefixes, first) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// writeNotFoundPage answers a person who came to an address that there is not.
func (s *Server) writeNotFoundPage(c echo.Context) error {
	c.Response().Header().Set("Content-Security-Policy", s.siteContentPolicy())
	c.Response().Header().Set("Cache-Control", "no-store")
	c.Response().Header().Add("Vary", "Accept")
	return c.HTML(http.StatusNotFound, notFoundPage)
}
