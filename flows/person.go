package flows

// Person is the buyer, as given. It goes to the club system and is kept nowhere else.
type Person struct {
	GivenName  string
	FamilyName string
	BirthDate  string // YYYY-MM-DD
	Email      string
	Mobile     string // E.164
	Gender     string // female, male, other, or empty
	Street     string
	PostalCode string
	City       string
	Country    string // ISO 3166-1 alpha-2
}

// StatusTemp is the club system's status of somebody who is being registered.
const StatusTemp = "temp"
