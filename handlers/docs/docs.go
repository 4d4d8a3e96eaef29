// Package docs serves the pages below /docs: the index of docs/README.md, the guides with their
// example files, the API reference with try-it-out at /docs/api, and a table of all problems.
//
// Start reading at Pages. Package generate renders the pages that are written in Markdown.
package docs

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"path"
	"strconv"
	"strings"

	"github.com/swaggest/swgui/v5/static"
	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"frontdesk/handlers"
)

// Config configures the pages. Every field is required.
type Config struct {
	Events    []byte // asyncapi.yaml
	Examples  fs.FS  // code that the guides link
	PublicURL string // where browsers reach Frontdesk
	Mock      bool   // the contract's page fills in examples; see try.js
}

// The content security policies. The contract's page has inline styles.
const (
	pagePolicy    = "default-src 'self'; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'"
	swaggerPolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"
)

// typeScript is the content type of TypeScript.
const typeScript = "application/typescript; charset=utf-8"

// files are the parts of the pages. The compressed ones are generated; they would be a fiftieth of the binary. The second command
// writes docs/bruno, which is not served.
//
//go:generate go run ./generate ../.. .
//go:generate go test ../../e2e/docs -run TestBrunoCollection$ -update
//go:embed pages *.gz *.css *.js *.sh
var files embed.FS

// Pages returns all pages by path.
func Pages(cfg Config) (map[string]handlers.Page, error) {
	pages := map[string]handlers.Page{
		"/docs/api":            page(swaggerPolicy, "text/html; charset=utf-8", cfg.contractPage),
		"/asyncapi.yaml":       page(pagePolicy, "application/yaml", func() ([]byte, error) { return cfg.Events, nil }),
		"/docs/problems":       cfg.article("When a request fails", "problems.html.gz"),
		"/docs/frontdesk.d.ts": page(pagePolicy, "text/plain; charset=utf-8", types),
		"/frontdesk.d.ts":      page(pagePolicy, typeScript, types),
		"/problem-codes.d.ts":  page(pagePolicy, typeScript, problemCodes),
	}
	for name, kind := range map[string]string{"contract.js": "javascript", "try.js": "javascript", "page.css": "css", "session.sh": "plain"} {
		pages["/docs/"+name] = page(pagePolicy, "text/"+kind+"; charset=utf-8", func() ([]byte, error) { return cfg.read(name) })
	}
	err := walk(files, func(path string) { // the guides, where their links to each other expect them
		if guide, ok := strings.CutPrefix(path, "pages/"); ok {
			pages["/docs/"+strings.TrimSuffix(guide, ".html.gz")+".md"] = cfg.article("Documentation", path)
		}
	})
	if err != nil {
		return nil, err
	}
	pages["/docs"], pages["/docs/"] = pages["/docs/README.md"], pages["/docs/README.md"]
	err = walk(cfg.Examples, func(path string) { // examples are text to be read in the browser
		pages["/docs/examples/"+path] = page(
			pagePolicy, "text/plain; charset=utf-8", func() ([]byte, error) { return fs.ReadFile(cfg.Examples, path) },
		)
	})
	if err != nil {
		return nil, err
	}
	return pages, walk(static.FS, func(file string) {
		name := strings.TrimSuffix(file, ".gz")
		pages["/docs/"+name] = page(swaggerPolicy, mime.TypeByExtension(path.Ext(name)), func() ([]byte, error) { return read(static.FS, file) })
	})
}

// read reads a file, which is compressed if its name says so.
func read(files fs.FS, name string) ([]byte, error) {
	file, err := fs.ReadFile(files, name)
	if err != nil || !strings.HasSuffix(name, ".gz") {
		return file, err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unpacked)
}

// types returns the contract's types for TypeScript.
func types() ([]byte, error) { return read(files, "frontdesk.d.ts.gz") }

// problemCodes returns the problem codes of the contract as a closed union.
func problemCodes() ([]byte, error) {
	all, err := types()
	if err != nil {
		return nil, err
	}
	_, rest, found := bytes.Cut(all, []byte("export type KnownProblemCode ="))
	codes, _, ended := bytes.Cut(rest, []byte(";"))
	if !found || !ended {
		return nil, errors.New("the types have no KnownProblemCode")
	}
	return fmt.Appendf(nil, "/** The problem codes of this version of the contract. A later one may add codes. */\n"+
		"export type ProblemCode =%s;\n", codes), nil
}

func page(policy, contentType string, body func() ([]byte, error)) handlers.Page {
	return handlers.Page{Policy: policy, ContentType: contentType, Body: body}
}

func walk(files fs.FS, each func(path string)) error {
	return fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			each(path)
		}
		return err
	})
}

func (cfg Config) contractPage() ([]byte, error) {
	return render("API reference - Frontdesk", g.Group{
		html.Link(html.Rel("stylesheet"), html.Href("/docs/swagger-ui.css")),
		html.Script(html.Src("/docs/swagger-ui-bundle.js"), html.Defer()),
		html.Script(html.Src("/docs/contract.js"), html.Type("module")),
	}, html.Div(html.ID("swagger-ui"), html.Data("mock", strconv.FormatBool(cfg.Mock))))
}

// read reads a file, and replaces the usual address of a gateway by that of this one, so that examples work as they are.
func (cfg Config) read(name string) ([]byte, error) {
	text, err := read(files, name)
	return bytes.ReplaceAll(text, []byte("http://localhost:8080"), []byte(cfg.PublicURL)), err
}

// article is a page that was generated from Markdown.
func (cfg Config) article(title, name string) handlers.Page {
	return page(pagePolicy, "text/html; charset=utf-8", func() ([]byte, error) {
		text, err := cfg.read(name)
		if err != nil {
			return nil, err
		}
		return render(title+" - Frontdesk", nil, html.Main(html.Class("docs-page"), g.Raw(string(text))))
	})
}

// render renders a page below links to the others.
func render(title string, head, body g.Node) ([]byte, error) {
	link := func(address, text string) g.Node { return html.A(html.Href(address), g.Text(text)) }
	var page bytes.Buffer
	err := html.Doctype(html.HTML(html.Lang("en"),
		html.Head(
			html.Meta(html.Charset("utf-8")), html.Meta(html.Name("viewport"), html.Content("width=device-width, initial-scale=1")),
			html.TitleEl(g.Text(title)), head,
			html.Link(html.Rel("icon"), html.Type("image/png"), html.Href("/docs/favicon-32x32.png")),
			html.Link(html.Rel("stylesheet"), html.Href("/docs/page.css")),
		),
		html.Body(html.Nav(
			html.Class("docs-nav"),
			link(
				"/docs", "Documentation",
			),
			link("/docs/api", "API reference"),
			link("/docs/problems", "Errors"),
			link("/openapi.yaml", "openapi.yaml"),
			link("/asyncapi.yaml", "asyncapi.yaml"),
		), body),
	)).Render(&page)
	return page.Bytes(), err
}
