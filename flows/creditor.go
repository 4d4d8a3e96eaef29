package flows

// Creditor is who collects direct debits. Empty values are not known.
type Creditor struct {
	Name       string
	Identifier string // SEPA creditor identifier (EPC262-08), without spaces
	Address    Address
}
