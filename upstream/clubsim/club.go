package clubsim

import "strings"

// club is a place with a register, a catalogue and days on which it debits.
type club struct {
	id        int
	code      string
	name      string
	node      int // zero: the club belongs to no chain
	address   address
	telephone string
	debitDays []int  // the days of the month on which the club collects
	notice    string // how long a membership lasts after it was cancelled: an ISO 8601 duration; empty: not at all
	// cancelsOnline reports whether the club accepts cancellations online, in installations that have them.
	cancelsOnline bool
	// debtLimit is the debt in cents above which the club sells no
	// subscription; zero: debts do not matter.
	debtLimit int
}

// address is a postal address as the club system writes it (section Address).
type address struct {
	Country  string `json:"addressCountry"`
	Locality string `json:"addressLocality"`
	Postal   string `json:"postalCode"`
	Street   string `json:"streetAddress"`
}

// clubs of the demo organisation. Debit days differ between the chains, and one club per
// chain does not restrict debtors, as only "some clubs" do. The last one has no network
// node.
var clubs = []*club{
	{
		id:            11,
		code:          "PARIS11",
		name:          "Lumen Bastille",
		node:          3,
		debitDays:     []int{5, 10, 20},
		notice:        "P1M",
		cancelsOnline: true,
		debtLimit:     5000,
		telephone:     "+33199000011",
		address:       address{"FR", "Paris", "75011", "14 rue de la Roquette"},
	},
	{
		id:            12,
		code:          "PARIS17",
		name:          "Lumen Batignolles",
		node:          4,
		debitDays:     []int{5, 10, 20},
		notice:        "P1M",
		cancelsOnline: true,
		debtLimit:     5000,
		telephone:     "+33199000012",
		address:       address{"FR", "Paris", "75017", "88 rue des Dames"},
	},
	{
		id:            13,
		code:          "LYON02",
		name:          "Lumen Lyon Confluence",
		node:          5,
		debitDays:     []int{1, 15},
		notice:        "P2W",
		cancelsOnline: true,
		telephone:     "+33499000013",
		address:       address{"FR", "Lyon", "69002", "5 quai Rambaud"},
	},
	{
		id:            21,
		code:          "LILLE01",
		name:          "Nordlicht Lille",
		node:          7,
		debitDays:     []int{3, 28},
		notice:        "P1M",
		cancelsOnline: true,
		debtLimit:     10000,
		telephone:     "+33399000021",
		address:       address{"FR", "Lille", "59000", "27 rue de Béthune"},
	},
	{
		id:            22,
		code:          "NANTES01",
		name:          "Nordlicht Nantes",
		node:          8,
		debitDays:     []int{3, 28},
		notice:        "P1M",
		cancelsOnline: true,
		telephone:     "+33299000022",
		address:       address{"FR", "Nantes", "44000", "3 quai de la Fosse"},
	},
	{
		id:        31,
		code:      "SOLO31",
		name:      "Studio Solo",
		debitDays: []int{8},
		telephone: "+33299000031",
		address:   address{"FR", "Rennes", "35000", "11 rue Saint-Michel"},
	},
}

func clubByID(id int) *club {
	for _, c := range clubs {
		if c.id == id {
			return c
		}
	}
	return nil
}

// studio is the number of the room in which the club's classes take place.
func (c *club) studio() int { return c.id*10 + 1 }

func (c *club) sameChain(other *club) bool {
	return c.node != 0 && other.node != 0 && nodeByID(c.node).top() == nodeByID(other.node).top()
}

func (w *World) clubRecord(c *club) record {
	members := record{
		"id": c.id, "code": c.code, "name": c.name, "currency": currency,
		"addressCountry": c.address.Country, "addressLocality": c.address.Locality,
		"postalCode": c.address.Postal, "streetAddress": c.address.Street, "telephone": orNil(c.telephone),
		"networkNode": w.iriOrNil("network_nodes", c.node), "checkoutId": w.iri("checkouts", c.checkout()),
	}
	if w.settings.SaleTerms {
		members["saleTerms"] = []string{w.iri("sale_terms", c.id)}
	}
	return w.record("Club", "clubs", c.id, members)
}

// listClubs: GET clubs, those below the acting node. A single one can be read at
// clubs/{id}: the description needs a club's code and does not say where it is read.
func listClubs(c *request) (response, error) {
	postalCodes, text := c.req.query.all("postalCode"), strings.ToLower(c.req.query.Get("q"))
	_ = c.req.query.Get("visibility") // which no club has here
	found := filter(clubs, func(of *club) bool {
		return c.sees(of.id) && wanted(postalCodes, of.address.Postal) && strings.Contains(strings.ToLower(of.name), text)
	})
	return paginate(c, "Club", found, c.w.clubRecord)
}
