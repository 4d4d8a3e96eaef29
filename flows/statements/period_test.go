package statements_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/flowstest"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/contract"
)

// TestWithdrawalPeriodIsOneRule: the last day that the buyer is shown before the order, that of the confirmation, and that by which
// operators see whether a withdrawal arrived in time are the same day, which ends at midnight at the club.
func TestWithdrawalPeriodIsOneRule(t *testing.T) {
	t.Parallel()
	for made, want := range map[string]string{ // at the club, in Paris
		"2027-01-01 23:59:59": "2027-01-15", // a second before midnight: the last day is a Friday
		"2027-01-02 00:00:00": "2027-01-18", // a Saturday
		"2027-01-03 12:00:00": "2027-01-18", // a Sunday
		"2027-03-13 23:30:00": "2027-03-29", // a Saturday; the clocks are put forward on the 28th
		"2027-10-16 00:30:00": "2027-11-01", // a Saturday; the clocks are put back on the 31st
	} {
		t.Run(made, func(t *testing.T) {
			t.Parallel()
			world := flowstest.NewWorld(t)
			keys := flowstest.NewKeyring(t, "one")
			clubs := flowstest.Must(t, func() (*catalogue.Directory, error) {
				return catalogue.ParseDirectory([]byte("defaults: {timeZone: Europe/Paris}"), nil)
			})
			gateway := world.Gateway(flowstest.Options{Keys: keys, Clubs: clubs})
			d := deskAt(world, gateway, keys)
			club := gateway.Catalogue.Details("11")
			paris := flowstest.Must(t, func() (*time.Location, error) { return time.LoadLocation("Europe/Paris") })
			at := flowstest.Must(t, func() (time.Time, error) { return time.ParseInLocation(time.DateTime, made, paris) })
			last := flowstest.Must(t, func() (time.Time, error) { return time.ParseInLocation(time.DateOnly, want, paris) })
			until := func(instant time.Time) { world.Clock.Advance(instant.Sub(world.Clock.Now())) }

			until(at)
			view := flows.View{Phase: flows.Open, Methods: []flows.Method{flows.ByCard}, Registration: &flows.Registration{
				ID: uuid.NewString(), ClientToken: "demo", ClubID: "11", Channel: "web", Contact: &flows.Contact{IRI: "/demo/contacts/1001"},
				Cart: flows.Cart{Currency: "EUR", Total: 14900, Lines: []flows.Line{
					{ID: "line", Offer: "/demo/offers/201", Price: 14900, StartDate: "2031-03-01"},
				}},
			}}
			order := contract.OrderOf(view, club, at)
			if shown := order.Items[0].Withdrawal.Until.String(); shown != want {
				t.Errorf("before the order, the last day is %s, want %s", shown, want)
			}
			registration := view.Registration
			registration.Ordered = &flows.Ordered{Language: "en", Order: flowstest.Must(t, func() ([]byte, error) {
				return json.Marshal(order.In("en", view, club))
			})}
			payment := &flows.Payment{Method: flows.ByCard, Amount: 14900, Currency: "EUR", State: flows.Recorded, UpdatedAt: at}
			confirmation := flowstest.Must(t, func() (*flows.Confirmation, error) {
				return contract.Confirm(registration, payment, club, "")
			})
			if says := "until the end of " + last.Format("2 January 2006"); !strings.Contains(confirmation.Text, says) {
				t.Errorf("the confirmation does not say %q:\n%s", says, confirmation.Text)
			}
			flowstest.Must(t, func() (*flows.Confirmation, error) {
				return gateway.Store.SaveConfirmation(t.Context(), confirmation, flowstest.ProofsKept)
			})
			midnight := last.AddDate(0, 0, 1)
			for i, period := range []flows.Period{flows.WithinPeriod, flows.OutsidePeriod} {
				instant := midnight.Add(time.Duration(i-1) * time.Second)
				until(instant)
				shown := d.withdrawn(flows.Declaration{Name: "Ada", Email: uuid.NewString() + "@example.com", Contract: registration.ID})
				if shown.Period != period {
					t.Errorf("at %s, a withdrawal is %s, want %s: %+v", instant, shown.Period, period, shown.Contracts)
				}
			}
		})
	}
}
