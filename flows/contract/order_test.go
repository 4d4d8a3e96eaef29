package contract_test

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/flowstest"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/contract"
	"frontdesk/flows/schedule"
	"frontdesk/flows/text"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }

const terms = `
defaults:
  timeZone: Europe/Paris
  contract:
    renewal: {en: It continues, fr: Il continue}
    notice: {en: One month, fr: Un mois}
    withdrawal: {test_session: {right: false, exception: On a fixed day}}
  products: {10: {notice: One week, noticePeriod: P1W}}`

// world is a club system, and a catalogue of its own.
type world struct {
	*flowstest.World
	offers *catalogue.Catalogue
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := flowstest.NewWorld(t)
	clubs := flowstest.Must(t, func() (*catalogue.Directory, error) { return catalogue.ParseDirectory([]byte(terms), nil) })
	return &world{w, catalogue.New(catalogue.Config{Club: w.Club, Clubs: clubs, Now: w.Clock.Now, Log: slog.New(w.Journal)})}
}

// order is the order of a registration whose cart is shown for the first time.
func (w *world) order(view flows.View) contract.Order {
	w.Helper()
	query := catalogue.ProductQuery{ClientToken: view.ClientToken, ClubID: view.ClubID, Channel: view.Channel}
	if view.Identified() {
		query.Buyer = *view.Contact.Buyer
	}
	shown := *view.Registration
	shown.Offers, _ = w.offers.ShowOffers(w.Context(), query, view.Cart, nil, w.Clock.Now())
	view.Registration = &shown
	return contract.OrderOf(view, w.offers.Details(view.ClubID), w.Clock.Now())
}

// cartOf is the registration of a visitor with a cart.
func cartOf(lines ...flows.Line) flows.View {
	registration := &flows.Registration{ClientToken: "demo", ClubID: "11", Channel: "web", Cart: flows.Cart{Currency: "EUR", Lines: lines}}
	for _, line := range lines {
		registration.Cart.Total += line.Price
	}
	return flows.View{Registration: registration, Phase: flows.Open, Methods: []flows.Method{flows.ByCard, flows.Deferred}}
}

func offer(id string, price int64) flows.Line {
	return flows.Line{ID: "line-" + id, Offer: club.IRI("/demo/offers/" + id), Price: price, StartDate: "2031-03-01"}
}

func debited(line flows.Line, day int) flows.Line {
	line.Debit = &flows.Debit{Day: &day}
	return line
}

// TestButton: the button names the duty to pay as soon as anything may follow today's payment.
func TestButton(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	pass, trial := offer("201", 14900), offer("3801", 0)
	onlyLater, agreedLater, debitedItem := cartOf(pass), cartOf(pass), cartOf(trial)
	onlyLater.Methods = []flows.Method{flows.Deferred}
	agreedLater.Payment = &flows.Payment{Method: flows.Deferred, State: flows.Recorded, CreatedAt: world.Clock.Now()}
	agreedLater.Phase = flows.Completed
	debitedItem.Items = []flows.Item{{Mandate: true}}
	for name, test := range map[string]struct {
		view   flows.View
		button contract.Button
		basis  schedule.Basis
	}{
		"paid once":                {cartOf(pass), contract.PayNow, schedule.Exact},
		"nothing is ever due":      {cartOf(trial), contract.Free, schedule.Exact},
		"an endless debit":         {cartOf(debited(offer("901", 6890), 10)), contract.WithObligation, schedule.Exact},
		"debits that end":          {cartOf(debited(offer("1201", 1900), 10)), contract.WithObligation, schedule.Exact},
		"a debit day that is open": {cartOf(offer("901", 6890)), contract.WithObligation, schedule.Estimated},
		"a debit among payments":   {cartOf(pass, debited(offer("901", 6890), 10)), contract.WithObligation, schedule.Exact},
		"an unknown offer":         {cartOf(pass, offer("9999", 100)), contract.WithObligation, schedule.Unknown},
		"only payable later":       {onlyLater, contract.WithObligation, schedule.Exact},
		"agreed to be paid later":  {agreedLater, contract.WithObligation, schedule.Exact},
		"a mandate is needed":      {debitedItem, contract.WithObligation, schedule.Exact},
	} {
		order := world.order(test.view)
		if order.Button != test.button || order.Basis != test.basis || order.DueNow.Amount != test.view.Cart.Total {
			t.Errorf("%s: %s, %s, %d due now; want %s, %s", name, order.Button, order.Basis, order.DueNow.Amount, test.button, test.basis)
		}
		if follows := len(order.Debits)+len(order.Recurrences) > 0; follows && order.Button != contract.WithObligation {
			t.Errorf("%s: debits follow the button %s", name, order.Button)
		}
	}
}

// TestPartsOfAnOrder: a price is split into what it consists of, if the offer explains all of it.
func TestPartsOfAnOrder(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	view := cartOf(debited(offer("901", 6890), 10), debited(offer("901", 5890), 10), offer("201", 14900))
	ordered := world.order(view).In("en", view, world.offers.Details("11"))
	want := []contract.Part{{Kind: schedule.Fee, Price: flows.Money{Amount: 2900, Currency: "EUR"}},
		{Kind: schedule.FirstInstalment, Price: flows.Money{Amount: 3990, Currency: "EUR"}}}
	if items := ordered.Items; !slices.Equal(items[0].Parts, want) || items[1].Parts != nil || items[2].Parts != nil {
		t.Errorf("%+v", items)
	}
}

// TestTermsOfAnOrder: what ends by itself does not renew, and each item has the right of withdrawal of its kind.
func TestTermsOfAnOrder(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	discount := flows.Line{ID: "discount", Parent: "line-3801", Price: -100}
	order := world.order(cartOf(offer("201", 14900), offer("3801", 0), discount, offer("4001", 1900), debited(offer("901", 6890), 10)))
	today := schedule.DateOf(world.offers.Details("11").Today(world.Clock.Now()))
	until := contract.LastWithdrawalDay(today)
	for i, want := range []struct {
		right      bool
		from       string
		until      schedule.Date
		commitment string
	}{
		{true, catalogue.FromContract, until, "P3M"},
		{false, "", schedule.Date{}, ""},
		{false, "", schedule.Date{}, ""}, // as the line that it belongs to
		{true, catalogue.FromDelivery, schedule.Date{}, ""},
		{true, catalogue.FromContract, until, ""},
	} {
		item := order.Items[i]
		got := item.Withdrawal
		if got.Right != want.right || got.From != want.from || got.Until != want.until || item.Commitment != want.commitment {
			t.Errorf("item %d is %+v", i, item)
		}
		if !got.Right && got.Exception.In("fr") != "On a fixed day" {
			t.Errorf("item %d says %q", i, got.Exception)
		}
	}
	if order.MinimumTerm != "P3M" || order.Renewal != nil || order.Items[4].Notice.In("en") != "One month" {
		t.Errorf("the terms are %q, %q, %+v", order.MinimumTerm, order.Renewal, order.Items)
	}
	if order := world.order(cartOf(offer("201", 14900))); order.Renewal != nil || order.Items[0].Notice != nil {
		t.Errorf("what is paid once continues: %q, %q", order.Renewal, order.Items[0].Notice)
	}
}

// TestNoticeOfAProduct: a product's own notice replaces the club's, and an order of both names the items of each.
func TestNoticeOfAProduct(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	monthly, weekly := debited(offer("901", 6890), 10), debited(offer("1001", 990), 10)
	for want, view := range map[string]flows.View{
		"One month":                           cartOf(monthly, monthly),
		"One week":                            cartOf(weekly),
		"":                                    cartOf(offer("201", 14900)),
		"monthly: One month weekly: One week": cartOf(monthly, weekly),
	} {
		for i, name := range []string{"monthly", "weekly"}[:len(view.Cart.Lines)] {
			view.Cart.Lines[i].Name = name
		}
		if got := world.order(view).In("en", view, world.offers.Details("11")).Notice; got != want {
			t.Errorf("the notice is %q, want %q", got, want)
		}
	}
}

// TestLongNotices: notices that are too long for one text are not cut. Each item has its own, and those of the order are apart.
func TestLongNotices(t *testing.T) {
	t.Parallel()
	one, other := strings.Repeat("a", 500), strings.Repeat("b", 500)
	clubs, err := catalogue.ParseDirectory([]byte("defaults:\n  contract: {notice: "+one+"}\n  products: {10: {notice: "+other+"}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	world := newWorld(t)
	world.offers = catalogue.New(catalogue.Config{Club: world.Club, Clubs: clubs, Now: world.Clock.Now, Log: slog.New(world.Journal)})
	view := cartOf(debited(offer("901", 6890), 10), debited(offer("1001", 990), 10))
	view.Cart.Lines[0].Name, view.Cart.Lines[1].Name = "monthly", "weekly"
	ordered := world.order(view).In("en", view, world.offers.Details("11"))
	if ordered.Notice != "" || ordered.Items[0].Notice != one || ordered.Items[1].Notice != other {
		t.Errorf("the notice of the order is %q, those of its items %q and %q", ordered.Notice, ordered.Items[0].Notice, ordered.Items[1].Notice)
	}
	if said := ordered.Notices(text.Match("en")); !slices.Equal(said, []string{"monthly: " + one, "weekly: " + other}) {
		t.Errorf("it says %q", said)
	}
}

// TestLastWithdrawalDay: the first day does not count, and the last one is never on a weekend.
func TestLastWithdrawalDay(t *testing.T) {
	t.Parallel()
	for made, want := range map[string]string{
		"2026-11-26": "2026-12-10", // Thursday
		"2026-11-27": "2026-12-11", // Friday
		"2026-11-28": "2026-12-14", // Saturday
		"2026-11-29": "2026-12-14", // Sunday
		"2026-11-30": "2026-12-14", // Monday
		"2027-02-20": "2027-03-08",
	} {
		day := flowstest.Must(t, func() (time.Time, error) { return time.Parse(time.DateOnly, made) })
		if got := contract.LastWithdrawalDay(schedule.DateOf(day)); got.String() != want {
			t.Errorf("made on %s: until %s, want %s", made, got, want)
		}
	}
}

// TestContractIsMadeWhenItIsRecorded: a payment that was in doubt for days takes nothing from the period.
func TestContractIsMadeWhenItIsRecorded(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	begun := time.Date(2026, time.November, 23, 12, 0, 0, 0, time.UTC)
	view := cartOf(offer("201", 14900))
	view.Phase = flows.Completed
	view.Payment = &flows.Payment{Method: flows.ByCard, State: flows.Recorded, CreatedAt: begun, History: []flows.Transition{
		{State: flows.Recorded, At: begun.Add(48*time.Hour + 11*time.Hour + 30*time.Minute)}, // half past midnight in Paris
	}}
	order := world.order(view)
	if got := order.Items[0].Withdrawal.Until; got != (schedule.Date{Year: 2026, Month: time.December, Day: 10}) {
		t.Errorf("the buyer can withdraw until %s", got)
	}
	if order.DueNow.Date != schedule.DateOf(begun) {
		t.Errorf("it was due on %s", order.DueNow.Date)
	}
}

// TestOrderWithoutOffers: while the offers cannot be read, the order has what the cart says, and the button is that of a duty to pay.
func TestOrderWithoutOffers(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: http.MethodGet}, Kind: "error_before", Status: http.StatusInternalServerError})
	view := cartOf(offer("201", 14900))
	view.Items = []flows.Item{{NewItem: flows.NewItem{ID: "line-201"}, Type: "subscription", Commitment: "P3M"}}
	order := world.order(view)
	if order.Button != contract.WithObligation || order.Basis != schedule.Unknown || !slices.Contains(order.Rules, schedule.OffersUnread) {
		t.Errorf("the order is %+v", order)
	}
	if order.DueNow.Amount != 14900 || order.Total != nil || order.MinimumTerm != "P3M" || !order.Items[0].Withdrawal.Right {
		t.Errorf("the order is %+v", order)
	}
	if order.Renewal.In("fr") != "Il continue" || order.Items[0].Notice.In("fr") != "Un mois" { // it may continue
		t.Errorf("the terms are %q, %+v", order.Renewal, order.Items)
	}
	world.Fault()
	if order := world.order(view); order.Button != contract.PayNow {
		t.Errorf("the button is still %s", order.Button)
	}
}

// TestPersonalised: an offer that only the buyer's tags make available is personalised, and one that everybody sees is not.
func TestPersonalised(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	customer := world.Persona("customer")
	contact := flowstest.Must(t, func() (club.Contact, error) {
		return world.Club.GetContact(t.Context(), flowstest.Bastille, club.IRI(customer.ContactID))
	})
	var tags string
	for _, tag := range contact.Tags {
		tags += " " + string(tag.IRI)
	}
	view := cartOf(debited(offer("1601", 0), 10), offer("201", 14900))
	view.Contact = &flows.Contact{Buyer: &flows.Buyer{Contact: club.IRI(customer.ContactID), Club: flowstest.Bastille.Club, Tags: tags}}
	order := world.order(view)
	if !order.Items[0].Personalised || order.Items[1].Personalised {
		t.Errorf("the items are %+v", order.Items)
	}
	view.Cart.Lines, view.Cart.Total = view.Cart.Lines[:1], 0
	if order := world.order(view); order.Button != contract.WithObligation || order.Basis != schedule.Exact || len(order.Recurrences) != 1 {
		t.Errorf("nothing is due today, and the order is %+v", order)
	}
}
