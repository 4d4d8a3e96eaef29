package oldsandbox

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"
	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"frontdesk/upstream/inspector"
)

// overviewRows is how many payments the page shows, newest first.
const overviewRows = 60

// overview is the content of the page of a demo world's payments.
type overview struct {
	World    string
	Worlds   []string // that have payments
	Payments []Payment
	Settings Settings
	Problem  string
}

// showOverview responds with the page of a demo world's payments.
func (s *Server) showOverview(w http.ResponseWriter, world, problem string) {
	state := s.world()
	all, _ := state.payments.list(listing{}) // only an unknown before is an error
	view, worlds := overview{World: world, Settings: state.webhooks.settingsOf(world), Problem: problem}, map[string]bool{world: true}
	for _, p := range all.Items {
		worlds[worldOf(p)] = true
		if worldOf(p) == world {
			view.Payments = append(view.Payments, p)
		}
	}
	view.Worlds = slices.Sorted(maps.Keys(worlds))
	var body bytes.Buffer
	_ = view.page().Render(&body) // a buffer accepts everything
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", inspector.ContentSecurityPolicy)
	if problem != "" {
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = body.WriteTo(w)
}

// saveSettings takes the overview's form, and shows the page again.
func (s *Server) saveSettings(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(w, r)
	form, formErr := url.ParseQuery(string(body))
	world := form.Get("world")
	if err == nil && (formErr != nil || mediaType(r) != "application/x-www-form-urlencoded" || !isWorld(world)) {
		err = errInvalid("invalid_body", "This is for the form of the page; programs send PUT with JSON.")
	}
	if err != nil {
		writeError(w, err)
		return
	}
	in := Settings{Webhooks: WebhookMode(form.Get("webhooks")), WebhookURL: form.Get("webhookUrl"), Refunds: RefundMode(form.Get("refunds")),
		Errors: ErrorMode(form.Get("errors")), Confirmations: ConfirmationMode(form.Get("confirmations"))}
	if err := in.check(); err != nil {
		s.showOverview(w, world, err.Error())
		return
	}
	s.world().webhooks.configure(world, in)
	http.Redirect(w, r, s.cfg.BaseURL+"/payments?world="+url.QueryEscape(world), http.StatusSeeOther)
}

func (o overview) page() g.Node {
	return inspector.Page(o.World+" · sandbox card processor", o.head(),
		g.If(o.Problem != "", html.Section(html.Class("problem"), g.Text(o.Problem))), o.payments(), o.settings())
}

func (o overview) head() g.Node {
	others := slices.DeleteFunc(slices.Clone(o.Worlds), func(world string) bool { return world == o.World })
	return html.Header(
		html.H1(g.Text(o.World), html.Small(g.Text("sandbox card processor"))),
		html.Div(html.Class("soft mono"), g.Text("secret key "+DemoSecretKey+" · webhook secret "+DemoWebhookSecret)),
		html.Div(html.Class("fill")),
		g.If(len(others) > 0, html.Div(inspector.Soft("Other worlds: "), g.Map(others, func(world string) g.Node {
			return g.Group{html.A(html.Href("payments?world="+world), g.Text(world)), g.Text(" ")}
		}))),
		html.A(html.Href("../sim/"+o.World+"/_control/"), g.Text("Club system")),
		html.A(html.Href("payments?world="+o.World), g.Text("Refresh")),
	)
}

func (o overview) payments() g.Node {
	shown := o.Payments[:min(len(o.Payments), overviewRows)]
	heads := []string{"Payment", "State", "#Amount", "#Captured", "#Refunded", "Sale", "Metadata"}
	return inspector.Section("wide", "Payments", fmt.Sprintf("%d, newest first", len(o.Payments)), inspector.DataTable("No payment yet.", heads, shown, func(p Payment) g.Node {
		money := func(amount int64) g.Node { return g.Text(formatAmount(amount, p.Currency, language.English)) }
		return g.Group{
			inspector.Cell("mono", "payment", html.A(html.Href("payments/"+p.ID), g.Text(p.ID)),
				html.Div(html.Class("soft when"), g.Text(p.CreatedAt.Format(time.DateTime)))),
			html.Td(inspector.Pill(string(p.State), string(p.State)), html.Div(html.Class("warn"), g.Text(standing(p))), bank(p)),
			inspector.Cell("n", "amount", money(p.Amount)),
			inspector.Cell("n", "captured", money(p.Captured)),
			inspector.Cell("n", "refunded", money(p.Refunded)),
			inspector.Cell("mono", "sale", g.Text(p.Metadata["fd_sale"][strings.LastIndex(p.Metadata["fd_sale"], "/")+1:])),
			html.Td(html.Details(html.Summary(g.Textf("%d entries", len(p.Metadata))), metadata(p))),
		}
	}))
}

// standing is what a payment's state does not say.
func standing(p Payment) string {
	switch {
	case p.Challenge:
		return "the buyer's bank asks for an approval"
	case p.Processing:
		return "the buyer's confirmation is being processed"
	case p.Refunding > 0:
		return "a refund is pending"
	case p.Disputed:
		return "disputed by the buyer"
	case p.FailedRefunds > 0:
		return fmt.Sprintf("%d refunds failed", p.FailedRefunds)
	}
	return p.DeclineCode
}

// bank is what the buyer's bank can do: end the processing of a confirmation, dispute a payment, and let a refund arrive or
// fail, even after it has arrived.
func bank(p Payment) g.Node {
	what := "refund"
	if p.Processing {
		what = "confirmation"
	}
	settle := func(label, succeeded string) g.Node {
		return html.Form(html.Method("post"), html.Action("payments/"+p.ID+"/settle-"+what),
			html.Button(html.Name("succeeded"), html.Value(succeeded), g.Text(label)))
	}
	switch {
	case p.Processing:
		return inspector.Row(settle("Let the bank authorise it", "true"), settle("Let it decline", "false"))
	case p.Refunding > 0:
		return inspector.Row(settle("Let the refund arrive", "true"), settle("Let it fail", "false"))
	case p.Refunded > 0:
		return inspector.Row(settle("Let the refund fail after all", "false"))
	case p.Captured > 0 && !p.Disputed:
		return inspector.Row(html.Form(html.Method("post"), html.Action("payments/"+p.ID+"/dispute"), html.Button(g.Text("Dispute it"))))
	}
	return nil
}

// toOverview is the overview of a payment's world, from an address below the payment.
func toOverview(_ string, p Payment, _ error) string {
	return "../../payments?world=" + url.QueryEscape(worldOf(p))
}

func metadata(p Payment) g.Node {
	return html.Ul(html.Class("lines mono"), g.Map(slices.Sorted(maps.Keys(p.Metadata)), func(key string) g.Node {
		return html.Li(inspector.Soft(key+" "), g.Text(p.Metadata[key]))
	}))
}

func (o overview) settings() g.Node {
	choose := func(label, name, chosen string, all ...string) g.Node {
		return html.Label(g.Text(label+" "), html.Select(html.Name(name), inspector.Options(chosen, all...)))
	}
	return inspector.Section("wide", "Settings", "of this world",
		html.Form(html.Method("post"), html.Action("settings"), html.Input(html.Type("hidden"), html.Name("world"), html.Value(o.World)),
			inspector.Row(
				choose("webhooks", "webhooks", string(o.Settings.Webhooks), "normal", "drop", "duplicate", "late", "reorder"),
				html.Label(g.Text("refunds "), html.Select(html.Name("refunds"), html.Option(html.Value(""), g.Text("normal")), inspector.Options(string(o.Settings.Refunds), "pending", "refused"))),
				html.Label(g.Text("errors "),
					html.Select(html.Name("errors"), html.Option(html.Value(""), g.Text("none")),
						inspector.Options(string(o.Settings.Errors), "before", "after"))),
				html.Label(g.Text("confirmations "),
					html.Select(html.Name("confirmations"), html.Option(html.Value(""), g.Text("normal")),
						inspector.Options(string(o.Settings.Confirmations), "processing"))),
				html.Label(g.Text("webhook URL "), html.Input(html.Type("url"), html.Name("webhookUrl"), html.Value(o.Settings.WebhookURL), g.Attr("size", "40"))),
				html.Button(g.Text("Save")),
			)),
		html.P(html.Class("soft"), g.Text("As JSON: "), html.A(html.Href("settings?world="+o.World), g.Text("settings")),
			g.Text(", and this list for clients that do not accept text/html.")))
}
