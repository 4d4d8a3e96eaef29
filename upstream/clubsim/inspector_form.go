package clubsim

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"
)

// This file draws the inspector's forms, and the pieces that its page is made of.

func (i inspectorView) faults() g.Node {
	body := g.Group{dataTable("Everything works.", []string{"Kind", "Calls", "#Hits"}, i.Faults, func(f Fault) g.Node {
		return g.Group{
			html.Td(g.Text(f.Kind), g.If(f.Status != 0, g.Textf(" %d", f.Status)), g.If(f.DelayMs != 0, g.Textf(" %d ms", f.DelayMs))),
			html.Td(html.Class("mono"), g.Text(cmp.Or(f.Match.Method, "any")+" "+cmp.Or(f.Match.Path, "everything"))),
			cell("n", "hits", g.Text(strconv.Itoa(f.Hits)), g.Iff(f.Times != nil, func() g.Node { return g.Textf(" of %d", *f.Times) })),
		}
	})}
	if len(i.Faults) > 0 {
		body = append(body, html.Div(html.Class("row"), actionForm("clear", "", html.Button(g.Text("Clear all faults")))))
	}
	presets := make(g.Group, len(i.Presets))
	for n, p := range i.Presets {
		presets[n] = html.Option(html.Value(strconv.Itoa(n)), g.Text(p.Label))
	}
	return section("", "Faults", "", body,
		actionForm("preset", "row", html.Select(html.Name("preset"), html.Aria("label", "Preset"), presets), html.Button(g.Text("Switch on"))),
		actionForm("fault", "row",
			html.Select(html.Name("kind"), html.Aria("label", "Kind"), options("", i.Kinds...)),
			html.Select(html.Name("method"), html.Aria("label", "Method"), html.Option(html.Value(""), g.Text("any")), options("", "GET", "POST", "PUT")),
			html.Input(html.Type("text"), html.Name("path"), html.Placeholder("/sales/*/payments"), html.Aria("label", "Path"), g.Attr("size", "18")),
			numberInput("times", "times", "Times", html.Min("0")), numberInput("status", "status", "Status"), numberInput("delayMs", "ms", "Delay in milliseconds", html.Min("0")),
			html.Button(g.Text("Add")),
		))
}

func (i inspectorView) settings() g.Node {
	s := i.Settings
	var others g.Group
	for n, name := range []string{"personas", "ledger", "audit", "sms", "events", "requests", "faults", "state"} {
		others = append(others, g.If(n > 0, g.Text(", ")), html.A(html.Href(name), g.Text(name)))
	}
	return section("", "Settings", "", actionForm("settings", "",
		row(html.Label(html.Input(html.Type("checkbox"), html.Name("productionMode"), g.If(s.ProductionMode, html.Checked())), g.Text(" production mode "),
			soft(fmt.Sprintf("(%d endpoints granted)", len(s.GrantedEndpoints))))),
		row(html.Label(g.Text("network nodes "), html.Select(html.Name("networkNodeShape"), options(s.NetworkNodeShape, "nested", "flat"))),
			html.Label(g.Text("webhooks "), html.Select(html.Name("webhooks"), options(s.Webhooks, i.Webhooks...)))),
		row(html.Label(g.Text("webhook URL "), html.Input(html.Type("url"), html.Name("webhookUrl"), html.Value(s.WebhookURL), g.Attr("size", "40"))), html.Button(g.Text("Save"))),
	), html.P(html.Class("soft"), g.Text("All settings: "), html.A(html.Href("settings"), g.Text("settings")), g.Text(". As JSON: "), others, g.Text(".")))
}

// actionForm is a form that runs an action of World.runAction.
func actionForm(name, class string, content ...g.Node) g.Node {
	return html.Form(html.Method("post"), g.If(class != "", html.Class(class)), html.Input(html.Type("hidden"), html.Name("do"), html.Value(name)), g.Group(content))
}

func row(content ...g.Node) g.Node { return html.Div(html.Class("row"), g.Group(content)) }

func numberInput(name, placeholder, label string, more ...g.Node) g.Node {
	return html.Input(html.Type("number"), html.Name(name), html.Placeholder(placeholder), html.Aria("label", label), html.Style("width:6em"), g.Group(more))
}

func options(chosen string, all ...string) g.Node {
	return g.Map(all, func(one string) g.Node { return html.Option(g.If(one == chosen, html.Selected()), g.Text(one)) })
}

func section(class, title, note string, content ...g.Node) g.Node {
	return html.Section(g.If(class != "", html.Class(class)), html.H2(g.Text(title), g.If(note != "", g.Group{g.Text(" "), html.Span(g.Text(note))})), g.Group(content))
}

// dataTable renders a row for each element of a list, or the text none. A heading that
// begins with # is above numbers.
func dataTable[T any](none string, heads []string, list []T, cells func(T) g.Node) g.Node {
	rows := make([]g.Node, len(list))
	for i, one := range list {
		rows[i] = cells(one)
	}
	return rawTable(none, heads, rows)
}

// rawTable is dataTable for finished rows, without a type parameter: one copy in the
// binary.
func rawTable(none string, heads []string, rows []g.Node) g.Node {
	if len(rows) == 0 {
		return html.P(html.Class("empty"), g.Text(none))
	}
	head := func(title string) g.Node {
		title, figures := strings.CutPrefix(title, "#")
		return html.Th(g.If(figures, html.Class("n")), g.Text(title))
	}
	return html.Table(html.Tr(g.Map(heads, head)), g.Map(rows, func(cells g.Node) g.Node { return html.Tr(cells) }))
}

// cell is a table cell that narrow screens show with its column's name.
func cell(class, of string, content ...g.Node) g.Node {
	return html.Td(g.If(class != "", html.Class(class)), html.Data("of", of), g.Group(content))
}

// listOr renders a list, or a placeholder for an empty one.
func listOr[T any](list []T, one func(T) g.Node, none g.Node) g.Node {
	if len(list) == 0 {
		return none
	}
	return g.Map(list, one)
}

func soft(text string) g.Node { return html.Span(html.Class("soft"), g.Text(text)) }

func timeText(text string) g.Node { return html.Span(html.Class("when"), g.Text(text)) }

func pill(class, text string) g.Node {
	return html.Span(html.Class(classIf("pill", class, class != "")), g.Text(text))
}

func classIf(class, more string, is bool) string {
	if is {
		return class + " " + more
	}
	return class
}

// euros formats an amount in cents.
func euros(cents int) string {
	sign := ""
	if cents < 0 {
		sign, cents = "−", -cents
	}
	return fmt.Sprintf("%s%d.%02d\u00a0€", sign, cents/100, cents%100)
}

func formatTime(t time.Time) string { return t.Format("2006-01-02 15:04:05") }

// lastSegment returns what follows the last slash of an IRI.
func lastSegment(iri string) string { return iri[strings.LastIndex(iri, "/")+1:] }
