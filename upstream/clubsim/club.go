package clubsim

import "strings"

// club is a place with a register, a catalogue and days on which it debits.
type club struct {
	ID        int     `yaml:"id,omitempty"`
	Code      string  `yaml:"code,omitempty"`
	Name      string  `yaml:"name"`
	Alias     string  `yaml:"alias,omitempty"` // of its node
	Address   address `yaml:"address,flow"`
	Phone     string  `yaml:"phone,omitempty"`
	DebitDays []int   `yaml:"debitDays,flow"`   // the days of the month on which the club collects
	Notice    string  `yaml:"notice,omitempty"` // how long a membership lasts after it was cancelled: ISO 8601; empty: not at all
	// RefusesCancellation is true if the club accepts no cancellations online, in installations that have them.
	RefusesCancellation bool `yaml:"refusesCancellation,omitempty"`
	// DebtLimit is the debt in cents above which the club sells no
	// subscription; zero: debts do not matter.
	DebtLimit int `yaml:"debtLimit,omitempty"`

	node *networkNode // nil: the club belongs to no chain
}

// address is a postal address as the club system writes it (section Address).
type address struct {
	Country  string `json:"addressCountry"  yaml:"country"`
	Locality string `json:"addressLocality" yaml:"city"`
	Postal   string `json:"postalCode"      yaml:"postalCode"`
	Street   string `json:"streetAddress"   yaml:"street"`
}

// studio is the number of the room in which the club's classes take place.
func (c *club) studio() int { return c.ID*10 + 1 }

func (c *club) sameChain(other *club) bool {
	return c.node != nil && other.node != nil && c.node.top() == other.node.top()
}

func (w *World) clubRecord(c *club) record {
	members := record{
		"id": c.ID, "code": c.Code, "name": c.Name, "currency": currency,
		"addressCountry": c.Address.Country, "addressLocality": c.Address.Locality,
		"postalCode": c.Address.Postal, "streetAddress": c.Address.Street, "telephone": orNil(c.Phone),
		"networkNode": w.iriOrNil("network_nodes", c.node.id()), "checkoutId": w.iri("checkouts", c.checkout()),
	}
	if w.settings.SaleTerms {
		members["saleTerms"] = []string{w.iri("sale_terms", c.ID)}
	}
	return w.record("Club", "clubs", c.ID, members)
}

// listClubs: GET clubs, those below the acting node. A single one can be read at
// clubs/{id}: the description needs a club's code and does not say where it is read.
func listClubs(c *request) (response, error) {
	postalCodes, text := c.req.query.all("postalCode"), strings.ToLower(c.req.query.Get("q"))
	_ = c.req.query.Get("visibility") // which no club has here
	found := filter(c.w.catalogue.Clubs, func(of *club) bool {
		return c.sees(of.ID) && wanted(postalCodes, of.Address.Postal) && strings.Contains(strings.ToLower(of.Name), text)
	})
	return paginate(c, "Club", found, c.w.clubRecord)
}
