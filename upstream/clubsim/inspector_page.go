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
		mailboxSection(newest(w.Mails())),
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
			html.P(g.Text("Everything goes back to the start: contacts, sales, payments, faults, settings, the clock, and in mock mode "+
				"registrations. This cannot be undone.")),
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
		g.Map(a.CanceledTwice, func(c Cancellation) g.Node {
			return bad(fmt.Sprintf("Subscription %s was cancelled on %s, and %d times more.",
				lastSegment(c.SubscriptionID), c.At.Format(time.DateTime), c.Repeated))
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
		inspector.DataTable("No sale yet.", []string{"Sale", "Buyer", "State", "Lines", "#Total", "Check"}, sales, func(sale Sale) g.Node {
			return g.Group{
				inspector.Cell("mono", "sale", g.Text(lastSegment(sale.ID))),
				html.Td(g.Text(sale.Buyer), html.Div(html.Class("soft"),
					g.Text(sale.ClubCode+" · "), inspector.When(sale.CreatedAt.Format(time.DateTime)))),
				html.Td(inspector.Pill(sale.State, sale.State), g.If(sale.DueFrom != "", html.Div(html.Class("soft"), g.Text("due "+sale.DueFrom)))),
				html.Td(html.Ul(html.Class("lines"), inspector.ListOr(sale.Lines, line, html.Li(html.Class("empty"), g.Text("empty"))))),
				inspector.Cell("n", "total", g.Text(euros(sale.Total))),
				inspector.Cell("", "check", inspector.ListOr(sale.Problems, problem, html.Span(html.Class("good"), g.Text("valid")))),
			}
		}),
	)
}

func contactsSection(contacts []Contact) g.Node {
	heads := []string{"Contact", "Name", "Status", "Club", "Has", "#Owes", "#On account"}
	table := inspector.DataTable("No contact yet.", heads, contacts, func(contact Contact) g.Node {
		status := contact.Status
		if contact.Deleted {
			status = "migrated"
		}
		return g.Group{
			g.If(contact.Deleted, html.Class("soft")),
			inspector.Cell("mono", "contact", g.Text(lastSegment(contact.ID))),
			html.Td(g.Text(contact.GivenName+" "+contact.FamilyName), html.Div(html.Class("soft"), g.Text(contact.Mobile))),
			html.Td(inspector.Pill(contact.Status, status)),
			inspector.Cell("mono", "club", g.Text(lastSegment(contact.ClubID))),
			html.Td(g.Map(contact.Benefits, benefitOf), g.Map(contact.Tags, tagOf)),
			inspector.Cell(inspector.ClassIf("n", "bad", contact.Debt != 0), "owes", g.Text(euros(contact.Debt))),
			inspector.Cell("n", "on account", g.Text(euros(contact.Credit))),
		}
	})
	return inspector.Section("wide", "Contacts", strconv.Itoa(len(contacts)), table)
}

func tagOf(tag string) g.Node { return g.Group{inspector.Pill("", tag), g.Text(" ")} }

func benefitOf(benefit Benefit) g.Node {
	return html.Div(
		g.Text(benefit.Name+" "),
		html.Span(
			html.Class("soft"), g.Text(benefit.Kind), g.If(benefit.Quantity != 0, g.Textf(" × %d", benefit.Quantity)), g.Text(", from "),
			inspector.When(benefit.ValidFrom),
			g.If(benefit.ValidThrough != "", g.Group{g.Text(" through "), inspector.When(benefit.ValidThrough)}),
		),
		g.If(benefit.State != "", g.Group{g.Text(" "), html.Span(html.Class("bad"), g.Text(benefit.State))}),
		g.If(!benefit.CanceledAt.IsZero(), html.Span(html.Class("warn"), g.Text(" cancelled "+benefit.CanceledAt.Format(time.DateTime)))),
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
			func(entry LedgerEntry) g.Node {
				return g.Group{
					inspector.Cell("mono", "payment", g.Text(lastSegment(entry.ID)),
						html.Div(html.Class("soft when"), g.Text(entry.At.Format(time.DateTime)))),
					inspector.Cell("mono", "sale", g.Text(lastSegment(entry.SaleID))),
					inspector.Cell("", "mean", g.Text(entry.Mean)),
					inspector.Cell("n", "amount", g.Text(euros(entry.Amount))),
					inspector.Cell("", "paid for", inspector.ListOr(entry.Settled, settled, html.Span(html.Class("warn"), g.Text("nothing")))),
					inspector.Cell(inspector.ClassIf("n", "warn", entry.OnAccount != 0), "on account", g.Text(euros(entry.OnAccount))),
				}
			},
		),
	)
}

func messagesSection(messages []SMS) g.Node {
	heads := []string{"Code", "To", "Contact", "Signature request", "Sent"}
	table := inspector.DataTable("No message yet.", heads, messages, func(message SMS) g.Node {
		return g.Group{
			inspector.Cell("mono", "code", html.B(g.Text(message.Code))),
			inspector.Cell("", "to", g.Text(message.To)),
			inspector.Cell("mono", "contact", g.Text(lastSegment(message.ContactID))),
			inspector.Cell("mono", "signature request", g.Text(lastSegment(message.SignatureRequestID))),
			inspector.Cell("soft when", "sent", g.Text(message.SentAt.Format(time.DateTime))),
		}
	})
	return inspector.Section("", "SMS outbox", "", table)
}

func personasSection(personas []Persona) g.Node {
	return inspector.Section("", "Personas", "", inspector.DataTable("", []string{"Key", "Who"}, personas, func(persona Persona) g.Node {
		return g.Group{
			html.Td(html.Class("mono"), g.Text(persona.Key)),
			html.Td(
				g.Text(persona.GivenName+" "+persona.FamilyName+" "), html.Span(html.Class("soft mono"), g.Text(lastSegment(persona.ContactID))),
				html.Div(html.Class("soft"), g.Text(persona.Description)),
				html.Details(html.Summary(g.Text("Tokens")),
					token("identity token", persona.IdentityToken), token("access token", persona.AccessToken)),
			),
		}
	}))
}

func token(of, value string) g.Node {
	return html.Div(html.Class("mono"), html.Style("overflow-wrap:anywhere"), inspector.Soft(of+" "), g.Text(value))
}

func eventsSection(events []Event) g.Node {
	table := inspector.DataTable("No event yet.", []string{"Event", "Object", "Delivery"}, events, func(event Event) g.Node {
		var object g.Group
		for _, name := range slices.Sorted(maps.Keys(event.Object)) {
			object = append(object, html.Div(g.Text(name+" "+lastSegment(event.Object[name]))))
		}
		unsent := "not sent"
		if event.URL == "" {
			unsent = "no URL"
		}
		return g.Group{
			html.Td(g.Text(event.Event), html.Div(html.Class("soft when"), g.Text(event.At.Format(time.DateTime)))),
			html.Td(html.Class("mono"), object),
			html.Td(html.Style("overflow-wrap:anywhere"), inspector.ListOr(event.Deliveries, delivery, inspector.Soft(unsent))),
		}
	})
	return inspector.Section("", "Events", "", table)
}

func delivery(delivery Delivery) g.Node {
	if delivery.Status == 0 {
		return html.Div(html.Class("bad"), g.Text(delivery.Error))
	}
	class := "bad"
	if delivery.Status >= 200 && delivery.Status < 300 {
		class = "good"
	}
	return html.Div(html.Class(class), g.Text(strconv.Itoa(delivery.Status)))
}

func requestsSection(requests []Request) g.Node {
	heads := []string{"At", "Call", "Operation", "Club", "Node", "#Status", "Fault", "Trace", "#ms"}
	table := inspector.DataTable("No request yet.", heads, requests, func(request Request) g.Node {
		status := "none"
		if request.Status != 0 {
			status = strconv.Itoa(request.Status)
		}
		class := inspector.ClassIf("n", "warn", request.Status >= 400 && request.Status < 500)
		class = inspector.ClassIf(class, "bad", request.Status >= 500)
		return g.Group{
			html.Td(html.Class("soft when"), g.Text(request.At.Format(time.DateTime))),
			html.Td(html.Class("mono"), g.Text(request.Method+" "+request.Path)),
			html.Td(g.Text(request.Operation)),
			inspector.Cell("mono", "club", g.Text(lastSegment(request.ClubID))),
			inspector.Cell("mono", "node", g.Text(lastSegment(request.NetworkNodeID))),
			inspector.Cell(class, "status", g.Text(status)),
			html.Td(html.Class("bad"), g.Text(request.Fault)),
			inspector.Cell("mono", "trace", g.Iff(request.TraceID != "", func() g.Node {
				return html.A(html.Href("requests?traceId="+request.TraceID), html.Title(request.TraceID), g.Text(request.TraceID[:8]))
			})),
			inspector.Cell("n", "ms", g.Textf("%.1f", request.DurationMs)),
		}
	})
	return inspector.Section("wide", "Requests", "newest first", table)
}
