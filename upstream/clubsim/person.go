package clubsim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// person is a contact that every world has from the start.
type person struct {
	Key         string    `yaml:"key"`
	GivenName   string    `yaml:"givenName"`
	FamilyName  string    `yaml:"familyName"`
	Gender      string    `yaml:"gender,omitempty"`
	BirthDate   string    `yaml:"birthDate,omitempty"`
	Age         int       `yaml:"age,omitempty"` // when the world begins; instead of BirthDate
	Club        int       `yaml:"club"`
	Status      string    `yaml:"status"`
	Mobile      string    `yaml:"mobile,omitempty"`
	Email       string    `yaml:"email,omitempty"`
	Description string    `yaml:"description,omitempty"`
	Tags        []string  `yaml:"tags,omitempty,flow"`
	Owns        []holding `yaml:"owns,omitempty,flow"`
	Owes        []holding `yaml:"owes,omitempty,flow"`
}

// holding is something that a person bought.
type holding struct {
	Offer      int    `yaml:"offer"`
	Since      string `yaml:"since,omitempty"`      // how long ago: an ISO 8601 duration; empty: today
	Name       string `yaml:"name,omitempty"`       // empty: the offer's
	Commitment string `yaml:"commitment,omitempty"` // from its start: an ISO 8601 duration; empty: as long as it is valid
}

// boughtAt is when it was bought.
func (h holding) boughtAt(now time.Time) time.Time {
	if h.Since == "" {
		return now
	}
	return mustPeriod(h.Since).before(now)
}

// contact makes the person's record, without a number.
func (p *person) contact(at *club, now time.Time) *contact {
	return &contact{
		ClubID:     at.ID,
		Status:     p.Status,
		FamilyName: p.FamilyName,
		GivenName:  p.GivenName,
		Gender:     p.Gender,
		BirthDate:  cmp.Or(p.BirthDate, now.AddDate(-p.Age, 0, -1).Format(time.DateOnly)),
		Email:      p.Email,
		Mobile:     p.Mobile,
		Address:    at.Address,
		Optins:     defaultOptins(),
		CreatedAt:  now,
	}
}

// adult is the age of a person of whom the file tells none.
const adult = 30

// complete fills in what the file leaves out of its person number i.
func (p *person) complete(i int) {
	p.Key = cmp.Or(p.Key, fmt.Sprintf("person%d", i+1))
	p.Gender, p.Status = cmp.Or(p.Gender, "other"), cmp.Or(p.Status, statusProspect)
	p.Mobile, p.Email = cmp.Or(p.Mobile, fmt.Sprintf("+336010204%02d", i%100)), cmp.Or(p.Email, p.Key+"@example.com")
	if p.BirthDate == "" {
		p.Age = cmp.Or(p.Age, adult)
	}
}

func (p *person) check(r *reading, path string, clubs, offers ids) {
	r.text(path+".givenName", p.GivenName)
	r.text(path+".familyName", p.FamilyName)
	r.oneOf(path+".gender", p.Gender, "female", "male", "other")
	r.oneOf(path+".status", p.Status, statusProspect, statusCustomer, statusFormer, statusBanned)
	r.refuse(p.BirthDate != "" && !isDate(p.BirthDate), path+".birthDate", "%q must be a date such as 1990-07-19", p.BirthDate)
	r.refuse(p.BirthDate != "" && p.Age != 0, path+".age", "must not be given with birthDate")
	r.refuse(p.Age < 0 || p.Age > maxAge, path+".age", "must be from 0 to %d", maxAge)
	r.refuse(!phones.MatchString(p.Mobile), path+".mobile", "%q must be a number such as +33601020304", p.Mobile)
	r.refuse(!strings.Contains(p.Email, "@"), path+".email", "%q must be an e-mail address", p.Email)
	r.refuse(!clubs[p.Club], path+".club", "there is no club %d", p.Club)
	for name, list := range map[string][]holding{"owns": p.Owns, "owes": p.Owes} {
		for i, h := range list {
			at := fmt.Sprintf("%s.%s[%d]", path, name, i)
			r.refuse(!offers[h.Offer], at+".offer", "there is no offer %d", h.Offer)
			r.length(at+".since", h.Since)
			r.length(at+".commitment", h.Commitment)
		}
	}
}

// demoPersons are the persons of the demo, for a catalogue that has none: in its first club, and in others of the same chain as far as
// there are any, with what the catalogue has to offer.
func (c *Catalogue) demoPersons() (persons []*person) {
	var chain []int // the clubs of the first one's chain, that one first
	for _, at := range c.Clubs {
		if top := c.chainOf(at.ID); at == c.Clubs[0] || top != nil && top == c.chainOf(c.Clubs[0].ID) {
			chain = append(chain, at.ID)
		}
	}
	for _, p := range Demo().Persons {
		own := *p
		place := slices.IndexFunc(Demo().Clubs, func(at *club) bool { return at.ID == p.Club })
		own.Description = "as the " + p.Key + " of the demo, as far as the catalogue allows"
		own.Club, own.Owns, own.Owes = chain[min(place, len(chain)-1)], c.alike(p.Owns), c.alike(p.Owes)
		persons = append(persons, &own)
	}
	return persons
}

// chainOf is the top of a club's chain; nil if it is in none.
func (c *Catalogue) chainOf(id int) *networkNode {
	if at := slices.IndexFunc(c.network, func(n *networkNode) bool { return n.Club == id }); at >= 0 {
		return c.network[at].top()
	}
	return nil
}

// alike replaces offers of the demo by those of a catalogue: of the same kind, with debits or without, free or not. What has none is
// left out.
func (c *Catalogue) alike(demo []holding) (own []holding) {
	for _, held := range demo {
		model := Demo().offers[held.Offer]
		for _, p := range c.Products {
			at := slices.IndexFunc(p.Offers, func(o offer) bool { return o.debited() == model.debited() && (o.Total > 0) == (model.Total > 0) })
			if p.Kind == model.product.Kind && at >= 0 {
				held.Offer, held.Name = p.Offers[at].ID, ""
				own = append(own, held)
				break
			}
		}
	}
	return own
}
