package contract

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/schedule"
	"frontdesk/flows/text"
	"frontdesk/upstream/mail"
)

// confirmed is a confirmation as the public API shows it.
type confirmed struct {
	RegistrationID string       `json:"registrationId"`
	ConcludedAt    time.Time    `json:"concludedAt"`
	Language       string       `json:"language"`
	Club           party        `json:"club"`
	Trader         *party       `json:"trader,omitempty"`
	Mediator       *mediator    `json:"mediator,omitempty"`
	Buyer          buyer        `json:"buyer"`
	Guardian       *guardian    `json:"guardian,omitempty"`
	Order          Ordered      `json:"order"`
	Payment        paid         `json:"payment"`
	Agreements     []agreed     `json:"agreements"`
	Mandate        *authorised  `json:"mandate,omitempty"`
	Withdrawal     instructions `json:"withdrawal"`
	SHA256         string       `json:"sha256"` // of the confirmation as HTML, hex
}

// party is a side of the contract, or a party that it names. Empty members are not known.
type party struct {
	Name               string   `json:"name"`
	LegalForm          string   `json:"legalForm,omitempty"`
	RegistrationNumber string   `json:"registrationNumber,omitempty"`
	VATID              string   `json:"vatId,omitempty"`
	Address            *address `json:"address,omitempty"`
	Phone              string   `json:"phone,omitempty"`
	Email              string   `json:"email,omitempty"`
}

type address struct {
	Street     string `json:"street,omitempty"`
	PostalCode string `json:"postalCode,omitempty"`
	City       string `json:"city"`
	Country    string `json:"country,omitempty"`
}

type mediator struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// buyer names the buyer. Members that are not known are empty.
type buyer struct {
	Number     string   `json:"number"`
	GivenName  string   `json:"givenName,omitempty"`
	FamilyName string   `json:"familyName,omitempty"`
	BirthDate  string   `json:"birthDate,omitempty"` // YYYY-MM-DD, where a guardian concludes the contract
	Address    *address `json:"address,omitempty"`
	Email      string   `json:"email,omitempty"`
}

// guardian is who concludes the contract for the buyer.
type guardian struct {
	GivenName  string `json:"givenName"`
	FamilyName string `json:"familyName"`
	Relation   string `json:"relation"`
}

type paid struct {
	Method  flows.Method `json:"method"`
	Total   flows.Money  `json:"total"`
	DueDate string       `json:"dueDate,omitempty"`
}

type agreed struct {
	Document flows.DocumentName `json:"document"`
	Version  string             `json:"version"`
	Language string             `json:"language"`
	SHA256   string             `json:"sha256"`
	At       time.Time          `json:"agreedAt"`
}

// instructions are about the right of withdrawal. Without a right for any item they are empty.
type instructions struct {
	Text string `json:"text,omitempty"`
	Form string `json:"form,omitempty"` // the model form of Directive 2011/83/EU, annex I (B)
}

// Confirm composes the confirmation of a completed registration from what was stored when its buyer paid, of which Ordered is not nil. It
// depends on its arguments alone; site is the address of the signup site.
func Confirm(r *flows.Registration, p *flows.Payment, club catalogue.Details, site string) (*flows.Confirmation, error) {
	var ordered Ordered
	if err := json.Unmarshal(r.Ordered.Order, &ordered); err != nil {
		return nil, err
	}
	at := p.Since(flows.Recorded)
	club.Address = PlaceOf(r, club)
	document := confirmed{
		RegistrationID: r.ID,
		ConcludedAt:    flows.Instant(at),
		Language:       r.Ordered.Language,
		Club:           clubOf(r, club),
		Trader:         traderOf(club.Trader),
		Order:          ordered.concludedOn(dayOf(club, at)),
		Payment:        paid{p.Method, flows.Money{Amount: p.Amount, Currency: p.Currency}, p.DueDate},
		Agreements:     []agreed{},
		Mandate:        authorisedBy(r, club),
	}
	if r.Contact != nil {
		document.Buyer = buyerOf(r)
	}
	if g := r.Guardian; !g.IsZero() {
		document.Guardian = &guardian{g.GivenName, g.FamilyName, g.Relation}
	}
	if club.Mediator != nil {
		document.Mediator = &mediator{club.Mediator.Name, club.Mediator.URL}
	}
	for _, a := range p.Agreements {
		document.Agreements = append(document.Agreements, agreed{a.Document, a.Version, a.Language, a.SHA256, flows.Instant(a.At)})
	}
	page := writer{text.Match(r.Ordered.Language), club, &document, at, site + "/?club=" + url.QueryEscape(r.ClubID)}.page()
	confirmation := &flows.Confirmation{
		Registration:     r.ID,
		ClientToken:      r.ClientToken,
		ClubID:           r.ClubID,
		ContactNumber:    document.Buyer.Number,
		PersonPseudonyms: slices.Clone(r.PersonPseudonyms),
		At:               at,
		Amount:           p.Amount,
		Currency:         p.Currency,
		Language:         r.Ordered.Language,
		Title:            page.Title,
		Attached:         p.Agreements,
		GuardianEmail:    r.Guardian.Email,
	}
	if r.Contact != nil {
		confirmation.Contact, confirmation.Email = r.Contact.IRI, r.Contact.Entered
	}
	for _, name := range []string{r.NamePseudonym, r.GuardianName} {
		if name != "" {
			confirmation.PersonPseudonyms = append(confirmation.PersonPseudonyms, name)
		}
	}
	confirmation.HTML, confirmation.Text = mail.Render(page)
	sum := sha256.Sum256([]byte(confirmation.HTML))
	document.SHA256 = hex.EncodeToString(sum[:])
	confirmation.SHA256 = document.SHA256
	var err error
	confirmation.Document, err = json.Marshal(document)
	return confirmation, err
}

// concludedOn returns the order with the withdrawal periods of a contract that was concluded on a day: the buyer may have ordered on the
// day before.
func (o Ordered) concludedOn(day schedule.Date) Ordered {
	o.Items = slices.Clone(o.Items)
	for i := range o.Items {
		if period := &o.Items[i].Withdrawal; period.Until != "" {
			period.Until = LastWithdrawalDay(day).String()
		}
	}
	return o
}

// OrderIn returns the order that a confirmation confirms.
func OrderIn(confirmation *flows.Confirmation) (Ordered, error) {
	var document struct{ Order Ordered }
	err := json.Unmarshal(confirmation.Document, &document)
	return document.Order, err
}

// hasRight reports whether the buyer can withdraw from the contract about any item.
func (o Ordered) hasRight() bool {
	return slices.ContainsFunc(o.Items, func(item Ordering) bool { return item.Withdrawal.Right })
}

func buyerOf(r *flows.Registration) buyer {
	words := func(text string) string { return flows.SingleLine(text, maxWords) }
	contact, identity := r.Contact, r.Contact.Identity
	out := buyer{
		Number:     contact.Number,
		GivenName:  words(contact.GivenName),
		FamilyName: words(identity.FamilyName),
		Address: addressOf(catalogue.Address{Street: words(identity.Street), PostalCode: words(identity.PostalCode),
			City: words(identity.City), Country: words(identity.Country)}),
		Email: words(cmp.Or(contact.Entered, identity.Email)),
	}
	if !r.Guardian.IsZero() {
		out.BirthDate = identity.BirthDate
	}
	return out
}

func clubOf(r *flows.Registration, club catalogue.Details) party {
	name := cmp.Or(flows.SingleLine(r.ClubName, maxWords), r.ClubID)
	return party{Name: name, Address: addressOf(club.Address), Phone: club.Phone, Email: club.Email}
}

// PlaceOf returns the address of a registration's club: the operator's file has it, or else the club system had it at the start. Zero if it
// is not known.
func PlaceOf(r *flows.Registration, club catalogue.Details) catalogue.Address {
	words := func(text string) string { return flows.SingleLine(text, maxWords) }
	at := r.ClubAddress
	return cmp.Or(club.Address, catalogue.Address{
		Street: words(at.Street), PostalCode: words(at.PostalCode), City: words(at.City), Country: words(at.Country)})
}

func traderOf(trader *catalogue.Trader) *party {
	if trader == nil {
		return nil
	}
	return &party{
		Name:               trader.Name,
		LegalForm:          trader.LegalForm,
		RegistrationNumber: trader.RegistrationNumber,
		VATID:              trader.VATID,
		Address:            addressOf(trader.Address),
		Phone:              trader.Phone,
		Email:              trader.Email,
	}
}

func addressOf(at catalogue.Address) *address {
	if at == (catalogue.Address{}) {
		return nil
	}
	return &address{at.Street, at.PostalCode, at.City, at.Country}
}
