package protocol

import (
	"strconv"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// Version is the version of the metadata's layout. A payment with another one is not rebuilt.
const Version = "2"

// Terms are what the processor keeps of a payment: enough to rebuild it without Redis, signed, and without personal data. Each
// is compared as it is written.
type Terms struct {
	Version      string // Version
	Registration string
	Sale         string // an IRI
	Amount       string // minor units
	Currency     string // ISO 4217, upper case
	Club         string // an IRI
	Generation   string
	Node         string // an IRI
	SaleState    string // as agreed
	Cart         string // the digest of the agreed cart
}

// TermsOf returns the terms of a record.
func TermsOf(payment *flows.Payment) Terms {
	return Terms{
		Version:      Version,
		Registration: payment.Registration,
		Sale:         string(payment.Sale),
		Amount:       strconv.FormatInt(payment.Amount, 10),
		Currency:     payment.Currency,
		Club:         string(payment.Club),
		Generation:   strconv.Itoa(payment.Generation),
		Node:         string(payment.Node),
		SaleState:    payment.SaleState,
		Cart:         payment.AgreedDigest(),
	}
}

// ReadTerms reads the terms from the processor's metadata.
func ReadTerms(metadata map[string]string) Terms {
	return Terms{
		Version:      metadata["fd_version"],
		Registration: metadata["fd_registration"],
		Sale:         metadata["fd_sale"],
		Amount:       metadata["fd_amount"],
		Currency:     metadata["fd_currency"],
		Club:         metadata["fd_club"],
		Generation:   metadata["fd_generation"],
		Node:         metadata["fd_node"],
		SaleState:    metadata["fd_sale_state"],
		Cart:         metadata["fd_cart"],
	}
}

// Metadata returns the terms as the processor keeps them.
func (t Terms) Metadata() map[string]string {
	return map[string]string{"fd_version": t.Version, "fd_registration": t.Registration, "fd_sale": t.Sale, "fd_amount": t.Amount,
		"fd_currency": t.Currency, "fd_club": t.Club, "fd_generation": t.Generation, "fd_node": t.Node,
		"fd_sale_state": t.SaleState, "fd_cart": t.Cart}
}

// Differs says how the processor's payment differs from the record; empty if it does not.
func Differs(payment *flows.Payment, remote *Remote) string {
	switch {
	case remote.Amount != payment.Amount || remote.Currency != payment.Currency:
		return "the processor holds another amount or currency"
	case remote.State == cards.Captured && remote.Captured != payment.Amount:
		return "the processor captured another amount"
	case remote.Ended:
		return "an operator ended it while no configured key could verify it"
	case !remote.Ours || !remote.Signed || remote.Terms != TermsOf(payment):
		return "the processor's metadata does not match or is not signed by us"
	}
	return ""
}
