package club_test

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// world is a test's own simulated club system, with a client.
type world struct {
	*clubsim.World
	t      *testing.T
	url    string
	client *club.Client
	// bastille, batignolles and lyon act for clubs of one chain, lille for a club of another.
	bastille, batignolles, lyon, lille club.Scope
	// lumen acts for the first club from the top of its chain.
	lumen club.Scope
}

// newWorld starts a simulator and makes a world in it.
func newWorld(t *testing.T, name string) *world {
	t.Helper()
	sim := clubsim.New(clubsim.Config{Now: time.Now})
	server := httptest.NewServer(http.StripPrefix("/sim", sim))
	t.Cleanup(func() {
		server.CloseClientConnections()
		sim.Close()
		server.Close()
	})
	w := &world{World: sim.World("demo-" + name), t: t, url: server.URL + "/sim"}
	w.client = club.New(w.config())
	scope := func(clubID, nodeID string) club.Scope {
		return club.Scope{ClientToken: w.ClientToken(), Club: w.iri("clubs", clubID), Node: w.iri("network_nodes", nodeID)}
	}
	w.bastille, w.batignolles, w.lyon, w.lille = scope("11", "3"), scope("12", "4"), scope("13", "5"), scope("21", "7")
	w.lumen = scope("11", "1")
	return w
}

// config is the configuration of a client of the world.
func (w *world) config() club.Config {
	return club.Config{
		BaseURL:      w.url,
		ClientID:     w.ClientToken(),
		ClientSecret: clubsim.DemoClientSecret,
		GatewayKey:   clubsim.DemoGatewayKey,
		Now:          time.Now,
	}
}

func (w *world) iri(collection, id string) club.IRI {
	return club.NewIRI(w.ClientToken(), collection, id)
}

// persona returns one of the people that exist in every world.
func (w *world) persona(key string) clubsim.Persona {
	w.t.Helper()
	all := w.Personas()
	i := slices.IndexFunc(all, func(p clubsim.Persona) bool { return p.Key == key })
	if i < 0 {
		w.t.Fatalf("no persona %s", key)
	}
	return all[i]
}

// visitor makes a new contact in the first club.
func (w *world) visitor() club.Contact {
	w.t.Helper()
	return must[club.Contact](w.t)(w.client.CreateContact(w.t.Context(), w.bastille, club.NewContact{
		FamilyName: "Testeur",
		GivenName:  "Ada",
		Gender:     "female",
		Club:       w.bastille.Club,
		BirthDate:  "1990-01-31",
		Email:      "ada@example.org",
		Mobile:     "+33600000000",
		Address:    &paris,
		Status:     club.StatusTemp,
	}))
}

// cart opens a sale for a contact in the first club and adds offers to it.
func (w *world) cart(buyer club.IRI, offers ...string) club.Sale {
	w.t.Helper()
	ctx := w.t.Context()
	made := must[club.Sale](w.t)(w.client.CreateSale(ctx, w.bastille, club.NewSale{
		Contact:    buyer,
		Club:       w.bastille.Club,
		ClubCode:   "PARIS11",
		FamilyName: "Testeur",
		GivenName:  "Ada",
		Number:     "1",
		Address:    &paris,
	}))
	for _, offer := range offers {
		err := w.client.AddArticle(ctx, w.bastille, made.IRI, club.NewArticle{Offer: w.iri("offers", offer), StartDate: w.day(1)})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return must[club.Sale](w.t)(w.client.GetSale(ctx, w.bastille, made.IRI))
}

// day is the date that many days from now by the world's clock.
func (w *world) day(from int) string { return w.Now().AddDate(0, 0, from).Format(time.DateOnly) }

// paying is the payment that settles a sale by card.
func (w *world) paying(sale club.Sale) club.NewPayment {
	return club.NewPayment{
		Contact:    sale.Contact,
		FamilyName: sale.FamilyName,
		GivenName:  sale.GivenName,
		Number:     sale.Number,
		Amount:     sale.TotalTI,
		Mean:       club.MeanCBWeb,
		Club:       sale.Club,
		ClubCode:   sale.ClubCode,
		Checkout:   sale.Checkout,
	}
}

// configure changes the world's settings.
func (w *world) configure(change func(*clubsim.Settings)) {
	w.t.Helper()
	if err := w.Configure(change); err != nil {
		w.t.Fatal(err)
	}
}

// fault replaces the world's faults with one.
func (w *world) fault(f clubsim.Fault) {
	w.t.Helper()
	if err := w.SetFaults([]clubsim.Fault{f}); err != nil {
		w.t.Fatal(err)
	}
}

// calls counts the requests of an operation in the simulator's journal. A request without a response is
// recorded a moment later, so tests wait for the count.
func (w *world) calls(operation string) int {
	n := 0
	for _, r := range w.Requests() {
		if r.Operation == operation {
			n++
		}
	}
	return n
}

// wantViolation fails the test unless err is a rejection that names a field.
func wantViolation(t *testing.T, err error, field string) {
	t.Helper()
	e := asError(t, err)
	if e.Outcome != club.Rejected || !slices.ContainsFunc(e.Violations, func(v club.Violation) bool { return v.Field == field }) {
		t.Errorf("%v with violations %+v, want one of %s", e, e.Violations, field)
	}
}

// wantCode fails the test unless err is a rejection with that code, its own or a violation's.
func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	e := asError(t, err)
	if e.Outcome != club.Rejected || cmp.Or(e.Code, "none") != code {
		t.Errorf("%v with code %q, want %s", e, e.Code, code)
	}
	if strings.Contains(e.Error(), "@") {
		t.Errorf("error shows personal data: %s", e)
	}
}
