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
// valid mobile number. Some installations sign several targets with one code, such as a sale and a mandate.
func (c *Client) CreateSignatureRequest(ctx context.Context, scope Scope, contact IRI, targets ...IRI) (SignatureRequest, error) {
	body := map[string]any{"contactId": contact, "targetIds": targets}
	if len(targets) == 1 {
		body = map[string]any{"contactId": contact, "targetId": targets[0]}
	}
	return do[SignatureRequest](ctx, c, post("CreateSignatureRequest", scope, "signature_requests", "", body))
}

// validatedRequest requires the state of a request whose code has signed.
type validatedRequest struct {
	SignatureRequest
	State  string       `json:"state"`
	Result lenient[IRI] `json:"resultTargetId"`
}

func (r validatedRequest) check() error {
	if err := r.SignatureRequest.check(); err != nil {
		return err
	}
	if r.State != "validated" {
		return &DecodeError{Field: "state", Want: "validated"}
	}
	return nil
}

// ValidateSignatureRequest signs with the code from the SMS; club system API, section
// Signature requests. The mandate is then signed, or the contact migrated. Rejected for a
// wrong code; the number of attempts is not documented. The response is not documented either,
// so one that does not say that the request is validated is Unknown, even with a 2xx. result is the contact after a migration, which
// may have a new identifier; empty if the response does not tell it.
func (c *Client) ValidateSignatureRequest(ctx context.Context, scope Scope, request IRI, code string) (result IRI, err error) {
	to := transition{Transition: "validate", Code: code}
	got, err := do[validatedRequest](ctx, c, post("ValidateSignatureRequest", scope, "signature_requests/{id}/transitions", request, to))
	if got.Result.value.Collection() == "contacts" {
		result = got.Result.value
	}
	return result, err
}

// CancelSignatureRequest cancels a signature request and its code; club system API, section
// Signature requests. An empty success is Unknown: after another system's, the code could still sign. A repetition is
// Rejected once the request is cancelled.
func (c *Client) CancelSignatureRequest(ctx context.Context, scope Scope, request IRI) error {
	to := transition{Transition: "cancel"}
	return c.write(ctx, post("CancelSignatureRequest", scope, "signature_requests/{id}/transitions", request, to).withRecord())
}
