package club

import "context"

// The statuses of a contact; club system API, section Contact. It gives the literals of the
// first two only, and does not name the status of a former customer.
const (
	StatusProspect = "prospect" // known, not yet a member
	StatusTemp     = "temp"     // created during a purchase
	StatusCustomer = "customer"
	StatusBanned   = "banned"
)

// Address is a postal address.
type Address struct {
	Country    string `json:"addressCountry"` // ISO 3166 alpha-2, such as "FR"
	Locality   string `json:"addressLocality"`
	PostalCode string `json:"postalCode"`
	Street     string `json:"streetAddress"`
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
	Status     string       `json:"status"`
	Address    *Address     `json:"address"`
	Club       IRI          `json:"clubId"`
	Tags       []ContactTag `json:"tags"`
}

func (c Contact) check() error { return requireIRI(c.IRI) }

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

// CreateContact creates a contact at every call, even for a person the club system knows.
// Rejected with Violations when a field is missing or wrong. That this operation exists is
// an assumption: the API's description does not say how contacts are created.
func (c *Client) CreateContact(ctx context.Context, s Scope, in NewContact) (Contact, error) {
	return do[Contact](ctx, c, post("CreateContact", s, "contacts", "", in))
}

// GetContact reads a contact with its tags; club system API, section Contacts. ErrNotFound
// when it does not exist or is not visible in the scope.
func (c *Client) GetContact(ctx context.Context, s Scope, contact IRI) (Contact, error) {
	return do[Contact](ctx, c, get("GetContact", s, "contacts/{id}", contact))
}

// OwnContact reads the contact that an access token belongs to; club system API, sections
// Optin and Authentication. With a contact's token, all opt-ins are that contact's. The
// token is used for this call only. ErrUnauthorized or ErrBadToken when it is not accepted,
// ErrNoContactToken when it shows no contact or several.
func (c *Client) OwnContact(ctx context.Context, clientToken, accessToken string) (Contact, error) {
	s := Scope{ClientToken: clientToken} // the contact's club is not known yet
	optins, err := do[collection[Optin]](ctx, c, get("ListOptins", s, "optins", "").withToken(accessToken))
	if err != nil {
		return Contact{}, err
	}
	var own IRI
	for _, optin := range optins.members {
		if own != "" && optin.Contact != own {
			return Contact{}, ErrNoContactToken
		}
		own = optin.Contact
	}
	if own == "" {
		return Contact{}, ErrNoContactToken
	}
	return do[Contact](ctx, c, get("GetContact", s, "contacts/{id}", own).withToken(accessToken))
}
