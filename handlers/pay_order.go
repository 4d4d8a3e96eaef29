package handlers

import (
	"net/url"
	"slices"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/contract"
	"frontdesk/flows/schedule"
	"frontdesk/flows/text"
)

// The texts of the card page about the order. The button has the words that the law asks for.
const (
	pageWithObligation text.PageCode = "order_with_obligation_to_pay"
	pagePayNow         text.PageCode = "pay_now"
	pageSeller         text.PageCode = "seller"  // trader, club
	pageSoldBy         text.PageCode = "sold_by" // trader
	pageOrdered        text.PageCode = "ordered"
	pageStarts         text.PageCode = "starts" // day
	pageDueNow         text.PageCode = "due"    // amount
	pageNothingFollows text.PageCode = "nothing_follows"
	pageMayFollow      text.PageCode = "may_follow"
	pageTotal          text.PageCode = "total"
	pagePersonalised   text.PageCode = "personalised" // names
	pageGuarantee      text.PageCode = "guarantee"
	pageGuaranteeWords text.PageCode = "guarantee_words"
	pageGuaranteeMore  text.PageCode = "guarantee_more"

	pageGuaranteeNotice text.PageCode = "guarantee_notice"
)

// guaranteePage is where the EU describes the legal guarantee of goods.
const guaranteePage = "https://europa.eu/youreurope/citizens/consumers/shopping/guarantees-returns/index_en.htm"

// pageOrder is what the card page shows of the order: the words of its button, and the essential terms directly above it.
type pageOrder struct {
	Button   string
	Seller   string // empty: not known
	Items    []pageItem
	Terms    []string
	HasGoods bool
	Notice   string // the address of the EU's picture about the legal guarantee; empty: the operator has none
}

// pageItem is a line of the order, as the page shows it.
type pageItem struct{ Name, Starts, HandedOver, Price string }

// pageOrderOf returns the order of a registration whose payment has a card page.
func (s *Server) pageOrderOf(texts texts, view flows.View) pageOrder {
	club := s.cfg.Catalogue.Details(view.ClubID)
	out := pageOrder{Button: texts.Page[pageWithObligation]}
	if club.Trader != nil {
		out.Seller = texts.soldBy(club.Trader.Name, singleLine(view.ClubName))
	}
	if len(view.Cart.Lines) == 0 { // Redis has lost it
		out.Terms = []string{texts.Page[pageMayFollow]}
		return out
	}
	order := contract.OrderOf(view, club, s.cfg.Now())
	if order.Button == contract.PayNow {
		out.Button = texts.Page[pagePayNow]
	}
	out.HasGoods = order.HasGoods()
	if notice, ok := club.Document(flows.DocumentGuaranteeNotice, texts.Tag); ok {
		out.Notice = "/v1/clubs/" + url.PathEscape(view.ClubID) + "/documents/" + notice.SHA256
	}
	ordered := order.In(texts.Tag, view, club)
	currency := currencyCode(view.Cart.Currency)
	for _, item := range ordered.Items {
		line := pageItem{Name: item.Name, Price: texts.Money(item.Price.Amount, currency)}
		if start, ok := schedule.ParseDate(item.StartDate); ok {
			line.Starts = texts.page(pageStarts, "day", texts.day(start))
		}
		if item.Type == catalogue.Goods {
			line.HandedOver = contract.HandedOver(texts.Language, singleLine(view.ClubName), contract.PlaceOf(view.Registration, club))
		}
		out.Items = append(out.Items, line)
	}
	out.Terms = append(out.Terms, texts.page(pageDueNow, "amount", texts.Money(order.DueNow.Amount, currency)))
	out.Terms = append(out.Terms, ordered.TaxesIncluded(texts.Language)...)
	out.Terms = append(out.Terms, texts.laterTerms(ordered, currency)...)
	for _, term := range append([]string{ordered.Lasting(texts.Language), ordered.Renewal}, ordered.Notices(texts.Language)...) {
		if term != "" {
			out.Terms = append(out.Terms, term)
		}
	}
	out.Terms = append(out.Terms, ordered.Withdrawals(texts.Language)...)
	if names := namesWhere(ordered, func(i int) bool { return ordered.Items[i].Personalised }); names != "" {
		out.Terms = append(out.Terms, texts.page(pagePersonalised, "names", names))
	}
	return out
}

// soldBy says who sells, and for which club, as far as that has another name.
func (l texts) soldBy(trader, club string) string {
	if club == "" || club == trader {
		return l.page(pageSoldBy, "trader", trader)
	}
	return l.page(pageSeller, "trader", trader, "club", club)
}

// laterTerms says what follows today's payment, in the words of the confirmation.
func (l texts) laterTerms(ordered contract.Ordered, currency string) []string {
	lines := ordered.Later(l.Language)
	switch {
	case ordered.Basis == schedule.Unknown:
		return append(lines, l.Page[pageMayFollow])
	case ordered.Button == contract.PayNow:
		return append(lines, l.Page[pageNothingFollows])
	case ordered.Total != nil && len(lines) > 0:
		return append(lines, l.page(pageTotal, "amount", l.Money(ordered.Total.Amount, currency)))
	}
	return lines
}

// namesWhere lists the names of some items, each once.
func namesWhere(ordered contract.Ordered, is func(i int) bool) string {
	var names []string
	for i, item := range ordered.Items {
		if is(i) && !slices.Contains(names, item.Name) {
			names = append(names, item.Name)
		}
	}
	return strings.Join(names, ", ")
}

// order draws what is ordered, directly above the button that orders, and the button.
func (p cardPage) order() g.Node {
	return g.Group{
		g.Iff(p.Order.HasGoods, p.guarantee),
		html.Div(html.Class("essentials"), html.Role("group"), html.Aria("label", p.Page[pageOrdered]), html.Data("essentials", ""),
			html.Ul(html.Class("lines"), g.Map(p.Order.Items, func(item pageItem) g.Node {
				return html.Li(
					html.Div(g.Text(item.Name), g.If(item.Starts != "", html.Small(g.Text(item.Starts))),
						g.If(item.HandedOver != "", html.Small(g.Text(item.HandedOver)))),
					html.Span(html.Class("amount"), g.Text(item.Price)))
			})),
			html.Ul(html.Class("essentials-terms"), g.Map(p.Order.Terms, func(term string) g.Node { return html.Li(g.Text(term)) }))),
		html.Button(html.Class("button button-wide"), html.ID("pay-card"), html.Data("pay-card", ""), g.Attr("hidden"), icon("lock"),
			html.Span(html.Class("when-idle"), g.Text(p.Order.Button)),
			html.Span(html.Class("when-busy"), g.Text(p.Page[pagePaying]))),
	}
}

// guarantee is the notice on the legal guarantee of goods, which stands before the contract: the EU's, and the same in words.
func (p cardPage) guarantee() g.Node {
	return html.Div(html.Class("notice notice-block"), html.Data("guarantee", ""), icon("shield"),
		html.Div(html.H2(g.Text(p.Page[pageGuarantee])),
			g.If(p.Order.Notice != "", html.A(html.Href(p.Order.Notice), html.Target("_blank"), html.Class("guarantee"),
				html.Img(html.Src(p.Order.Notice), html.Alt(p.Page[pageGuaranteeNotice])))),
			html.P(g.Text(p.Page[pageGuaranteeWords]+" "),
				html.A(html.Href(guaranteePage), html.Target("_blank"), html.Rel("noopener"), g.Text(p.Page[pageGuaranteeMore])))))
}

// page fills the parameters of a text of the card page: their names and values in turn.
func (l texts) page(name text.PageCode, params ...string) string {
	pairs := make([]string, len(params))
	for i := 0; i+1 < len(params); i += 2 {
		pairs[i], pairs[i+1] = "{"+params[i]+"}", params[i+1]
	}
	return strings.NewReplacer(pairs...).Replace(l.Page[name])
}

func (l texts) day(day schedule.Date) string {
	return l.Date(time.Date(day.Year, day.Month, day.Day, 0, 0, 0, 0, time.UTC))
}
