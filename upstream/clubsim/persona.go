package clubsim

// persona is a contact that every world has from the start.
type persona struct {
	key, givenName, familyName, gender string
	birthDate                          string // empty: sixteen years before the seed
	club                               int
	status                             string
	mobile                             string
	description                        string
}

// personas are the first contacts of a world, numbered from firstContact.
var personas = []persona{
	{key: "customer", givenName: "Camille", familyName: "Laurent", gender: "female", birthDate: "1988-04-12", club: 11, status: statusCustomer,
		mobile: "+33601020301", description: "a member in good standing, with a Year Pass and the tag corporate"},
	{key: "debtor", givenName: "Denis", familyName: "Moreau", gender: "male", birthDate: "1979-09-30", club: 11, status: statusCustomer,
		mobile: "+33601020302", description: "owes 124.00 for two deferred sales, more than the club's limit for subscriptions"},
	{key: "prospect", givenName: "Paula", familyName: "Silva", gender: "female", birthDate: "1995-01-23", club: 13, status: statusProspect,
		mobile: "+33601020303", description: "known in Lyon, about to register in Paris: migrates with her own access token"},
	{key: "former", givenName: "Felix", familyName: "Bernard", gender: "male", birthDate: "1984-11-05", club: 12, status: statusFormer,
		mobile: "+33601020304", description: "left two years ago; may move to another club by SMS code"},
	{key: "banned", givenName: "Bruno", familyName: "Keller", gender: "male", birthDate: "1990-07-19", club: 11, status: statusBanned,
		mobile: "+33601020305", description: "banned: sales fail their check"},
	{key: "minor", givenName: "Mia", familyName: "Dubois", gender: "female", club: 11, status: statusProspect,
		mobile: "+33601020306", description: "sixteen: the check refuses offers from 18 such as 401 and from 60 such as 501; the Junior Term, 601, suits"},
}

// personaID returns the contact number of a persona; zero for an unknown key.
func personaID(key string) int {
	for i, p := range personas {
		if p.key == key {
			return firstContact + i
		}
	}
	return 0
}

// Persona is a contact that every world has from the start, with fresh tokens.
type Persona struct {
	Key        string `json:"key"` // customer, debtor, prospect, former, banned, minor
	ContactID  string `json:"contactId"`
	ClubID     string `json:"clubId"`
	Status     string `json:"status"`
	GivenName  string `json:"givenName"`
	FamilyName string `json:"familyName"`
	// IdentityToken is a JWT as the club's own login signs it: sub is the contact's number,
	// club its club's number, aud the client token; valid for ten minutes.
	IdentityToken string `json:"identityToken"`
	AccessToken   string `json:"accessToken"` // authenticates as this contact at the club system
	Description   string `json:"description"`
}

// Personas returns the personas in their current state.
func (w *World) Personas() []Persona {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	list := make([]Persona, len(personas))
	for i, p := range personas {
		k := w.state.Contacts.get(firstContact + i)
		list[i] = Persona{
			Key: p.key, ContactID: w.iri("contacts", k.ID), ClubID: w.iri("clubs", k.ClubID), Status: w.status(k), GivenName: k.GivenName, FamilyName: k.FamilyName,
			IdentityToken: w.identityToken(k), AccessToken: w.accessToken(k.ID, now), Description: p.description,
		}
	}
	return list
}
