package clubsim

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"frontdesk/upstream/inspector"
)

func faultsSection(faults []Fault) g.Node {
	body := g.Group{inspector.DataTable("Everything works.", []string{"Kind", "Calls", "#Hits"}, faults, func(f Fault) g.Node {
		return g.Group{
			html.Td(g.Text(f.Kind), g.If(f.Status != 0, g.Textf(" %d", f.Status)), g.If(f.DelayMs != 0, g.Textf(" %d ms", f.DelayMs))),
			html.Td(html.Class("mono"), g.Text(cmp.Or(f.Match.Method, "any")+" "+cmp.Or(f.Match.Path, "everything"))),
			inspector.Cell("n", "hits", g.Text(strconv.Itoa(f.Hits)), g.Iff(f.Times != nil, func() g.Node { return g.Textf(" of %d", *f.Times) })),
		}
	})}
	if len(faults) > 0 {
		body = append(body, html.Div(html.Class("row"), actionForm("clear", "", html.Button(g.Text("Clear all faults")))))
	}
	var choices g.Group
	for n, p := range presets {
		choices = append(choices, html.Option(html.Value(strconv.Itoa(n)), g.Text(p.label)))
	}
	return inspector.Section("", "Faults", "", body,
		actionForm("preset", "row", html.Select(html.Name("preset"), html.Aria("label", "Preset"), choices), html.Button(g.Text("Switch on"))),
		actionForm(
			"fault",
			"row",
			html.Select(html.Name("kind"), html.Aria("label", "Kind"), inspector.Options("", FaultKinds()...)),
			html.Select(
				html.Name("method"), html.Aria("label", "Method"), html.Option(html.Value(""), g.Text("any")),
				inspector.Options("", "GET", "POST", "PUT", "DELETE"),
			),
			html.Input(
				html.Type("text"), html.Name("path"), html.Placeholder("/sales/*/payments"), html.Aria("label", "Path"),
				g.Attr("size", "18"),
			),
			numberInput(
				"times", "times", "Times", html.Min("0"),
			),
			numberInput("status", "status", "Status"),
			numberInput("delayMs", "ms", "Delay in milliseconds", html.Min("0")),
			html.Button(g.Text("Add")),
		))
}

func (s Settings) section() g.Node {
	var others g.Group
	lists := []string{"personas", "ledger", "cancellations", "audit", "sms", "events", "requests", "faults", "catalogue", "state"}
	for n, name := range lists {
		others = append(others, g.If(n > 0, g.Text(", ")), html.A(html.Href(name), g.Text(name)))
	}
	return inspector.Section("", "Settings", "", actionForm(
		"settings",
		"",
		inspector.Row(
			html.Label(
				html.Input(html.Type("checkbox"), html.Name("productionMode"), g.If(s.ProductionMode, html.Checked())),
				g.Text(" production mode "), inspector.Soft(fmt.Sprintf("(%d endpoints granted)", len(s.GrantedEndpoints))),
			),
			html.Label(html.Input(html.Type("checkbox"), html.Name("askRepeats"), g.If(s.AskRepeats, html.Checked())),
				g.Text(" the gateway of mock mode asks before a repeated purchase")),
			html.Label(html.Input(html.Type("checkbox"), html.Name("onlineCancellation"), g.If(s.OnlineCancellation, html.Checked())),
				g.Text(" members can cancel online")),
		),
		inspector.Row(
			html.Label(
				g.Text("network nodes "),
				html.Select(html.Name("networkNodeShape"), inspector.Options(s.NetworkNodeShape, "nested", "flat")),
			),
			html.Label(g.Text("webhooks "), html.Select(html.Name("webhooks"), inspector.Options(s.Webhooks, webhookModes...))),
		),
		inspector.Row(
			html.Label(
				g.Text("webhook URL "),
				html.Input(html.Type("url"), html.Name("webhookUrl"), html.Value(s.WebhookURL), g.Attr("size", "40")),
			),
			html.Button(g.Text("Save")),
		),
	), html.P(
		html.Class("soft"),
		g.Text("All settings: "), html.A(html.Href("settings"), g.Text("settings")),
		g.Text(". As JSON: "), others, g.Text("."),
	))
}

func actionForm(name, class string, content ...g.Node) g.Node {
	return html.Form(
		html.Method("post"), g.If(class != "", html.Class(class)),
		html.Input(html.Type("hidden"), html.Name("do"), html.Value(name)), g.Group(content),
	)
}

func numberInput(name, placeholder, label string, more ...g.Node) g.Node {
	return html.Input(
		html.Type("number"), html.Name(name), html.Placeholder(placeholder), html.Aria("label", label),
		html.Style("width:6em"), g.Group(more),
	)
}

// euros formats an amount in cents.
func euros(cents int) string {
	sign := ""
	if cents < 0 {
		sign, cents = "−", -cents
	}
	return fmt.Sprintf("%s%d.%02d\u00a0€", sign, cents/100, cents%100)
}

func lastSegment(iri string) string { return iri[strings.LastIndex(iri, "/")+1:] }
