package flows

import "time"

// FieldCode says what is wrong with a field. The list is that of the public API; package text has
// its texts in each language.
type FieldCode string

// The codes of fields, with the parameters of their texts.
const (
	FieldRequired         FieldCode = "required"
	FieldBlank            FieldCode = "blank"
	FieldInvalid          FieldCode = "invalid" // where no other code says more
	FieldUnreadable       FieldCode = "unreadable"
	FieldCharacters       FieldCode = "characters"
	FieldDuplicate        FieldCode = "duplicate"
	FieldUnexpected       FieldCode = "unexpected" // with another field, which excludes it
	FieldUnknownMember    FieldCode = "unknown_member"
	FieldUnknownParameter FieldCode = "unknown_parameter" // known
	FieldType             FieldCode = "type"              // type
	FieldFormat           FieldCode = "format"            // format
	FieldOneOf            FieldCode = "one_of"            // allowed
	FieldTooShort         FieldCode = "too_short"         // min, in characters
	FieldTooLong          FieldCode = "too_long"          // max, in characters
	FieldTooFew           FieldCode = "too_few"           // min, in entries
	FieldTooMany          FieldCode = "too_many"          // max, in entries
	FieldTooSmall         FieldCode = "too_small"         // min
	FieldTooLarge         FieldCode = "too_large"         // max
	FieldDate             FieldCode = "date"
	FieldDateTooEarly     FieldCode = "date_too_early" // earliest
	FieldDateTooLate      FieldCode = "date_too_late"  // latest
	FieldBirthDate        FieldCode = "birth_date"
	FieldEmail            FieldCode = "email"
	FieldPhone            FieldCode = "phone"
	FieldPostalCode       FieldCode = "postal_code"
	FieldCountry          FieldCode = "country"
	FieldURL              FieldCode = "url"
	FieldOrigin           FieldCode = "origin"
	FieldBIC              FieldCode = "bic"
	FieldIBAN             FieldCode = "iban"
	FieldIBANCountry      FieldCode = "iban_country"
	FieldIBANLength       FieldCode = "iban_length" // expected, given
	FieldIBANAccount      FieldCode = "iban_account"
	FieldIBANCheckDigits  FieldCode = "iban_check_digits"
	FieldCardNumber       FieldCode = "card_number"
	FieldGuessable        FieldCode = "guessable"
	FieldChallenge        FieldCode = "challenge"
	FieldCursor           FieldCode = "cursor"
	FieldAmounts          FieldCode = "amounts"
	FieldNotOffered       FieldCode = "not_offered"
	FieldNotForBuyer      FieldCode = "not_for_buyer"  // a restriction of the offer, where no other code says more
	FieldAgeRestricted    FieldCode = "age_restricted" // not for people of this age
	FieldDebt             FieldCode = "debt"           // not for people who owe this much
	FieldItemFailed       FieldCode = "item_failed"
	FieldCartFull         FieldCode = "cart_full" // max
	FieldNoDirectDebit    FieldCode = "no_direct_debit"
	FieldOneDebitDay      FieldCode = "one_debit_day"
	FieldDebitDay         FieldCode = "debit_day" // allowed
	FieldClub             FieldCode = "club"
	FieldStaffKey         FieldCode = "staff_key"
	FieldLoggedIn         FieldCode = "logged_in"
	FieldLinkEnded        FieldCode = "link_ended"
	FieldCodeWrong        FieldCode = "code_wrong"
	FieldAccessToken      FieldCode = "access_token"
	FieldNotAccepted      FieldCode = "not_accepted"
	FieldBankRefused      FieldCode = "bank_refused"
	FieldAgreementMissing FieldCode = "agreement_missing" // document, version
	FieldDocumentChanged  FieldCode = "document_changed"  // document, version
	FieldGuardianRequired FieldCode = "guardian_required" // below, in years
	FieldGuardianIsBuyer  FieldCode = "guardian_is_buyer"
)

// What the pointer of a problem outside the body begins with; the name of the header or of the query parameter follows.
const (
	InHeader = "header/"
	InQuery  = "query/"
)

// FieldProblem is one wrong field of a request.
type FieldProblem struct {
	Pointer string            // RFC 6901, into the body; or InHeader or InQuery and a name
	Code    FieldCode         // empty for operators' requests
	Params  map[string]string // of the code's text
	Message string            // for operators, in English; empty: the code's text
}

// SameAs reports whether both say the same of the same field.
func (p FieldProblem) SameAs(other FieldProblem) bool {
	return p.Pointer == other.Pointer && p.Code == other.Code
}

// DateFormProblem returns a problem if a date is not YYYY-MM-DD.
func DateFormProblem(pointer, date string) *FieldProblem {
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return &FieldProblem{Pointer: pointer, Code: FieldDate}
	}
	return nil
}

// DateProblem returns what is wrong with a date that must be YYYY-MM-DD and within two others; nil if it is valid.
func DateProblem(pointer, date, earliest, latest string) *FieldProblem {
	problem := DateFormProblem(pointer, date)
	switch {
	case problem != nil:
		return problem
	case date < earliest:
		return &FieldProblem{Pointer: pointer, Code: FieldDateTooEarly, Params: map[string]string{"earliest": earliest}}
	case date > latest:
		return &FieldProblem{Pointer: pointer, Code: FieldDateTooLate, Params: map[string]string{"latest": latest}}
	}
	return nil
}
