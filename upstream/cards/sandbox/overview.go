package sandbox

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"frontdesk/upstream/inspector"
)

// overviewRows is how many payments the page shows, newest first.
const overviewRows = 60

// overview is the content of the merchant's page: the payments of a demo world.
type overview struct {
	World, Account, Key string
	Others              []string // worlds that have payments
	Payments            []Payment
	Settings            Settings
	Mounted             bool // below a path of another server, which has the club system as well
	Problem             string
}

// showOverview responds with the merchant's page of a demo world.
func (s *Server) showOverview(w http.ResponseWriter, world, problem string) {
	worlds := map[string]bool{}
	for _, p := range s.Payments() {
		worlds[worldOf(p.Metadata["fd_sale"])] = true
	}
	delete(worlds, world)
	view := overview{
		World:    world,
		Account:  s.accounts[0].ID,
		Key:      s.PublishableKey,
		Others:   slices.Sorted(maps.Keys(worlds)),
		Payments: s.PaymentsIn(world),
		Settings: s.Settings(world),
		Mounted:  s.mount != "",
		Problem:  problem,
	}
	var body bytes.Buffer
	_ = view.page().Render(&body) // a buffer accepts everything
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", inspector.ContentSecurityPolicy)
	if problem != "" {
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = body.WriteTo(w)
}

func (o overview) page() g.Node {
	return inspector.Page(o.World+" · sandbox card processor", o.head(),
		g.If(o.Problem != "", html.Section(html.Class("problem"), g.Text(o.Problem))), o.payments(), o.settings())
}

func (o overview) head() g.Node {
	return html.Header(
		html.H1(g.Text(o.World), html.Small(g.Text("sandbox card processor"))),
		html.Div(html.Class("soft mono"), g.Text("account "+o.Account+" · publishable key "+o.Key+" · API "+APIVersion)),
		html.Div(html.Class("fill")),
		g.If(len(o.Others) > 0, html.Div(inspector.Soft("Other worlds: "), g.Map(o.Others, func(world string) g.Node {
			return g.Group{html.A(html.Href("payments?world="+world), g.Text(world)), g.Text(" ")}
		}))),
		g.If(o.Mounted, html.A(html.Href("../sim/"+o.World+"/_control/"), g.Text("Club system"))),
		html.A(html.Href("payments?world="+o.World), g.Text("Refresh")),
	)
}

func (o overview) payments() g.Node {
	newest := o.Payments[:min(len(o.Payments), overviewRows)]
	heads := []string{"Payment", "State", "#Amount", "#Captured", "#Refunded", "Sale", "Metadata"}
	table := inspector.DataTable("No payment yet.", heads, newest, func(payment Payment) g.Node {
		sale := payment.Metadata["fd_sale"]
		return g.Group{
			inspector.Cell("mono", "payment", html.A(html.Href("payments/"+payment.ID), g.Text(payment.ID)),
				html.Div(html.Class("soft when"), g.Text(payment.CreatedAt.Format(time.DateTime)))),
			html.Td(inspector.Pill(string(payment.State), string(payment.State)),
				html.Div(html.Class("warn"), g.Text(standing(payment))), bank(payment)),
			inspector.Cell("n", "amount", g.Text(money(payment.Amount, payment.Currency))),
			inspector.Cell("n", "captured", g.Text(money(payment.Captured, payment.Currency))),
			inspector.Cell("n", "refunded", g.Text(money(payment.Refunded, payment.Currency))),
			inspector.Cell("mono", "sale", g.Text(sale[strings.LastIndex(sale, "/")+1:])),
			html.Td(html.Details(html.Summary(g.Textf("%d entries", len(payment.Metadata))), entries(payment))),
		}
	})
	return inspector.Section("wide", "Payments", fmt.Sprintf("%d, newest first", len(o.Payments)), table)
}

// money writes minor units as an English reader does: €49.90.
func money(minor int64, code string) string {
	printer, symbol, digits := message.NewPrinter(language.English), code+" ", 2
	if unit, err := currency.ParseISO(code); err == nil {
		symbol = printer.Sprint(currency.Symbol(unit))
		digits, _ = currency.Standard.Rounding(unit)
	}
	// A float64 holds the at most eight digits of an amount exactly enough to print.
	return symbol + printer.Sprint(number.Decimal(float64(minor)/math.Pow10(digits), number.Scale(digits)))
}

// standing is what a payment's state does not say.
func standing(payment Payment) string {
	switch {
	case payment.Challenge:
		return "the buyer's bank asks for an approval"
	case payment.Processing && payment.State == "authorised":
		return "the capture is being processed"
	case payment.Processing:
		return "the buyer's confirmation is being processed"
	case payment.Refunding > 0:
		return "a refund is pending"
	case payment.Disputed:
		return "disputed by the buyer"
	case payment.FailedRefunds > 0:
		return fmt.Sprintf("%d refunds failed", payment.FailedRefunds)
	}
	return payment.DeclineCode
}

// bank is what the bank can do: end what is processing, let an authorisation expire, dispute a payment, and let a refund arrive or
// fail, even after it has arrived.
func bank(payment Payment) g.Node {
	form := func(action, label string, value ...g.Node) g.Node {
		return html.Form(html.Method("post"), html.Action("payments/"+payment.ID+"/"+action), html.Button(g.Group(value), g.Text(label)))
	}
	settle := func(what, label, succeeded string) g.Node {
		return form("settle-"+what, label, html.Name("succeeded"), html.Value(succeeded))
	}
	switch {
	case payment.Processing:
		return inspector.Row(settle("confirmation", "Let it succeed", "true"), settle("confirmation", "Let it fail", "false"))
	case payment.Refunding > 0:
		return inspector.Row(settle("refund", "Let the refund arrive", "true"), settle("refund", "Let it fail", "false"))
	case payment.Refunded > 0:
		return inspector.Row(settle("refund", "Let the refund fail after all", "false"))
	case payment.Captured > 0 && !payment.Disputed:
		return inspector.Row(form("dispute", "Dispute it"))
	case payment.State == "authorised":
		return inspector.Row(form("expire", "Let it expire"))
	}
	return nil
}

func entries(payment Payment) g.Node {
	return html.Ul(html.Class("lines mono"), g.Map(slices.Sorted(maps.Keys(payment.Metadata)), func(key string) g.Node {
		return html.Li(inspector.Soft(key+" "), g.Text(payment.Metadata[key]))
	}))
}

func (o overview) settings() g.Node {
	set := o.Settings
	figure := func(n int) string { return strings.TrimPrefix(strconv.Itoa(n), "0") } // empty for zero
	choose := func(name, standard, chosen string, others ...string) g.Node {
		return html.Label(g.Text(name+" "), html.Select(html.Name(name), html.Option(html.Value(""), g.Text(standard)),
			inspector.Options(chosen, others...)))
	}
	field := func(name, kind, value, size string) g.Node {
		return html.Label(g.Text(name+" "), html.Input(html.Type(kind), html.Name(name), html.Value(value), g.Attr("size", size)))
	}
	address := "settings?world=" + url.QueryEscape(o.World)
	return inspector.Section("wide", "Settings", "of this world",
		html.Form(html.Method("post"), html.Action("settings"), html.Input(html.Type("hidden"), html.Name("world"), html.Value(o.World)),
			inspector.Row(
				choose("webhooks", "normal", string(set.Webhooks), "drop", "duplicate", "late", "reorder"),
				choose("refunds", "normal", set.Refunds, "pending", "refused"),
				choose("errors", "none", set.Errors, "before", "after"),
				choose("confirmations", "at once", set.Confirmations, "processing"),
				choose("captures", "at once", set.Captures, "processing"),
				choose("challenges", "redirect", set.Challenges, "modal"),
				choose("secrets", "all", figure(set.Secrets), "1", "2"),
				field("captureBefore", "text", set.CaptureBefore, "6"),
				field("rateLimit", "number", figure(set.RateLimit), "6"),
				field("webhookUrl", "url", set.WebhookURL, "40"),
				html.Button(g.Text("Save")),
			)),
		html.P(html.Class("soft"), g.Text("As JSON: "), html.A(html.Href(address), g.Text("settings")),
			g.Text(", and this list for clients that do not accept text/html.")))
}
