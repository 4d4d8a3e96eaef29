package flows

import (
	"bytes"
	"fmt"
	"slices"
	"time"
)

// DocumentName names a document of a club. The list is that of the public API.
type DocumentName string

// The documents of a club.
const (
	DocumentTerms                 DocumentName = "terms"
	DocumentPrivacy               DocumentName = "privacy"
	DocumentWithdrawalInformation DocumentName = "withdrawal_information"
	DocumentEarlyStartRequest     DocumentName = "early_start_request" // where a service starts before the right of withdrawal ends
	DocumentMandateText           DocumentName = "mandate_text"        // the authorisation, which the code of a mandate signs
	DocumentGuaranteeNotice       DocumentName = "guarantee_notice"    // the EU's picture, for goods; it needs no agreement
)

// Document is a document of a club in one language, as it is served.
type Document struct {
	Name        DocumentName
	Version     string
	Language    string // ISO 639-1
	ContentType string
	SHA256      string // of Body, hex
	Body        []byte
}

// placeholder marks a document that the club has not approved yet.
var placeholder = []byte("Frontdesk placeholder")

// IsPlaceholder reports whether a document is an example, or is not finished.
func (d Document) IsPlaceholder() bool { return bytes.Contains(d.Body, placeholder) }

// Agreed is a document in a version, as a request names it.
type Agreed struct {
	Document DocumentName
	Version  string
	SHA256   string // of the bytes that the buyer saw, hex; empty: not said
}

func (a Agreed) names(other Agreed) bool {
	return a.Document == other.Document && a.Version == other.Version
}

func (a Agreed) params() map[string]string {
	return map[string]string{"document": string(a.Document), "version": a.Version}
}

// Agreement is what a buyer agreed to with a payment, and when. The bytes are kept under the hash.
type Agreement struct {
	Document DocumentName `json:"document"`
	Version  string       `json:"version"`
	Language string       `json:"language"` // ISO 639-1
	SHA256   string       `json:"sha256"`   // hex
	At       time.Time    `json:"at"`
}

// Agreed returns what the buyer agreed to with the payment.
func (p *Payment) Agreed() []Agreed {
	agreed := make([]Agreed, len(p.Agreements))
	for i, agreement := range p.Agreements {
		agreed[i] = Agreed{Document: agreement.Document, Version: agreement.Version, SHA256: agreement.SHA256}
	}
	return agreed
}

// IsAgreedBy reports whether a request agrees to what the buyer agreed to with the payment, in the same bytes if it says which.
func (p *Payment) IsAgreedBy(given []Agreed) bool {
	agreed := p.Agreed()
	return AgreementsMissing(agreed, given, func(seen Agreed) bool { return slices.Contains(agreed, seen) }) == nil
}

// AgreementsMissing returns AgreementMissing for the documents that a request does not agree to in their present version, and for
// those that its buyer saw in bytes that isPresent does not know; nil if there are none. Of a request without the member, given is nil.
func AgreementsMissing(required, given []Agreed, isPresent func(Agreed) bool) error {
	var fields []FieldProblem
	detail, changed := DetailAgreementMissing, map[DocumentName]bool{}
	for i, seen := range given {
		if seen.SHA256 != "" && !isPresent(seen) {
			detail, changed[seen.Document] = DetailDocumentChanged, true
			fields = append(fields, FieldProblem{
				Pointer: fmt.Sprintf("/agreements/%d/sha256", i), Code: FieldDocumentChanged, Params: seen.params(),
			})
		}
	}
	for _, document := range required {
		if !changed[document.Document] && !slices.ContainsFunc(given, document.names) {
			fields = append(fields, FieldProblem{Pointer: "/agreements", Code: FieldAgreementMissing, Params: document.params()})
		}
	}
	if fields == nil {
		return nil
	}
	return &Error{Code: AgreementMissing, Detail: detail, Fields: fields}
}
