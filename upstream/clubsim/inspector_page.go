package clubsim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"frontdesk/upstream/inspector"
)

// This file draws the inspector: from the whole page down to a cell.

// newest reverses a list, in place, and shortens it to what the page shows.
func newest[T any](list []T) []T {
	slices.Reverse(list)
	return list[:min(len(list), 60)]
}

func (w *World) inspectorPage(problem string) g.Node {
	audit := w.Audit()
	return inspector.Page(
		w.clientToken+" · club system simulator",
		w.pageHead(audit.OK),
		g.If(problem != "", html.Section(html.Class("problem"), g.Text(problem))),
		g.Iff(!audit.OK, audit.section),
		salesSection(
			newest(w.Sales()),
		),
		contactsSection(newest(w.Contacts())),
		ledgerSection(newest(w.Ledger())),
		messagesSection(newest(w.SMS())),
		faultsSection(w.Faults()),
		w.Settings().section(),
		personasSection(w.Personas()),
		eventsSection(newest(w.Events())),
		requestsSection(newest(w.Requests())),
	)
}

func (w *World) pageHead(inOrder bool) g.Node {
	credentials := w.Credentials()
	books := html.Span(html.Class("good"), g.Text("● the books are in order"))
	if !inOrder {
		books = html.A(html.Class("bad"), html.Href("#audit"), g.Text("● the audit found something"))
	}
	by := func(span, label string) g.Node {
		return html.Button(html.Name("by"), html.Value(span), g.Text(label))
	}
	return html.Header(
		html.H1(g.Text(w.clientToken), html.Small(g.Text("club system simulator · "+w.Now().Format(time.DateTime)+" UTC"))),
		html.Div(books),
		html.Div(
			html.Class("soft mono"),
			g.Textf("client %s · secret %s · key %s", credentials.ClientID, credentials.ClientSecret, credentials.GatewayKey),
		),
		html.Div(html.Class("fill")),
		actionForm("advance", "", by("PT15M", "+ 15 min"), g.Text(" "), by("P1D", "+ 1 day"), g.Text(" "), by("P1M", "+ 1 month")),
		html.A(html.Href("./"), g.Text("Refresh")),
		html.Details(html.Summary(g.Text("Reset the world")), actionForm("reset", "",
			html.P(g.Text("Contacts, sales, payments, faults, settings and the clock go back to the start. This cannot be undone.")),
			html.Button(html.Class("danger"), g.Text("Yes, reset "+w.clientToken)),
		)),
	)
}

func (a Audit) section() g.Node {
	bad := func(text string) g.Node { return html.Li(html.Class("bad"), g.Text(text)) }
	warn := func(text string) g.Node { return html.Li(html.Class("warn"), g.Text(text)) }
	return html.Section(html.Class("wide"), html.ID("audit"), html.H2(g.Text("Audit")), html.Ul(
		g.Map(a.SalesPaidTwice, func(p PaidTwice) g.Node {
			return bad(
				fmt.Sprintf("Sale %s of %s was paid %d times: %s came in.", lastSegment(p.SaleID), euros(p.Total), len(p.PaymentIDs), euros(p.Amount)),
			)
		}),
		g.Map(a.PaymentsSettlingNothing, func(p UnallocatedPayment) g.Node {
			return warn(
				fmt.Sprintf("Payment %s of %s for sale %s settled nothing.", lastSegment(p.PaymentID), euros(p.Amount), lastSegment(p.SaleID)),
			)
		}),
		g.Map(a.UndeliverableSMS, func(m UndeliverableSMS) g.Node {
			return warn(fmt.Sprintf("An SMS to contact %s could not be delivered (number “%s”).", lastSegment(m.ContactID), m.To))
		}),
		g.Map(a.ContactsSignedTwice, func(c SignedTwice) g.Node {
			return bad(fmt.Sprintf("Contact %s signed %d mandates for club %s.", lastSegment(c.ContactID), len(c.MandateIDs), lastSegment(c.ClubID)))
		}),
		g.Map(a.Unbalanced, bad),
	))
}

func salesSection(sales []Sale) g.Node {
	line := func(l Line) g.Node {
		return html.Li(
			g.If(l.Parent != "", g.Group{inspector.Soft("↳"), g.Text(" ")}), g.Text(l.Name+" "),
			html.Span(html.Class("soft n"), g.Text(euros(l.Price))),
		)
	}
	problem := func(code string) g.Node { return html.Div(html.Class("warn"), g.Text(code)) }
	return inspector.Section(
		"wide",
		"Sales",
		strconv.Itoa(len(sales)),
		inspector.DataTable("No sale yet.", []string{"Sale", "Buyer", "State", "Lines", "#Total", "Check"}, sales, func(s Sale) g.Node {
			return g.Group{
				inspector.Cell("mono", "sale", g.Text(lastSegment(s.ID))),
				html.Td(g.Text(s.Buyer), html.Div(html.Class("soft"), g.Text(s.ClubCode+" · "), inspector.When(s.CreatedAt.Format(time.DateTime)))),
				html.Td(inspector.Pill(s.State, s.State), g.If(s.DueFrom != "", html.Div(html.Class("soft"), g.Text("due "+s.DueFrom)))),
				html.Td(html.Ul(html.Class("lines"), inspector.ListOr(s.Lines, line, html.Li(html.Class("empty"), g.Text("empty"))))),
				inspector.Cell("n", "total", g.Text(euros(s.Total))),
				inspector.Cell("", "check", inspector.ListOr(s.Problems, problem, html.Span(html.Class("good"), g.Text("valid")))),
			}
		}),
	)
}

func contactsSection(contacts []Contact) g.Node {
	heads := []string{"Contact", "Name", "Status", "Club", "Has", "#Owes", "#On account"}
	table := inspector.DataTable("No contact yet.", heads, contacts, func(c Contact) g.Node {
		status := c.Status
		if c.Deleted {
			status = "migrated"
		}
		return g.Group{
			g.If(c.Deleted, html.Class("soft")),
			inspector.Cell("mono", "contact", g.Text(lastSegment(c.ID))),
			html.Td(g.Text(c.GivenName+" "+c.FamilyName), html.Div(html.Class("soft"), g.Text(c.Mobile))),
			html.Td(inspector.Pill(c.Status, status)),
			inspector.Cell("mono", "club", g.Text(lastSegment(c.ClubID))),
			html.Td(g.Map(c.Benefits, benefitOf), g.Map(c.Tags, func(tag string) g.Node { return g.Group{inspector.Pill("", tag), g.Text(" ")} })),
			inspector.Cell(inspector.ClassIf("n", "bad", c.Debt != 0), "owes", g.Text(euros(c.Debt))),
			inspector.Cell("n", "on account", g.Text(euros(c.Credit))),
		}
	})
	return inspector.Section("wide", "Contacts", strconv.Itoa(len(contacts)), table)
}

func benefitOf(b Benefit) g.Node {
	return html.Div(
		g.Text(b.Name+" "),
		html.Span(
			html.Class("soft"), g.Text(b.Kind), g.If(b.Quantity != 0, g.Textf(" × %d", b.Quantity)), g.Text(", from "),
			inspector.When(b.ValidFrom),
			g.If(b.ValidThrough != "", g.Group{g.Text(" through "), inspector.When(b.ValidThrough)}),
		),
		g.If(b.State != "", g.Group{g.Text(" "), html.Span(html.Class("bad"), g.Text(b.State))}),
	)
}

func ledgerSection(ledger []LedgerEntry) g.Node {
	settled := func(s Settlement) g.Node {
		return html.Div(g.Textf("sale %s: %s", lastSegment(s.SaleID), euros(s.Amount)))
	}
	return inspector.Section(
		"",
		"Ledger",
		"payments, newest first",
		inspector.DataTable(
			"No payment yet.",
			[]string{"Payment", "Sale", "Mean", "#Amount", "Paid for", "#On account"},
			ledger,
			func(p LedgerEntry) g.Node {
				return g.Group{
					inspector.Cell("mono", "payment", g.Text(lastSegment(p.ID)), html.Div(html.Class("soft when"), g.Text(p.At.Format(time.DateTime)))),
					inspector.Cell("mono", "sale", g.Text(lastSegment(p.SaleID))),
					inspector.Cell("", "mean", g.Text(p.Mean)),
					inspector.Cell("n", "amount", g.Text(euros(p.Amount))),
					inspector.Cell("", "paid for", inspector.ListOr(p.Settled, settled, html.Span(html.Class("warn"), g.Text("nothing")))),
					inspector.Cell(inspector.ClassIf("n", "warn", p.OnAccount != 0), "on account", g.Text(euros(p.OnAccount))),
				}
			},
		),
	)
}

func messagesSection(messages []SMS) g.Node {
	return inspector.Section(
		"",
		"SMS outbox",
		"",
		inspector.DataTable("No message yet.", []string{"Code", "To", "Contact", "Signature request", "Sent"}, messages, func(m SMS) g.Node {
			return g.Group{
				inspector.Cell("mono", "code", html.B(g.Text(m.Code))),
				inspector.Cell("", "to", g.Text(m.To)),
				inspector.Cell("mono", "contact", g.Text(lastSegment(m.ContactID))),
				inspector.Cell("mono", "signature request", g.Text(lastSegment(m.SignatureRequestID))),
				inspector.Cell("soft when", "sent", g.Text(m.SentAt.Format(time.DateTime))),
			}
		}),
	)
}

func personasSection(personas []Persona) g.Node {
	return inspector.Section("", "Personas", "", inspector.DataTable("", []string{"Key", "Who"}, personas, func(p Persona) g.Node {
		return g.Group{
			html.Td(html.Class("mono"), g.Text(p.Key)),
			html.Td(
				g.Text(p.GivenName+" "+p.FamilyName+" "), html.Span(html.Class("soft mono"), g.Text(lastSegment(p.ContactID))),
				html.Div(html.Class("soft"), g.Text(p.Description)),
				html.Details(html.Summary(g.Text("Tokens")), token("identity token", p.IdentityToken), token("access token", p.AccessToken)),
			),
		}
	}))
}

func token(of, value string) g.Node {
	return html.Div(html.Class("mono"), html.Style("overflow-wrap:anywhere"), inspector.Soft(of+" "), g.Text(value))
}

func eventsSection(events []Event) g.Node {
	table := inspector.DataTable("No event yet.", []string{"Event", "Object", "Delivery"}, events, func(e Event) g.Node {
		var object g.Group
		for _, name := range slices.Sorted(maps.Keys(e.Object)) {
			object = append(object, html.Div(g.Text(name+" "+lastSegment(e.Object[name]))))
		}
		unsent := "not sent"
		if e.URL == "" {
			unsent = "no URL"
		}
		return g.Group{
			html.Td(g.Text(e.Event), html.Div(html.Class("soft when"), g.Text(e.At.Format(time.DateTime)))),
			html.Td(html.Class("mono"), object),
			html.Td(html.Style("overflow-wrap:anywhere"), inspector.ListOr(e.Deliveries, delivery, inspector.Soft(unsent))),
		}
	})
	return inspector.Section("", "Events", "", table)
}

func delivery(d Delivery) g.Node {
	if d.Status == 0 {
		return html.Div(html.Class("bad"), g.Text(d.Error))
	}
	class := "bad"
	if d.Status >= 200 && d.Status < 300 {
		class = "good"
	}
	return html.Div(html.Class(class), g.Text(strconv.Itoa(d.Status)))
}

func requestsSection(requests []Request) g.Node {
	heads := []string{"At", "Call", "Operation", "Club", "Node", "#Status", "Fault", "Trace", "#ms"}
	table := inspector.DataTable("No request yet.", heads, requests, func(r Request) g.Node {
		status := "none"
		if r.Status != 0 {
			status = strconv.Itoa(r.Status)
		}
		class := inspector.ClassIf("n", "warn", r.Status >= 400 && r.Status < 500)
		class = inspector.ClassIf(class, "bad", r.Status >= 500)
		return g.Group{
			html.Td(html.Class("soft when"), g.Text(r.At.Format(time.DateTime))),
			html.Td(html.Class("mono"), g.Text(r.Method+" "+r.Path)),
			html.Td(g.Text(r.Operation)),
			inspector.Cell("mono", "club", g.Text(lastSegment(r.ClubID))),
			inspector.Cell("mono", "node", g.Text(lastSegment(r.NetworkNodeID))),
			inspector.Cell(class, "status", g.Text(status)),
			html.Td(html.Class("bad"), g.Text(r.Fault)),
			inspector.Cell("mono", "trace", g.Iff(r.TraceID != "", func() g.Node {
				return html.A(html.Href("requests?traceId="+r.TraceID), html.Title(r.TraceID), g.Text(r.TraceID[:8]))
			})),
			inspector.Cell("n", "ms", g.Textf("%.1f", r.DurationMs)),
		}
	})
	return inspector.Section("wide", "Requests", "newest first", table)
}
