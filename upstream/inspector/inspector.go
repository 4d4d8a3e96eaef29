// Package inspector draws the plain pages on which developers see what the simulator and the sandbox hold.
package inspector

import (
	_ "embed"
	"strings"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"
)

//go:embed inspector.css
var style string

// ContentSecurityPolicy allows the pages their own style and forms, and nothing else.
const ContentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"

// Page is a whole page.
func Page(title string, head g.Node, parts ...g.Node) g.Node {
	return html.Doctype(html.HTML(html.Lang("en"),
		html.Head(
			html.Meta(html.Charset("utf-8")), html.Meta(html.Name("viewport"), html.Content("width=device-width, initial-scale=1")),
			html.TitleEl(g.Text(title)), html.StyleEl(g.Raw(style)),
		),
		html.Body(head, html.Main(parts...)),
	))
}

// Row lays content out in a line.
func Row(content ...g.Node) g.Node { return html.Div(html.Class("row"), g.Group(content)) }

// Options are the options of a select element, one of them chosen.
func Options(chosen string, all ...string) g.Node {
	return g.Map(all, func(one string) g.Node { return html.Option(g.If(one == chosen, html.Selected()), g.Text(one)) })
}

// Section is a part of the page with its heading. Links find it by the title, in lower case and with hyphens.
func Section(class, title, note string, content ...g.Node) g.Node {
	return html.Section(
		html.ID(strings.ReplaceAll(strings.ToLower(title), " ", "-")), g.If(class != "", html.Class(class)),
		html.H2(g.Text(title), g.If(note != "", g.Group{g.Text(" "), html.Span(g.Text(note))})), g.Group(content),
	)
}

// DataTable renders a row for each element of a list, or a placeholder for an empty one. The column of a heading that begins
// with # is aligned for numbers.
func DataTable[T any](placeholder string, heads []string, list []T, cells func(T) g.Node) g.Node {
	if len(list) == 0 {
		return html.P(html.Class("empty"), g.Text(placeholder))
	}
	head := func(title string) g.Node {
		title, numeric := strings.CutPrefix(title, "#")
		return html.Th(g.If(numeric, html.Class("n")), g.Text(title))
	}
	return html.Table(html.Tr(g.Map(heads, head)), g.Map(list, func(row T) g.Node { return html.Tr(cells(row)) }))
}

// Cell is a table cell that narrow screens show with its column's name.
func Cell(class, column string, content ...g.Node) g.Node {
	return html.Td(g.If(class != "", html.Class(class)), html.Data("of", column), g.Group(content))
}

// ListOr renders a list, or a placeholder for an empty one.
func ListOr[T any](list []T, item func(T) g.Node, placeholder g.Node) g.Node {
	if len(list) == 0 {
		return placeholder
	}
	return g.Map(list, item)
}

// Soft is secondary text.
func Soft(text string) g.Node { return html.Span(html.Class("soft"), g.Text(text)) }

// When is an instant, on one line.
func When(text string) g.Node { return html.Span(html.Class("when"), g.Text(text)) }

// Pill is a state; the class colours it.
func Pill(class, text string) g.Node {
	return html.Span(html.Class(ClassIf("pill", class, class != "")), g.Text(text))
}

// ClassIf adds a class on a condition.
func ClassIf(class, more string, condition bool) string {
	if condition {
		return class + " " + more
	}
	return class
}
