package handlers

import (
	"bytes"
	"embed"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
	"github.com/swaggest/swgui/v5/static"
	"github.com/vearutop/statigz"
	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"
)

// swaggerPolicy is for the contract's page alone, which styles inline. The other pages have the site's.
const swaggerPolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"

// docsFiles are the parts of the pages below /docs; docs/main.go makes those that are HTML.
//
//go:generate go run ./docs .. docs
//go:embed docs/*.html docs/*.css docs/*.js docs/*.sh
var docsFiles embed.FS

// problemPath is where the page of a code is; problem documents point there by their type.
const problemPath = "/docs/problems#"

// contractPage serves /docs: the contract to browse and to call from, by a library
// that is part of the binary. In mock mode the page's script puts in what an
// example needs: see docs/try.js.
func (s *Server) contractPage() (echo.HandlerFunc, error) {
	page, err := renderPage("Frontdesk", g.Group{
		html.Link(html.Rel("stylesheet"), html.Href("/docs/swagger-ui.css")),
		html.Link(html.Rel("icon"), html.Type("image/png"), html.Href("/docs/favicon-32x32.png")),
		html.Script(html.Src("/docs/swagger-ui-bundle.js"), html.Defer()),
		html.Script(html.Src("/docs/swagger-ui-standalone-preset.js"), html.Defer()),
		html.Script(html.Src("/docs/contract.js"), html.Type("module")),
	}, html.Div(html.ID("swagger-ui"), html.Data("mock", strconv.FormatBool(s.cfg.Worlds))))
	return withPolicy(swaggerPolicy, func(c echo.Context) error { return c.HTMLBlob(http.StatusOK, page) }), err
}

// swaggerFiles serves what the contract's page loads of the library.
func swaggerFiles() echo.HandlerFunc {
	files := http.StripPrefix("/docs/", statigz.FileServer(static.FS))
	return withPolicy(swaggerPolicy, func(c echo.Context) error {
		answer := &notFoundFilter{ResponseWriter: c.Response()}
		files.ServeHTTP(answer, c.Request())
		if answer.is {
			return echo.ErrNotFound
		}
		return nil
	})
}

// notFoundFilter keeps back the library's own answer to a path that it does not have,
// which is no problem document.
type notFoundFilter struct {
	http.ResponseWriter
	is bool
}

// WriteHeader begins the answer, unless there is none.
func (m *notFoundFilter) WriteHeader(status int) {
	if m.is = status == http.StatusNotFound; !m.is {
		m.ResponseWriter.WriteHeader(status)
	}
}

// Write goes on with it.
func (m *notFoundFilter) Write(p []byte) (int, error) {
	if m.is {
		return len(p), nil
	}
	return m.ResponseWriter.Write(p)
}

// mountDocs serves what stands below /docs beside the contract's page: every
// error in one table, the guides for developers of front ends with their
// examples, and the few shell functions that the contract's examples use.
func (s *Server) mountDocs() error {
	pages := map[string]func() ([]byte, error){
		"problems": func() ([]byte, error) { return markdownPage("When a request fails", "problems.html") },
		"web.md":   func() ([]byte, error) { return markdownPage("For web developers", "web.html") },
		"apps.md":  func() ([]byte, error) { return markdownPage("For app developers", "apps.html") },
	}
	err := fs.WalkDir(s.cfg.Examples, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			pages["examples/"+path] = func() ([]byte, error) { return fs.ReadFile(s.cfg.Examples, path) }
		}
		return err
	})
	for _, name := range []string{"contract.js", "try.js", "page.css"} {
		pages[name] = func() ([]byte, error) { return docsFiles.ReadFile("docs/" + name) }
	}
	pages["session.sh"] = func() ([]byte, error) {
		text, err := docsFiles.ReadFile("docs/session.sh")
		return bytes.ReplaceAll(text, []byte("http://localhost:8080"), []byte(s.cfg.PublicURL)), err
	}
	for path, page := range pages {
		made := sync.OnceValues(page) // by its first reader: few starts have one
		s.router.GET("/docs/"+path, withPolicy(sitePolicy, func(c echo.Context) error {
			text, err := made()
			if err != nil {
				return err
			}
			return c.Blob(http.StatusOK, contentType(path), text)
		}))
	}
	return err
}

// markdownPage is a page that was made of a text.
func markdownPage(title, name string) ([]byte, error) {
	text, err := docsFiles.ReadFile("docs/" + name)
	if err != nil {
		return nil, err
	}
	return renderPage(title+" - Frontdesk", nil, html.Main(html.Class("docs-page"), g.Raw(string(text))))
}

// contentType shows what is no page, and needed by none, as text to be read in the browser.
func contentType(path string) string {
	switch {
	case strings.HasSuffix(path, ".js") && !strings.Contains(path, "/"):
		return "text/javascript; charset=utf-8"
	case path == "page.css":
		return "text/css; charset=utf-8"
	case path == "problems" || strings.HasSuffix(path, ".md"):
		return "text/html; charset=utf-8"
	}
	return "text/plain; charset=utf-8"
}

// renderPage makes a page below /docs, with the way to the others above it.
func renderPage(title string, head, body g.Node) ([]byte, error) {
	link := func(address, text string) g.Node { return html.A(html.Href(address), g.Text(text)) }
	var page bytes.Buffer
	err := html.Doctype(html.HTML(html.Lang("en"),
		html.Head(
			html.Meta(html.Charset("utf-8")), html.Meta(html.Name("viewport"), html.Content("width=device-width, initial-scale=1")),
			html.TitleEl(g.Text(title)), head, html.Link(html.Rel("stylesheet"), html.Href("/docs/page.css")),
		),
		html.Body(html.Nav(html.Class("docs-nav"),
			link("/docs", "API"), link("/docs/problems", "Errors"), link("/docs/web.md", "For web developers"),
			link("/docs/apps.md", "For app developers"), link("/openapi.yaml", "openapi.yaml")), body),
	)).Render(&page)
	return page.Bytes(), err
}
