package club

import (
	"bytes"
	"context"
)

// contractDocument is a response in which only a PDF is read.
type contractDocument []byte

// pdfMark begins every PDF.
var pdfMark = []byte("%PDF-")

// GetContract reads the contract of a recorded sale, a PDF, in installations that have it; others refuse it. Unknown for a response that is
// not a PDF, or not complete.
func (c *Client) GetContract(ctx context.Context, scope Scope, sale IRI) ([]byte, error) {
	request := get("GetContract", scope, "sales/{id}/contract", sale)
	request.accept = "application/pdf"
	return do[contractDocument](ctx, c, request)
}

// read takes the body as it is.
func (d *contractDocument) read(body []byte) error {
	if !bytes.HasPrefix(body, pdfMark) {
		return &DecodeError{Want: "a PDF"}
	}
	*d = body
	return nil
}
