package handlers

import (
	"bytes"
	"cmp"
	"net/http"

	"github.com/labstack/echo/v4"
	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"frontdesk/flows"
	"frontdesk/flows/text"
)

// cardPageRoute is the gateway's own page on which a buyer enters a card, for front ends without card fields. Each state of
// the payment is a page; web-example/pay.js shows the card fields and reads the page again. It works for the holder of the
// address alone: it shows what is ordered, and not by whom.
const cardPageRoute = "/pay/:payment/:proof"

// cardPage is what the page shows.
type cardPage struct {
	texts
	State                text.PageCode // of the payment's view, except refunding and unavailable
	Message              string
	Amount, Club, Return string // empty: unknown
	Secret, Key, Script  string // of the card fields; empty: no card can be entered
	Order                pageOrder
}

// The states of the page. All but two are of api.PaymentState.
const (
	pageRequiresAction text.PageCode = "requires_action"
	pageDeclined       text.PageCode = "declined"
	pageProcessing     text.PageCode = "processing"
	pageRecorded       text.PageCode = "recorded"
	pageInDoubt        text.PageCode = "in_doubt"
	pageCancelled      text.PageCode = "cancelled"
	pageRefunding      text.PageCode = "refunding"
	pageRefunded       text.PageCode = "refunded"
	pageUnavailable    text.PageCode = "unavailable" // the gateway cannot read the payment at the moment
)

// The other texts of the page.
const (
	pageSecure   text.PageCode = "secure"
	pageFooter   text.PageCode = "footer"
	pageLabel    text.PageCode = "label" // of the form
	pagePaying   text.PageCode = "paying"
	pageFailed   text.PageCode = "failed"
	pageUnloaded text.PageCode = "unloaded"
	pageTryAgain text.PageCode = "try_again" // after a decline
	pageAgain    text.PageCode = "again"
	pageLeave    text.PageCode = "leave"
	pageContinue text.PageCode = "continue"
	pageNoScript text.PageCode = "no_script"
)

// cardPageIcons are symbols of icons.svg.
var cardPageIcons = map[text.PageCode]string{
	pageRequiresAction: "card",
	pageDeclined:       "alert",
	pageProcessing:     "clock",
	pageRecorded:       "tick",
	pageInDoubt:        "shield",
	pageCancelled:      "info",
	pageRefunding:      "back",
	pageRefunded:       "back",
	pageUnavailable:    "clock",
}

// showCardPage serves GET /pay/{payment}/{proof}.
func (s *Server) showCardPage(c echo.Context) error {
	ctx := c.Request().Context()
	payment, view, err := s.cfg.Registrations.CardPage(ctx, flows.PaymentID(c.Param("payment")), c.Param("proof"))
	if err != nil {
		return err
	}
	texts, shown := languageOf(c.Request()), payment.View
	page := cardPage{
		texts:  texts,
		State:  text.PageCode(shown.State),
		Club:   singleLine(payment.Description),
		Return: s.here(c.Request(), payment.ReturnURL),
		Amount: texts.Money(payment.Amount, currencyCode(payment.Currency)),
	}
	page.Message = texts.message(shown.Message, payment.Payment).Text
	if page.State == pageDeclined { // as the heading says
		page.Message = texts.Page[pageTryAgain]
	}
	if shown.Refunding {
		page.State = pageRefunding
	}
	if s.cfg.CardScriptURL != "" && shown.ClientSecret != "" {
		page.Secret, page.Key, page.Script = shown.ClientSecret, s.cfg.PublishableKey, s.here(c.Request(), s.cfg.CardScriptURL)
		page.Order = s.pageOrderOf(texts, view)
	}
	return s.writeCardPage(c, http.StatusOK, page)
}

// writeCardPage writes the page under a policy of its own: only here the card processor's script may run. The path is a
// secret, so no other site reads it as the referrer.
func (s *Server) writeCardPage(c echo.Context, status int, page cardPage) error {
	var body bytes.Buffer
	_ = page.node().Render(&body) // a buffer accepts everything
	header := c.Response().Header()
	header.Set("Content-Security-Policy", s.here(c.Request(), s.cardPagePolicy()))
	header.Set("Referrer-Policy", "strict-origin")
	header.Set("X-Robots-Tag", "noindex")
	page.announce(header)
	return c.HTMLBlob(status, body.Bytes())
}

func (s *Server) cardPagePolicy() string {
	card := s.cardFields()
	return "default-src 'none'; script-src 'self' " + card["script-src"] + "; frame-src " + cmp.Or(card["frame-src"], "'none'") +
		"; connect-src 'self' " + card["connect-src"] + "; style-src 'self'; img-src 'self'; font-src 'self'" +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// node draws the page with the site's styles. Nothing on it is inline, as its policy demands.
func (p cardPage) node() g.Node {
	title := p.Page[p.State]
	if p.Club != "" {
		title += " · " + p.Club
	}
	style := func(name string) g.Node { return html.Link(html.Rel("stylesheet"), html.Href("/"+name+".css")) }
	return html.Doctype(html.HTML(html.Lang(p.Tag),
		html.Head(
			html.Meta(html.Charset("utf-8")), html.Meta(html.Name("viewport"), html.Content("width=device-width, initial-scale=1")),
			html.TitleEl(g.Text(title)), html.Meta(html.Name("color-scheme"), html.Content("light dark")),
			html.Link(html.Rel("icon"), html.Href("/logo.svg"), html.Type("image/svg+xml")), style("theme"), style("site"), style("steps"),
			html.Script(html.Type("module"), html.Src("/pay.js")),
		),
		html.Body(
			html.Header(html.Class("top"),
				html.Span(html.Class("brand"), html.Span(html.Class("logo"), html.Aria("hidden", "true")), g.Text(p.Club)),
				html.P(html.Class("secure"), icon("lock"), g.Text(p.Page[pageSecure]))),
			html.P(html.Class("sr-only"), html.Role("status"), html.Data("announce", "")),
			html.Main(html.Class("page pay"), html.Data("pay", string(p.State)), p.state()),
			html.Footer(html.Class("foot page"), html.P(g.Text(p.Page[pageFooter]))),
		),
	))
}

func (p cardPage) state() g.Node {
	return html.Section(html.Class("outcome is-"+string(p.State)),
		html.Span(html.Class("seal"), html.Aria("hidden", "true"), icon(cardPageIcons[p.State])),
		html.H1(html.TabIndex("-1"), g.Text(p.Page[p.State])),
		g.If(p.Amount != "", html.P(html.Class("pay-sum"),
			html.Strong(html.Class("amount price-tag"), html.Data("amount", ""), g.Text(p.Amount)),
			html.Span(html.Data("club", ""), g.Text(p.Club)))),
		html.P(html.Class("lead"), g.Text(p.Message)),
		g.Iff(p.Secret != "", p.form),
		html.Div(html.Class("actions"), p.exit()),
	)
}

// form is where the script shows the card fields, with everything that it needs for them.
func (p cardPage) form() g.Node {
	return g.Group{
		html.NoScript(html.P(html.Class("problem"), g.Text(p.Page[pageNoScript]))),
		html.Form(html.Class("panel card-form needs-script"), html.Aria("label", p.Page[pageLabel]), g.Attr("novalidate"),
			html.Data("secret", p.Secret), html.Data("key", p.Key), html.Data("script", p.Script),
			html.Data("failed", p.Page[pageFailed]), html.Data("unloaded", p.Page[pageUnloaded]),
			g.If(p.Order.Seller != "", html.P(html.Class("fine"), html.Data("seller", ""), g.Text(p.Order.Seller))),
			html.Div(html.Class("card-fields"), html.Data("card-fields", "loading"),
				html.I(html.Class("bone bone-box"), html.Aria("hidden", "true"))),
			html.P(html.Class("field-error"), html.Role("alert"), html.Data("card-error", "")),
			p.order(),
			html.Button(html.Class("button button-quiet"), html.Type("button"), html.Data("card-again", ""), g.Attr("hidden"),
				g.Text(p.Page[pageAgain])),
		),
	}
}

// exit is the link that leads back to the front end, or to the same page while nothing is known of the payment.
func (p cardPage) exit() g.Node {
	switch {
	case p.Return == "":
		return html.A(html.Class("button"), html.Href(""), g.Text(p.Page[pageAgain]))
	case p.Secret != "":
		return html.A(html.Class("button button-quiet"), html.Data("return", ""), html.Href(p.Return), g.Text(p.Page[pageLeave]))
	}
	return html.A(html.Class("button"), html.Data("return", ""), html.Href(p.Return), g.Text(p.Page[pageContinue]))
}

// icon is a decorative symbol of the site's sprite.
func icon(name string) g.Node {
	return html.SVG(html.Class("icon"), html.Aria("hidden", "true"), g.El("use", html.Href("/icons.svg#"+name)))
}
