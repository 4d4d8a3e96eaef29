package flows

// Guardian is the adult who concludes a contract for its buyer, such as for a minor: the payer, the debtor of the mandate, and the party
// to the agreements. The buyer becomes the member. The zero value is none.
type Guardian struct {
	GivenName  string `json:"givenName"`
	FamilyName string `json:"familyName"`
	Relation   string `json:"relation"` // to the buyer: parent or legal_guardian
	Phone      string `json:"phone"`    // E.164; the codes go there
	Email      string `json:"email,omitempty"`
}

// IsZero reports whether there is no guardian.
func (g Guardian) IsZero() bool { return g == Guardian{} }

// Name is the full name.
func (g Guardian) Name() string { return g.GivenName + " " + g.FamilyName }
