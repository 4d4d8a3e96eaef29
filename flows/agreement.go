package flows

import (
	"bytes"
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
		agreed[i] = Agreed{Document: agreement.Document, Version: agreement.Version}
	}
	return agreed
}

// AgreementsMissing returns AgreementMissing for the documents that a request does not agree to in their present version; nil if
// it agrees to all of them. Of a request without the member, given is nil.
func AgreementsMissing(required, given []Agreed) error {
	var fields []FieldProblem
	for _, document := range required {
		if !slices.Contains(given, document) {
			fields = append(fields, FieldProblem{Pointer: "/agreements", Code: FieldAgreementMissing,
				Params: map[string]string{"document": string(document.Document), "version": document.Version}})
		}
	}
	if fields == nil {
		return nil
	}
	return &Error{Code: AgreementMissing, Detail: DetailAgreementMissing, Fields: fields}
}
