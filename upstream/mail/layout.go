package mail

import (
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// Page is what a mail says, in one language, from top to bottom. Everything is plain text.
type Page struct {
	Language string // BCP 47
	Title    string
	Blocks   []Block
}

// Block is a part of a page. Each of its members may be empty; they are shown in this order.
type Block struct {
	Heading    string
	Paragraphs []string
	Facts      []Fact
	Link       *Link
}

// Fact is a line of a table: what it is, and its value. A value with line breaks has several lines.
type Fact struct{ Name, Value string }

// Link leads to a page. Its text says where.
type Link struct{ Text, URL string }

// style is one column of text with the reader's own fonts, and nothing that is loaded. Colours follow the reader's light or
// dark mode.
const style = `
:root { color-scheme: light dark; supported-color-schemes: light dark }
body { margin: 0; padding: 24px 16px; background: #ffffff; color: #1b1b1f; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
main { max-width: 600px; margin: 0 auto }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 16px }
h2 { font-size: 18px; line-height: 1.3; margin: 32px 0 8px }
p { margin: 0 0 12px; white-space: pre-line }
table { border-collapse: collapse; width: 100%; margin: 0 0 12px }
th, td { padding: 6px 0; text-align: start; vertical-align: top; border-bottom: 1px solid #c8c8d0 }
th { width: 40%; padding-inline-end: 12px; font-weight: 600 }
td { white-space: pre-line }
a { color: #0b4fb3 }
h2 { break-after: avoid }
tr { break-inside: avoid }
@media print {
  :root { color-scheme: light; supported-color-schemes: light }
  body { padding: 0; font-size: 11pt }
  main { max-width: none }
  a { color: inherit }
  a::after { content: " (" attr(href) ")" }
}
@media screen and (prefers-color-scheme: dark) {
  body { background: #17171a; color: #f2f2f5 }
  th, td { border-color: #4a4a52 }
  a { color: #9cc2ff }
}
`

// Render returns a page as HTML and as text; both say the same. Headings, tables of facts and the language are there for screen
// readers.
func Render(page Page) (html, text string) {
	var written strings.Builder
	if err := page.html().Render(&written); err != nil {
		panic(err) // a builder accepts everything
	}
	return written.String(), page.text()
}

func (p Page) html() g.Node {
	return h.Doctype(h.HTML(h.Lang(p.Language),
		h.Head(
			h.Meta(h.Charset("utf-8")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.Meta(h.Name("color-scheme"), h.Content("light dark")),
			h.Meta(h.Name("supported-color-schemes"), h.Content("light dark")),
			h.TitleEl(g.Text(p.Title)),
			h.StyleEl(g.Raw(style)),
		),
		h.Body(h.Main(h.H1(g.Text(p.Title)), g.Map(p.Blocks, Block.html))),
	))
}

func (b Block) html() g.Node {
	parts := g.Group{}
	if b.Heading != "" {
		parts = append(parts, h.H2(g.Text(b.Heading)))
	}
	for _, paragraph := range b.Paragraphs {
		parts = append(parts, h.P(g.Text(paragraph)))
	}
	if len(b.Facts) > 0 {
		parts = append(parts, h.Table(g.Map(b.Facts, func(fact Fact) g.Node {
			return h.Tr(h.Th(g.Attr("scope", "row"), g.Text(fact.Name)), h.Td(g.Text(fact.Value)))
		})))
	}
	if b.Link != nil {
		parts = append(parts, h.P(h.A(h.Href(b.Link.URL), g.Text(b.Link.Text))))
	}
	return parts
}

// colon is the colon between a name and its value; French has a no-break space before it.
func (p Page) colon() string {
	if strings.HasPrefix(p.Language, "fr") {
		return "\u00a0: "
	}
	return ": "
}

func (p Page) text() string {
	parts := []string{p.Title}
	for _, block := range p.Blocks {
		if block.Heading != "" {
			parts = append(parts, "== "+block.Heading+" ==")
		}
		parts = append(parts, block.Paragraphs...)
		var facts []string
		for _, fact := range block.Facts {
			facts = append(facts, fact.Name+p.colon()+strings.ReplaceAll(fact.Value, "\n", "\n  "))
		}
		if len(facts) > 0 {
			parts = append(parts, strings.Join(facts, "\n"))
		}
		if block.Link != nil {
			parts = append(parts, block.Link.Text+p.colon()+block.Link.URL)
		}
	}
	return strings.Join(parts, "\n\n") + "\n"
}
