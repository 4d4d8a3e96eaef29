package oldsandbox

import (
	"unicode/utf8"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"
)

// longAmount is the length, in characters, of an amount that needs smaller letters to fit on one
// line of a narrow phone.
const longAmount = 10

// page draws the hosted page. Nothing on it is inline, as its security policy demands.
func (v view) page() g.Node {
	title := v.Headline + " · Sandbox checkout"
	if v.Problem != "" {
		title = "Problem: " + title
	}
	return html.Doctype(html.HTML(html.Lang("en"),
		html.Head(
			html.Meta(html.Charset("utf-8")), html.Meta(html.Name("viewport"), html.Content("width=device-width, initial-scale=1")),
			html.Meta(html.Name("robots"), html.Content("noindex")), html.Meta(html.Name("color-scheme"), html.Content("light dark")),
			html.TitleEl(g.Text(title)),
			html.Link(html.Rel("icon"), html.Href("../assets/icon.svg"), html.Type("image/svg+xml")),
			html.Link(html.Rel("stylesheet"), html.Href("../assets/checkout.css")),
			html.Script(html.Src("../assets/checkout.js"), html.Defer()),
		),
		html.Body(html.Main(html.Class("checkout"), html.Data("step", v.Step),
			html.P(html.Class("notice"), html.Span(html.Class("notice-dot"), ariaHidden()), g.Text("Sandbox: no real money")),
			html.Section(html.Class("panel"), html.Aria("labelledby", "headline"), v.step()),
			g.Iff(v.Step == "pay", testCardList),
			html.Footer(html.Class("foot"),
				g.If(v.ID != "", html.P(g.Text("Payment "), html.Code(g.Text(v.ID)))),
				html.P(g.Text("A test double of a card processor. Never enter a real card.")),
			),
		)),
	))
}

func (v view) step() g.Node {
	switch v.Step {
	case "pay":
		return v.pay()
	case "challenge":
		return v.challenge()
	}
	return v.outcome()
}

func (v view) pay() g.Node {
	headline := "Pay"
	if v.Merchant != "" {
		headline = "Pay to"
	}
	described := "hint"
	if v.Problem != "" {
		described = "problem hint"
	}
	return g.Group{
		html.H1(html.Class("eyebrow"), html.ID("headline"), g.Text(headline)),
		v.total(),
		g.If(v.Problem != "", html.Div(html.Class("problem"), html.Role("alert"), html.ID("problem"),
			icon("20", `<circle cx="10" cy="10" r="8.25"/><path d="M10 5.75v5M10 13.9v.1"/>`), html.P(g.Text(v.Problem)))),
		html.Form(html.Class("form"), html.ID("pay"), html.Method("post"), html.Action(v.ID+"/confirm"),
			html.Label(html.For("card"), g.Text("Card number")),
			html.Div(html.Class("field"),
				icon("24", `<rect x="2.75" y="5.25" width="18.5" height="13.5" rx="2.5"/><path d="M2.75 9.75h18.5M6.5 15h3.5"/>`),
				html.Input(html.ID("card"), html.Name("card"), html.Type("text"), g.Attr("inputmode", "numeric"), html.AutoComplete("off"),
					g.Attr("autocapitalize", "off"), g.Attr("spellcheck", "false"), html.MaxLength("24"), html.Required(), html.AutoFocus(),
					g.If(v.Problem != "", html.Aria("invalid", "true")), html.Aria("describedby", described)),
			),
			html.P(html.Class("hint"), html.ID("hint"), g.Text("A test card is enough: no expiry date, no code.")),
			html.Button(html.Class("primary"), html.Type("submit"), html.Data("action", "pay"), g.Text("Pay "), v.amount()),
		),
		v.cancel(),
	}
}

func testCardList() g.Node {
	card := func(c testCard) g.Node {
		return html.Li(html.Button(html.Type("submit"), html.FormAttr("pay"), g.Attr("formnovalidate"), html.Name("card"), html.Value(c.Number),
			html.Class("card"), html.Data("card", c.Spaced()),
			html.Span(html.Class("tone "+c.Tone), ariaHidden()), html.Span(html.Class("card-number"), g.Text(c.Spaced())), html.Span(html.Class("card-does"), g.Text(c.Effect)),
			icon("16", `<path d="m6 3.5 4.5 4.5L6 12.5"/>`),
		))
	}
	return html.Section(html.Class("cards"), html.Aria("labelledby", "cards-title"),
		html.H2(html.Class("eyebrow"), html.ID("cards-title"), g.Text("Test cards: choose one instead of typing")),
		html.Ul(html.Class("list"), g.Map(testCards(), card)))
}

func (v view) challenge() g.Node {
	const shield = `<path d="M12 3 4.75 5.75v5.5c0 4.4 3 8.2 7.25 9.75 4.25-1.55 7.25-5.35 7.25-9.75v-5.5z"/><path d="M12 9.25v3.5M12 15.7v.1"/>`
	return g.Group{
		statusIcon("ask", shield),
		html.H1(html.Class("headline"), html.ID("headline"), g.Text(v.Headline)),
		v.total(),
		html.P(html.Class("text"), g.Text(v.Text)),
		html.Form(html.Class("form"), html.Method("post"), html.Action(v.ID+"/challenge"),
			html.Button(html.Class("primary"), html.Type("submit"), html.Name("approve"), html.Value("true"), html.Data("action", "approve"), g.Text("Approve the payment")),
			html.Button(html.Class("secondary"), html.Type("submit"), html.Name("approve"), html.Value("false"), html.Data("action", "refuse"), g.Text("Refuse")),
		),
		v.cancel(),
	}
}

func (v view) outcome() g.Node {
	drawn := statusIcon("calm", `<path d="m7 7 10 10M17 7 7 17"/>`)
	if v.Step == "done" {
		drawn = statusIcon("good", `<path d="m5.5 12.5 4.25 4.25L18.5 8"/>`)
	}
	return g.Group{
		drawn,
		html.H1(html.Class("headline"), html.ID("headline"), g.Text(v.Headline)),
		g.Iff(v.Amount != "", v.total),
		html.P(html.Class("text"), g.Text(v.Text)),
		g.If(v.ReturnURL != "", html.A(html.Class("primary"), html.Href(v.ReturnURL), html.Data("action", "return"), g.Text("Back to "+v.Merchant))),
	}
}

func (v view) total() g.Node {
	class := "amount"
	if utf8.RuneCountInString(v.Amount) >= longAmount {
		class = "amount long"
	}
	return g.Group{
		g.If(v.Merchant != "", html.P(html.Class("merchant"), g.Text(v.Merchant))),
		html.P(html.Class(class), v.amount()),
	}
}

func (v view) amount() g.Node {
	return g.El("bdi", html.Lang(v.Language), g.Text(v.Amount))
}

// cancel links to ReturnURL, which create checked.
func (v view) cancel() g.Node {
	return g.If(v.ReturnURL != "", html.A(html.Class("quiet"), html.Href(v.ReturnURL), html.Data("action", "cancel"), g.Text("Go back without paying")))
}

func statusIcon(kind, paths string) g.Node {
	return html.Div(html.Class("mark "+kind), ariaHidden(), html.SVG(g.Attr("viewBox", "0 0 24 24"), g.Raw(paths)))
}

// icon is an ornament in a square of a size.
func icon(size, paths string) g.Node {
	return html.SVG(g.Attr("viewBox", "0 0 "+size+" "+size), ariaHidden(), g.Raw(paths))
}

// ariaHidden keeps ornaments from being read out.
func ariaHidden() g.Node { return html.Aria("hidden", "true") }
