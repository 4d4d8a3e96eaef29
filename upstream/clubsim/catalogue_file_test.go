package clubsim_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"frontdesk/upstream/clubsim"
)

// TestMinimalCatalogue: a club and a product with names are enough. The persons of the demo are there, with what it has to offer.
func TestMinimalCatalogue(t *testing.T) {
	client := newTestClient(t, "demo-minimal")
	client.putCatalogue(`
clubs: [{name: My Club}]
products:
  - name: Gold
    offers: [{registrationFee: 1000, firstInstalmentPaid: true, debits: [{price: 2990}]}, {listPrice: 29900}]`).want(204)
	client.club, client.node = "", ""
	node := client.get("network_nodes").want(200).members()
	if len(node) != 1 || node[0]["children"].([]any)[0].(body)["clubId"] != client.iri("clubs", 101) {
		t.Errorf("the network is %v", node)
	}
	client.club, client.node = client.iri("clubs", 101), node[0]["@id"].(string)
	if club := client.get("clubs/101").want(200); club.text("code") != "CLUB101" || club.text("addressLocality") != "Paris" {
		t.Errorf("the club is %s", club.raw)
	}
	offers := client.get("offers").want(200).members()
	if len(offers) != 2 || offers[0]["totalPriceTI"] != 3990.0 || offers[0]["rhythmBilling"] != "monthly" || offers[1]["name"] != "Gold" {
		t.Fatalf("the offers are %v", offers)
	}
	for _, offer := range offers {
		verifyOffer(t, offer)
	}
	persons := client.control("GET", "personas", nil).want(200).items()
	if len(persons) < 8 || persons[0]["key"] != "customer" || persons[0]["clubId"] != client.iri("clubs", 101) {
		t.Errorf("the persons are %v", persons)
	}
	committed := client.get("contacts?email=committed@example.com").want(200).members()
	if len(committed) != 1 {
		t.Fatalf("%d contacts have the address of a person", len(committed))
	}
	sale := client.newSale(client.newContact(nil), "CLUB101")
	client.post(sale+"/articles", body{"offerId": client.iri("offers", 10101), "implementation": body{"startDate": "2026-12-01"}}).want(201)
	if total := client.get(sale).want(200).number("totalTI"); total != 3990 {
		t.Errorf("the sale costs %d", total)
	}
}

// TestMistakesOfACatalogue: each mistake is reported with its line.
func TestMistakesOfACatalogue(t *testing.T) {
	const product, person = "clubs: [{name: A}]\nproducts:\n  - name: P\n", "clubs: [{name: A}]\npersons:\n  - {givenName: A, familyName: B, "
	for _, test := range []struct{ file, want string }{
		{"", "line 1: clubs: at least one is needed"},
		{"clubs: [\n", "line 2: did not find"},
		{"clubs:\n  - name: A\n    debitDay: [1]\n", "line 3: clubs[0].debitDay: is not known; did you mean debitDays?"},
		{"clubs:\n  - name: A\n    debitDays: 5\n", "line 3: `5` must be a list"},
		{"clubs:\n  - name: A\n    name: B\n", "line 3: mapping key \"name\" already defined at line 2"},
		{
			"clubs:\n  - name: A\n    debitDays: [5, 31]\n",
			"line 3: clubs[0].debitDays[1]: must be a day of the month from 1 to 28",
		},
		{"clubs:\n  - id: 5\n    name: A\n  - id: 5\n    name: B\n", "line 4: clubs[1].id: 5 is the id of another entry"},
		{"clubs:\n  - {name: A, code: X}\n  - {name: B, code: X}\n", `line 3: clubs[1].code: "X" is the code of another club`},
		{"clubs:\n  - {name: A, notice: one month}\n", `line 2: clubs[0].notice: "one month" must be a duration`},
		{product + "    taxRate: 119\n", `line 4: products[0].taxRate: must be a whole number of percent, from 0 to 100`},
		{"clubs:\n  - {name: A, phone: 0140}\n", `line 2: clubs[0].phone: "0140" must be a number`},
		{"clubs:\n  - alias: a\n", "line 2: clubs[0].name: is missing"},
		{"clubs: [{name: A}]\nnetwork:\n  - {name: N, clubs: [7]}\n", "line 3: network[0].clubs: 7 is not a club"},
		{"clubs: [{name: A}]\nnetwork:\n  - {id: 1, name: N, parent: 9}\n", "line 3: network[0].parent: there is no node 9"},
		{
			"clubs: [{name: A}]\nnetwork:\n  - {id: 1, name: N, parent: 2}\n  - {id: 2, name: M, parent: 1}\n",
			"line 3: network[0].parent: the node is above itself",
		},
		{product + "    type: subscripton\n", "did you mean subscription?"},
		{product + "    offers: [{price: 5}]\n", "did you mean listPrice?"},
		{product + "    restrictions: {clubs: [4]}\n", "line 4: products[0].restrictions.clubs[0]: there is no club 4"},
		{product + "    restrictions: {months: {from: 9, through: 3}}\n", "line 4: products[0].restrictions.months: "},
		{product + "    offers:\n      - listPrice: 19.90\n", "line 5: `19.90` must be a whole number"},
		{product + "    offers:\n      - options: [3]\n", "line 5: products[0].offers[0].options[0]: 3 is not another offer"},
		{
			product + "    offers:\n      - {registrationFee: 100, listPrice: 50, debits: [{price: 1}]}\n",
			"line 5: products[0].offers[0].listPrice: must be at least 100",
		},
		{
			product + "    offers:\n      - {rhythm: weekly, debits: [{price: 1}]}\n",
			`line 5: products[0].offers[0].rhythm: "weekly" must be`,
		},
		{person + "owns: [{offer: 5}]}\n", "line 3: persons[0].owns[0].offer: there is no offer 5"},
		{person + "birthDate: 1990-13-01}\n", "line 3: persons[0].birthDate: "},
		{person + "status: member}\n", "line 3: persons[0].status: \"member\" is not one of"},
	} {
		_, err := clubsim.ParseCatalogue([]byte(test.file))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: the mistakes are %v, want %s", test.file, err, test.want)
		}
	}
	_, err := clubsim.ParseCatalogue([]byte(
		"clubs:\n  - nam: A\nproducts:\n  - name: P\n    offers: [{listPrice: x}]\n  - name: Q\n    restrictions: {clubs: [1]}\n",
	))
	if err == nil || len(strings.Split(err.Error(), "\n")) != 4 {
		t.Errorf("of four mistakes, these are reported: %v", err)
	}
}

// TestCatalogueOfAWorld: each world can have its own, in YAML or JSON, which a reset takes away, and a snapshot brings along.
func TestCatalogueOfAWorld(t *testing.T) {
	client := newTestClient(t, "demo-own")
	was := client.control("GET", "catalogue", nil).want(200).raw
	if !strings.Contains(was, "Lumen Bastille") || !strings.HasPrefix(was, "# ") {
		t.Errorf("the catalogue is %.200s", was)
	}
	client.putCatalogue("clubs: [{nam: A}]").want(400).wantText("did you mean name?")
	client.putCatalogue(`{"clubs": [{"id": 7, "name": "Seven"}]}`).want(204)
	if name := client.clubName(7); name != "Seven" {
		t.Errorf("the club is %q", name)
	}
	snapshot := client.world.Snapshot()
	other := connect(t, client.server, "demo-other")
	if other.clubName(11) == "" {
		t.Error("another world has lost its catalogue")
	}
	if err := other.world.Restore(snapshot); err != nil {
		t.Fatal(err)
	}
	if other.clubName(7) != "Seven" || other.clubName(11) != "" {
		t.Error("the snapshot has not brought its catalogue along")
	}
	client.control("POST", "reset", nil).want(204)
	if client.clubName(11) == "" || client.clubName(7) != "" {
		t.Error("after a reset the world does not have the first catalogue")
	}
}

// TestReplacedCatalogue: a new catalogue reaches the worlds that have the former one, which keep their data if these fit.
func TestReplacedCatalogue(t *testing.T) {
	client := newTestClient(t, "demo")
	own := connect(t, client.server, "demo-own")
	own.putCatalogue("clubs: [{id: 7, name: Seven}]").want(204)
	contact := client.newContact(nil)
	replace := func(old, text string) []string {
		t.Helper()
		file := bytes.Replace(clubsim.Demo().Source(), []byte(old), []byte(text), 1)
		catalogue, err := clubsim.ParseCatalogue(file)
		if err != nil {
			t.Fatal(err)
		}
		return client.server.SetCatalogue(catalogue)
	}
	if worlds := replace("Lumen Bastille", "Lumen Nation"); !slices.Equal(worlds, []string{"demo"}) {
		t.Errorf("replaced in %v", worlds)
	}
	if client.clubName(11) != "Lumen Nation" || own.clubName(7) != "Seven" {
		t.Error("the names of the clubs are not those of their catalogues")
	}
	client.club, client.node = client.iri("clubs", 11), client.iri("network_nodes", 1)
	client.get(client.relative(contact)).want(200)
	replace("Camille", "Chris")
	client.get(client.relative(contact)).want(404)
	if name := client.get("contacts/1001").want(200).text("givenName"); name != "Chris" {
		t.Errorf("the person is %s", name)
	}
}

// TestGeneratedClubs: a catalogue grows to a number of clubs, always the same ones, with codes, places in the network, and products.
func TestGeneratedClubs(t *testing.T) {
	grown, err := clubsim.Demo().WithClubs(300)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := clubsim.Demo().WithClubs(300); err != nil || !bytes.Equal(again.Source(), grown.Source()) {
		t.Errorf("another time the clubs differ: %v", err)
	}
	if _, err := clubsim.Demo().WithClubs(clubsim.MaxClubs + 1); err == nil {
		t.Error("too many clubs are made")
	}
	client := newTestClient(t, "demo-chain")
	client.world.SetCatalogue(grown)
	names := map[any]bool{}
	for page := range 3 {
		for _, node := range client.get(fmt.Sprintf("network_nodes?type=club&itemsPerPage=100&page=%d", page+1)).want(200).members() {
			names[node["name"]] = true
		}
	}
	if len(names) != 299 { // one club of the demo is in no chain
		t.Errorf("%d clubs have names of their own", len(names))
	}
	last := client.get("network_nodes?clubId=" + client.iri("clubs", 325)).want(200).members()
	client.club, client.node = client.iri("clubs", 325), last[0]["@id"].(string)
	if code := client.get("clubs/325").want(200).text("code"); code != "CLUB325" {
		t.Errorf("its code is %s", code)
	}
	if products := client.names(""); !slices.Contains(products, "Flex") {
		t.Errorf("it sells %v", products)
	}
}

func (d *testClient) putCatalogue(file string) *result {
	d.t.Helper()
	request, err := http.NewRequest(http.MethodPut, d.url+"/"+d.token+"/_control/catalogue", strings.NewReader(file))
	if err != nil {
		d.t.Fatal(err)
	}
	return d.send(request)
}

// clubName is the name of a club's node; empty if there is none.
func (d *testClient) clubName(id int) string {
	d.t.Helper()
	d.club, d.node = "", "" // which may not exist
	for _, node := range d.get("network_nodes?clubId=" + d.iri("clubs", id)).want(200).members() {
		return node["name"].(string)
	}
	return ""
}
