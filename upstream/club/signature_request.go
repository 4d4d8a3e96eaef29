package club

import "context"

// SignatureRequest is an SMS code with which a contact signs a mandate or confirms a
// migration.
type SignatureRequest struct {
	IRI IRI `json:"@id"`
}

func (r SignatureRequest) check() error { return requireIRI(r.IRI, "signature_requests") }

// CreateSignatureRequest sends a contact an SMS code to sign the target, a mandate; club
// system API, section Signature requests. Every call sends an SMS. The contact needs a
// valid mobile number.
func (c *Client) CreateSignatureRequest(ctx context.Context, s Scope, contact, target IRI) (SignatureRequest, error) {
	body := map[string]IRI{"contactId": contact, "targetId": target}
	return do[SignatureRequest](ctx, c, post("CreateSignatureRequest", s, "signature_requests", "", body))
}

// ValidateSignatureRequest signs with the code from the SMS; club system API, section
// Signature requests. The mandate is then signed, or the contact migrated. Rejected for a
// wrong code; the number of attempts is not documented.
func (c *Client) ValidateSignatureRequest(ctx context.Context, s Scope, request IRI, code string) error {
	to := transition{Transition: "validate", Code: code}
	return c.write(ctx, post("ValidateSignatureRequest", s, "signature_requests/{id}/transitions", request, to))
}

// CancelSignatureRequest cancels a signature request and its code; club system API, section
// Signature requests.
func (c *Client) CancelSignatureRequest(ctx context.Context, s Scope, request IRI) error {
	to := transition{Transition: "cancel"}
	return c.write(ctx, post("CancelSignatureRequest", s, "signature_requests/{id}/transitions", request, to))
}
