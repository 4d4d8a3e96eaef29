package clubsim

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// RefusedIBAN is well-formed but refused, as the account number of a closed account.
const RefusedIBAN = "FR4099999000000000000000099"

var (
	ibanPattern = regexp.MustCompile(`^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$`)
	bicPattern  = regexp.MustCompile(`^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$`)
	// The number and the sort code of a Bacs account.
	accountPattern  = regexp.MustCompile(`^\d{8}$`)
	sortCodePattern = regexp.MustCompile(`^\d{2}-?\d{2}-?\d{2}$`)
)

// mandate allows a club to debit a bank account, once it is signed.
type mandate struct {
	numbered
	ContactID  int       `json:"contactId"`
	ClubID     int       `json:"clubId"`
	FamilyName string    `json:"contactFamilyName"`
	GivenName  string    `json:"contactGivenName"`
	Number     string    `json:"contactNumber"`
	Address    address   `json:"contactAddress"`
	Holder     string    `json:"holder"`
	IBAN       string    `json:"iban"` // all but the last four characters are masked: nothing here needs them
	BIC        string    `json:"bic"`
	Bank       string    `json:"bank"`
	ValidFrom  string    `json:"validFrom"`
	SortCode   string    `json:"sortCode"` // of a Bacs account, whose masked number is in IBAN; empty: a SEPA account
	SignedAt   time.Time `json:"signedAt"` // zero: not signed
	CreatedAt  time.Time `json:"createdAt"`
}

func (w *World) mandateRecord(mandate *mandate) record {
	state := "created"
	if !mandate.SignedAt.IsZero() {
		state = "signed"
	}
	account := record{"holder": mandate.Holder, "iban": mandate.IBAN, "bic": mandate.BIC, "bank": mandate.Bank}
	if mandate.SortCode != "" {
		account = record{"type": "bacs", "accountName": mandate.Holder, "accountNumber": mandate.IBAN, "sortCode": mandate.SortCode}
	}
	members := record{
		"state": state, "reference": "FD-" + itoa(mandate.ClubID) + "-" + itoa(mandate.ID), "contactId": w.iri("contacts", mandate.ContactID),
		"clubId": w.iri("clubs", mandate.ClubID), "validFrom": mandate.ValidFrom, "signedAt": w.timestampOrNil(mandate.SignedAt),
	}
	maps.Copy(members, account)
	return w.record("Mandate", "mandates", mandate.ID, members)
}

// createMandate: POST mandates (section Mandates). A mandate must be signed before it
// counts.
func createMandate(call *request) (response, error) {
	form := call.form()
	mandate := mandate{
		ClubID:     form.iri("clubId", "clubs", true),
		ContactID:  form.iri("contactId", "contacts", true),
		FamilyName: form.text("contactFamilyName", true),
		GivenName:  form.text("contactGivenName", true),
		Number:     form.text("contactNumber", true),
		ValidFrom:  form.date("validFrom", true),
		CreatedAt:  call.now,
	}
	mandate.readAccount(form)
	if home := form.object("contactAddress", true); home != nil {
		mandate.Address = home.address(true)
	}
	_, noContact := call.contactAt(mandate.ContactID)
	_, noClub := call.clubAt(mandate.ClubID)
	if err := cmp.Or(form.err(), noContact, noClub); err != nil {
		return response{}, err
	}
	return response{201, call.w.mandateRecord(call.w.state.Mandates.add(&mandate))}, nil
}

// readAccount reads the account to debit, of the kind that type names.
func (m *mandate) readAccount(form *form) {
	if form.w.settings.BacsMandates && form.choice("type", false, "sepa", "bacs") == "bacs" {
		m.Holder, m.SortCode = form.text("accountName", true), form.matching("sortCode", true, sortCodePattern)
		if number := form.matching("accountNumber", true, accountPattern); number != "" {
			m.IBAN = "****" + number[len(number)-4:]
		}
		return
	}
	m.Holder, m.IBAN = form.text("holder", true), form.iban("iban")
	m.BIC, m.Bank = form.matching("bic", true, bicPattern), form.text("bank", true)
}

func (c *request) mandateAt(id int) (*mandate, error) {
	return visible(c.w.state.Mandates.get(id), func(m *mandate) bool { return c.sees(m.ClubID) && c.caller.maySee(m.ContactID) })
}

// iban reads a bank account number and returns it masked. A wrong or refused number is a
// violation.
func (f *form) iban(name string) string {
	number := strings.ToUpper(strings.ReplaceAll(f.text(name, true), " ", ""))
	switch {
	case number == "":
		return ""
	case !validIBAN(number):
		f.addViolationCode(name, "This is not a valid International Bank Account Number (IBAN).", "api.error.mandate.iban-not-valid")
		return ""
	case number == RefusedIBAN:
		f.addViolationCode(name, "The bank refuses this account.", "api.error.mandate.iban-refused")
	}
	return number[:2] + strings.Repeat("*", len(number)-6) + number[len(number)-4:]
}

// validIBAN checks shape and check digits (ISO 13616): with the first four
// characters moved to the end and letters read as 10 to 35, the remainder of the
// division by 97 is 1.
func validIBAN(number string) bool {
	if !ibanPattern.MatchString(number) {
		return false
	}
	remainder := 0
	for _, r := range number[4:] + number[:4] {
		if r >= 'A' {
			remainder = (100*remainder + int(r-'A') + 10) % 97
		} else {
			remainder = (10*remainder + int(r-'0')) % 97
		}
	}
	return remainder == 1
}

func (st *state) signedMandate(contactID, clubID int) bool {
	return slices.ContainsFunc(st.mandatesOf(contactID), func(m *mandate) bool {
		return m.ClubID == clubID && !m.SignedAt.IsZero()
	})
}
