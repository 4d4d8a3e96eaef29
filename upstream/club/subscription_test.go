package club_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// TestSubscriptions: what is needed of a subscription is read, and what is only useful is empty where it has another form.
func TestSubscriptions(t *testing.T) {
	world := newWorld(t, "subscriptions")
	member := club.IRI(world.persona("committed").ContactID)
	if _, err := world.client.ListSubscriptions(t.Context(), world.lyon, member); club.OutcomeOf(err) != club.Rejected {
		t.Errorf("an installation without subscriptions: %v", err)
	}
	world.configure(func(settings *clubsim.Settings) { settings.OnlineCancellation = true })
	cfg := world.config()
	cfg.Zone = func(club.IRI) *time.Location { return must[*time.Location](t)(time.LoadLocation("Europe/Paris")) }
	client := club.New(cfg)
	for name, change := range map[string]func(*clubsim.Settings){
		"as described": func(*clubsim.Settings) {},
		"as PHP":       func(s *clubsim.Settings) { s.PHPJSON = true },
		"date-times":   func(s *clubsim.Settings) { s.DateTimes = true },
	} {
		world.configure(change)
		listed := must[[]club.Subscription](t)(client.ListSubscriptions(t.Context(), world.lyon, member))
		if len(listed) != 1 || listed[0].Offer == nil {
			t.Fatalf("%s: %+v", name, listed)
		}
		got := listed[0]
		if got.Offer.IRI != world.iri("offers", "901") || got.Offer.TotalPriceTI != 6890 {
			t.Errorf("%s: the offer is %+v", name, got.Offer)
		}
		got.Offer = nil
		start := world.Now().AddDate(0, -5, 0)
		equal(t, got, club.Subscription{
			IRI:            got.IRI,
			Name:           "Flex, monthly",
			Contact:        member,
			Club:           world.lyon.Club,
			ValidFrom:      start.Format(time.DateOnly),
			EngagedThrough: start.AddDate(1, 0, -1).Format(time.DateOnly),
			NoticePeriod:   "P2W",
			DebitDay:       1,
		})
	}
	odd := serve(t, answering(200, `{"@id": "/demo/subscription_summary/7", "subscriptions": [
		{"@id": "/demo/subscriptions/1", "engagedThrough": "2027-06-20", "name": 7, "noticePeriod": {}, "debitDay": "x",
			"offer": {"@id": "/demo/offers/1", "name": "without a schedule"}},
		{"@id": "/demo/subscriptions/2", "engagedThrough": "secret"},
		{"@id": "/demo/subscriptions/3", "contactId": "/demo/contacts/8"}]}`))
	client = club.New(configured(odd.URL))
	listed := must[[]club.Subscription](t)(client.ListSubscriptions(t.Context(), demo, "/demo/contacts/7"))
	equal(t, listed, []club.Subscription{{IRI: "/demo/subscriptions/1", EngagedThrough: "2027-06-20"}})
	equal(t, client.Unreadable(), []club.Unreadable{{Operation: "ListSubscriptions", Field: "engagedThrough", Count: 1}})
}

// TestCancelSubscription: a cancellation is sent once, whatever comes back.
func TestCancelSubscription(t *testing.T) {
	world := newWorld(t, "cancel")
	world.configure(func(settings *clubsim.Settings) { settings.OnlineCancellation = true })
	member := club.IRI(world.persona("flexible").ContactID)
	subscription := must[[]club.Subscription](t)(world.client.ListSubscriptions(t.Context(), world.lyon, member))[0]
	motives := must[[]club.CancellationMotive](t)(world.client.ListCancellationMotives(t.Context(), world.lyon))
	cancel := func(date string, gate club.Gate) (club.Subscription, error) {
		in := club.NewCancellation{Date: date, Motive: motives[len(motives)-1].IRI}
		return world.client.CancelSubscription(t.Context(), world.lyon, subscription.IRI, in, gate)
	}
	cancellation := clubsim.FaultMatch{Method: http.MethodPost, Path: "/subscriptions/*/online_cancellation"}
	refusal := errors.New("not now")
	if _, err := cancel(world.day(20), func() error { return refusal }); club.OutcomeOf(err) != club.NotSent || !errors.Is(err, refusal) {
		t.Errorf("a gate that refuses: %v", err)
	}
	if _, err := cancel(world.day(13), nil); club.OutcomeOf(err) != club.Rejected {
		t.Errorf("before the end of the notice: %v", err)
	}
	world.fault(clubsim.Fault{Match: cancellation, Kind: "foreign_page"})
	if _, err := cancel(world.day(20), nil); club.OutcomeOf(err) != club.Unknown || !errors.Is(err, club.ErrForeign) {
		t.Errorf("a firewall's page: %v", err)
	}
	if n := len(world.Cancellations()); n != 0 {
		t.Fatalf("%d cancellations", n)
	}
	world.fault(clubsim.Fault{Match: cancellation, Kind: "drop_after", Times: ptr(1)})
	if _, err := cancel(world.day(20), nil); club.OutcomeOf(err) != club.Unknown {
		t.Errorf("a connection that is cut: %v", err)
	}
	if done := world.Cancellations(); len(done) != 1 || done[0].Date != world.day(20) || done[0].Repeated != 0 {
		t.Errorf("cancellations: %+v", done)
	}
	if _, err := cancel(world.day(21), nil); club.OutcomeOf(err) != club.Rejected {
		t.Errorf("a second one: %v", err)
	}
	for status, body := range map[int]string{http.StatusCreated: `{"@id": "/demo/subscriptions/1"}`, http.StatusNoContent: ""} {
		upstream := serve(t, answering(status, body))
		client := club.New(configured(upstream.URL))
		shown, err := client.CancelSubscription(t.Context(), demo, "/demo/subscriptions/1", club.NewCancellation{}, nil)
		if err != nil || shown.IRI != "" != (body != "") || len(upstream.seen()) != 1 {
			t.Errorf("%d: %+v, %v after %d requests", status, shown, err, len(upstream.seen()))
		}
	}
}
