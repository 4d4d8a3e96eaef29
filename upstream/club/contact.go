package club

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The statuses of a contact; club system API, section Contact. It gives the literals of the
// first two only.
const (
	StatusProspect = "prospect" // known, not yet a member
	StatusTemp     = "temp"     // created during a purchase
	StatusCustomer = "customer"
	StatusFormer   = "former_customer"
	StatusBanned   = "banned"
)

// statuses are the literals of a contact's status that installations have, with what they mean.
var statuses = map[string]string{
	StatusProspect: StatusProspect,
	StatusTemp:     StatusTemp,
	StatusCustomer: StatusCustomer,
	"client":       StatusCustomer,
	StatusFormer:   StatusFormer,
	StatusBanned:   StatusBanned,
}

// Address is a postal address.
type Address struct {
	Country    string `json:"addressCountry"` // ISO 3166 alpha-2, such as "FR"
	Locality   string `json:"addressLocality"`
	PostalCode string `json:"postalCode"`
	Street     string `json:"streetAddress"`
	CountryISO string `json:"addressCountryIso,omitempty"` // the code again, for installations that have the country's name in the other
}

// CountryCode is the country's code: some installations have its name in addressCountry.
func (a Address) CountryCode() string { return cmp.Or(a.CountryISO, a.Country) }

// withCode is the address with the country's code alone, for comparisons.
func (a Address) withCode() Address {
	a.Country, a.CountryISO = a.CountryCode(), ""
	return a
}

// Contact is a person the club system knows.
type Contact struct {
	IRI        IRI          `json:"@id"`
	Number     string       `json:"number"` // identifies the person in sales and mandates
	FamilyName string       `json:"familyName"`
	GivenName  string       `json:"givenName"`
	Gender     string       `json:"gender"`
	BirthDate  string       `json:"birthDate"` // YYYY-MM-DD
	Email      string       `json:"email"`
	Mobile     string       `json:"mobile"` // where SMS codes go
	Status     string       `json:"status"` // one of the constants, or another literal
	Address    *Address     `json:"address"`
	Club       IRI          `json:"clubId"`
	Tags       []ContactTag `json:"tags"`
	Anonymous  bool         `json:"isAnonymous"` // its personal data was removed for good

	left []*DecodeError // what of it cannot be read
}

// plainContact is a Contact without its methods.
type plainContact Contact

// UnmarshalJSON reads a contact. A tag that cannot be read is left out.
func (c *Contact) UnmarshalJSON(data []byte) error {
	var wire struct {
		plainContact
		Status jsontext.Value      `json:"status"`
		State  jsontext.Value      `json:"state"`
		Tags   records[ContactTag] `json:"tags"`
	}
	if err := unmarshal(data, &wire); err != nil {
		return err
	}
	*c = Contact(wire.plainContact)
	c.readStatus("state", wire.State)
	c.readStatus("status", wire.Status)
	for _, tag := range wire.Tags {
		c.keep(tag)
	}
	return nil
}

// readStatus reads the status from one of the members in which installations have it. An unknown literal is kept as it is,
// unless the other member has a known one.
func (c *Contact) readStatus(member string, value jsontext.Value) {
	if len(value) == 0 || value.Kind() == 'n' {
		return
	}
	var literal lenient[string]
	_ = unmarshal(value, &literal) // never fails
	status, known := statuses[literal.value]
	if !known {
		c.left = append(c.left, &DecodeError{Field: member, Want: "a known status"})
		status = cmp.Or(c.Status, literal.value)
	}
	c.Status = status
}

// keep adds a tag, unless it cannot be read.
func (c *Contact) keep(tag record[ContactTag]) {
	if tag.err != nil {
		c.left = append(c.left, tag.err.within("tags"))
	} else {
		c.Tags = append(c.Tags, tag.value)
	}
}

// readDates reads the dates of a contact. A birth date that cannot be read is unknown.
func (c *Contact) readDates(zoneOf func(IRI) *time.Location) error {
	zone, tags := zoneOf(c.Club), c.Tags
	err := readDay("birthDate", &c.BirthDate, zone)
	if malformed, ok := errors.AsType[*DecodeError](err); ok {
		c.left = append(c.left, malformed)
	}
	c.Tags = nil
	for _, value := range tags {
		tag := record[ContactTag]{value: value}
		tag.fail(cmp.Or(readDay("validFrom", &tag.value.ValidFrom, zone), readDay("validThrough", &tag.value.ValidThrough, zone)))
		c.keep(tag)
	}
	return nil
}

func (c *Contact) unreadable() []*DecodeError { return c.left }

func (c Contact) check() error { return requireIRI(c.IRI, "contacts") }

func (c Contact) identifier() IRI { return c.IRI }

// ContactTag is a tag of a contact; some offers require a tag.
type ContactTag struct {
	IRI          IRI    `json:"@id"`
	Name         string `json:"name"`
	ValidFrom    string `json:"validFrom"`    // YYYY-MM-DD
	ValidThrough string `json:"validThrough"` // YYYY-MM-DD; empty: no end
}

// NewContact is a contact to be created.
type NewContact struct {
	FamilyName string   `json:"familyName"`
	GivenName  string   `json:"givenName"`
	Gender     string   `json:"gender,omitempty"` // female, male or other
	Club       IRI      `json:"clubId"`
	BirthDate  string   `json:"birthDate,omitempty"` // YYYY-MM-DD
	Email      string   `json:"email,omitempty"`
	Mobile     string   `json:"mobile,omitempty"` // +33600000000
	Address    *Address `json:"address,omitempty"`
	Status     string   `json:"status,omitempty"` // StatusProspect or StatusTemp; empty: the club system's choice
}

// CreateContact creates a contact at every call, even for a person the club system knows. It is returned as it was
// sent: of the response only the IRI is needed, and the number is read.
// Rejected with Violations when a field is missing or wrong, and with ErrEmailUsed. That this operation exists is
// an assumption: the API's description does not say how contacts are created.
func (c *Client) CreateContact(ctx context.Context, scope Scope, in NewContact) (Contact, error) {
	got, err := do[createdContact](ctx, c, post("CreateContact", scope, "contacts", "", in))
	return Contact{
		IRI:        got.IRI,
		Number:     got.Number.value,
		FamilyName: in.FamilyName,
		GivenName:  in.GivenName,
		Gender:     in.Gender,
		BirthDate:  in.BirthDate,
		Email:      in.Email,
		Mobile:     in.Mobile,
		Status:     in.Status,
		Address:    in.Address,
		Club:       in.Club,
	}, err
}

type createdContact struct {
	IRI    IRI             `json:"@id"`
	Number lenient[string] `json:"number"`
}

func (c createdContact) check() error { return requireIRI(c.IRI, "contacts") }

// maxSearchPages bounds a search for contacts: more than a chain changes in minutes. An installation that ignores the filters lists
// all contacts of the club.
const maxSearchPages = 20

// FindContacts lists the temporary contacts of the acting club that have all details of a new one: those that a
// request since then without a response may have created. That contacts can be listed by their e-mail address, or
// without one by the time of their last change, is an assumption, as CreateContact is.
func (c *Client) FindContacts(ctx context.Context, scope Scope, in NewContact, since time.Time) (found []Contact, err error) {
	query := url.Values{"email": {in.Email}}
	if in.Email == "" {
		query = url.Values{"updatedAt[after]": {since.UTC().Format(time.RFC3339)}, "itemsPerPage": {"100"}}
	}
	listed, err := firstPages[Contact](ctx, c, get("ListContacts", scope, "contacts", "").withQuery(query), maxSearchPages)
	for _, contact := range listed.readable() {
		if in.describes(contact) {
			found = append(found, contact)
		}
	}
	return found, err
}

func (n NewContact) describes(c Contact) bool {
	return n.FamilyName == c.FamilyName && n.GivenName == c.GivenName && n.BirthDate == c.BirthDate && n.Gender == c.Gender &&
		n.Email == c.Email && n.Mobile == c.Mobile && n.Club == c.Club && n.Status == c.Status &&
		n.Address != nil && c.Address != nil && n.Address.withCode() == c.Address.withCode()
}

// SetContactEmail changes the e-mail address of a contact; an empty one removes it. Rejected with ErrEmailUsed if another contact of
// the organisation has the address. That a contact can be changed is an assumption, as CreateContact is.
func (c *Client) SetContactEmail(ctx context.Context, scope Scope, contact IRI, email string) error {
	type change struct {
		Email *string `json:"email"`
	}
	body := change{&email}
	if email == "" {
		body.Email = nil
	}
	return c.write(ctx, put("SetContactEmail", scope, "contacts/{id}", contact, body).withRecord())
}

// GetContact reads a contact with its tags; club system API, section Contacts. ErrNotFound
// when it does not exist or is not visible in the scope.
func (c *Client) GetContact(ctx context.Context, scope Scope, contact IRI) (Contact, error) {
	return do[Contact](ctx, c, get("GetContact", scope, "contacts/{id}", contact))
}

// OwnContact reads the contact that an access token belongs to; club system API, sections
// Optin and Authentication. With a contact's token, all opt-ins are that contact's. The
// token is used for this call only. ErrUnauthorized or ErrBadToken when it is not accepted,
// ErrNoContactToken when it shows no contact or several.
func (c *Client) OwnContact(ctx context.Context, clientToken, accessToken string) (Contact, error) {
	scope := Scope{ClientToken: clientToken} // the contact's club is not known yet
	optins, err := firstPages[Optin](ctx, c, get("ListOptins", scope, "optins", "").withToken(accessToken), 1)
	if err != nil {
		return Contact{}, err
	}
	if left := optins.unreadable(); left != nil { // it may be another contact's
		return Contact{}, unreadable("ListOptins", left[0])
	}
	var own IRI
	for _, optin := range optins.readable() {
		if own != "" && optin.Contact != own {
			return Contact{}, ErrNoContactToken
		}
		own = optin.Contact
	}
	if own == "" {
		return Contact{}, ErrNoContactToken
	}
	return do[Contact](ctx, c, get("GetContact", scope, "contacts/{id}", own).withToken(accessToken))
}

// AccountStatistics is what a contact owes.
type AccountStatistics struct {
	TotalRealDebt int64 // cents
}

// accountStatistics is the response. A missing amount does not mean no debt.
type accountStatistics struct {
	TotalRealDebt *cents `json:"totalRealDebt"`
}

func (a accountStatistics) check() error { return requireAmount("totalRealDebt", a.TotalRealDebt) }

// GetAccountStatistics reads the debt of a contact; club system API, section Contacts.
// ErrNotFound as for GetContact.
func (c *Client) GetAccountStatistics(ctx context.Context, scope Scope, contact IRI) (AccountStatistics, error) {
	got, err := do[accountStatistics](ctx, c, get("GetAccountStatistics", scope, "stats/accounts/contacts/{id}", contact))
	if err != nil {
		return AccountStatistics{}, err
	}
	return AccountStatistics{int64(*got.TotalRealDebt)}, nil
}

// Migration moves a prospect's data into the contact of a purchase.
type Migration struct {
	Contact IRI `json:"targetContactId"` // of status temp, in another club than the source
	Club    IRI `json:"targetClubId"`    // the target's club
}

// MigrateContact makes a prospect of another club the buyer: their data moves from source to
// the target contact; club system API, section Contacts. accessToken is the source contact's
// own, proves the caller's identity, and is used for this request only. UpdateSaleContact
// follows.
//
// Rejected when the source is not a prospect, the target not of status temp, or both belong
// to one club. Refused when the token is not the source's.
func (c *Client) MigrateContact(ctx context.Context, scope Scope, source IRI, accessToken string, target Migration) error {
	r := put("MigrateContact", scope, "contacts/{id}/migrate", source, target)
	return c.write(ctx, r.withToken(accessToken))
}

// MigrationScopes are where a contact's move to another club may have to act from. The description wants a node above both clubs;
// editions of it want the destination's own node, without the rest of the network, or the node of the contact's club.
type MigrationScopes struct{ Above, Destination, Source Scope }

// CreateContactMigrationRequest starts the migration of a contact to another club of the chain and sends an SMS code, which
// ValidateSignatureRequest needs; club system API, section Contact migration between clubs. Where an installation refuses the contact
// to one of the scopes, nothing was done, and the next is tried; the right one is remembered. Rejected with ErrMigrationClub,
// ErrMigrationContact or ErrOutOfReach.
func (c *Client) CreateContactMigrationRequest(ctx context.Context, scopes MigrationScopes, contact, club IRI) (SignatureRequest, error) {
	type migrationRequest struct {
		Club           IRI  `json:"clubId"`
		Contact        IRI  `json:"contactId"`
		DisableNetwork bool `json:"disableNetwork,omitempty"`
	}
	ways := []Scope{scopes.Above, scopes.Destination, scopes.Source}
	organisation := scopes.Above.ClientToken
	first, _ := c.migrations.LoadOrStore(organisation, 0)
	var refusal error
	for i := range ways {
		way := (first.(int) + i) % len(ways)
		body := migrationRequest{club, contact, way == 1}
		created, err := do[SignatureRequest](ctx, c, post("CreateContactMigrationRequest", ways[way], "contact_migration_requests", "", body))
		if err == nil {
			c.migrations.Store(organisation, way)
		}
		if !errors.Is(err, ErrOutOfReach) && !errors.Is(err, ErrNotFound) {
			return created, err
		}
		refusal = cmp.Or(refusal, err)
	}
	return SignatureRequest{}, refusal
}
