package handlers

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

// docsPolicy is for the contract's page alone, which configures itself in an
// inline script and styles inline. The other pages have the site's.
const docsPolicy = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"

// docsFiles are the parts of the pages below /docs.
//
//go:embed docs
var docsFiles embed.FS

// problemPath is where the page of a code is; problem documents point there by their type.
const problemPath = "/docs/problems#"

// contractPage serves /docs and what its page loads: the contract to browse and
// to call from, by a library that is part of the binary. In mock mode the
// page's script puts in what an example needs: see docs/try.js.
func (s *Server) contractPage(head template.HTML) echo.HandlerFunc {
	page := http.Handler(v5emb.NewHandlerWithConfig(swgui.Config{
		Title: "Frontdesk", SwaggerJSON: "/openapi.yaml", BasePath: "/docs/",
		AppendHead: `<link rel="stylesheet" href="/docs/page.css">`, PrependHTML: head,
		SettingsUI: map[string]string{
			"requestInterceptor":       fmt.Sprintf(`(request) => import("/docs/try.js").then((page) => page.prepare(request, window.ui, %t))`, s.cfg.Worlds),
			"tryItOutEnabled":          "true", // one click less
			"displayRequestDuration":   "true",
			"defaultModelsExpandDepth": "0",
			"showExtensions":           "false", // they are about Go
		},
	}))
	return withPolicy(docsPolicy, func(c echo.Context) error {
		r := c.Request()
		if r.URL.Path == "/docs" {
			r.URL.Path = "/docs/" // the page's own routes begin with the slash
		}
		answer := &missing{ResponseWriter: c.Response()}
		page.ServeHTTP(answer, r)
		if answer.is {
			return echo.ErrNotFound
		}
		return nil
	})
}

// missing keeps back the library's own answer to a path that it does not have,
// which is no problem document.
type missing struct {
	http.ResponseWriter
	is bool
}

// WriteHeader begins the answer, unless there is none.
func (m *missing) WriteHeader(status int) {
	if m.is = status == http.StatusNotFound; !m.is {
		m.ResponseWriter.WriteHeader(status)
	}
}

// Write goes on with it.
func (m *missing) Write(p []byte) (int, error) {
	if m.is {
		return len(p), nil
	}
	return m.ResponseWriter.Write(p)
}

// mountDocs serves what stands below /docs beside the contract's page: every
// error in one table, the guides for developers of front ends with their
// examples, and the few shell functions that the contract's examples use.
func (s *Server) mountDocs(document *openapi3.T) error {
	layout, err := template.ParseFS(docsFiles, "docs/page.html")
	if err != nil {
		return err
	}
	pages := map[string][]byte{}
	if pages["problems"], err = problemsPage(layout, document); err != nil {
		return err
	}
	err = fs.WalkDir(s.cfg.Guides, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(s.cfg.Guides, path)
		if err == nil && strings.HasSuffix(path, ".md") {
			text, err = markdownPage(layout, text)
		}
		pages[path] = text
		return err
	})
	if err != nil {
		return err
	}
	for _, name := range []string{"session.sh", "try.js", "page.css"} {
		if pages[name], err = docsFiles.ReadFile("docs/" + name); err != nil {
			return err
		}
	}
	pages["session.sh"] = bytes.ReplaceAll(pages["session.sh"], []byte("http://localhost:8080"), []byte(s.cfg.PublicURL))
	for path, text := range pages {
		s.echo.GET("/docs/"+path, withPolicy(sitePolicy, func(c echo.Context) error {
			return c.Blob(http.StatusOK, mediaOf(path), text)
		}))
	}
	return nil
}

// mediaOf shows what is no page, and needed by none, as text to be read in the browser.
func mediaOf(path string) string {
	switch {
	case path == "try.js":
		return "text/javascript; charset=utf-8"
	case path == "page.css":
		return "text/css; charset=utf-8"
	case path == "problems" || strings.HasSuffix(path, ".md"):
		return "text/html; charset=utf-8"
	}
	return "text/plain; charset=utf-8"
}

// codeRow is the beginning of a code's row, up to its status.
var codeRow = regexp.MustCompile(`<tr>\s*<td><code>([a-z_]+)</code></td>(\s*<td>\d)`)

// problemsPage makes the page of all problems from the contract's own table, so
// that there is no second one. Each row has its code as its anchor.
func problemsPage(layout *template.Template, document *openapi3.T) ([]byte, error) {
	text, err := docsFiles.ReadFile("docs/problems.md")
	if err != nil {
		return nil, err
	}
	text = append(text, document.Components.Schemas["ProblemCode"].Value.Description...)
	page, err := markdownPage(layout, text)
	return codeRow.ReplaceAll(page, []byte(`<tr id="$1"><td><a href="#$1"><code>$1</code></a></td>$2`)), err
}

// markdownPage makes a page of Markdown that is part of the binary. Its first line is its title.
func markdownPage(layout *template.Template, text []byte) ([]byte, error) {
	var body, page bytes.Buffer
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	if err := markdown.Convert(text, &body); err != nil {
		return nil, err
	}
	title, _, _ := strings.Cut(string(text), "\n")
	err := layout.ExecuteTemplate(&page, "page", map[string]any{
		"Title": strings.TrimPrefix(title, "# "), "Body": template.HTML(body.String()), //nolint:gosec // our own text
	})
	return page.Bytes(), err
}

// docsHead is what stands above the contract's page: the way to the others.
func docsHead() (template.HTML, error) {
	layout, err := template.ParseFS(docsFiles, "docs/page.html")
	if err != nil {
		return "", err
	}
	var head bytes.Buffer
	err = layout.ExecuteTemplate(&head, "head", nil)
	return template.HTML(head.String()), err //nolint:gosec // our own text
}
