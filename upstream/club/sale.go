package club

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Sale is a cart, and later the recorded sale; club system API, section Sale.
type Sale struct {
	IRI        IRI       `json:"@id"`
	Contact    IRI       `json:"contactId"`
	Club       IRI       `json:"clubId"`
	ClubCode   string    `json:"clubCode"`
	FamilyName string    `json:"contactFamilyName"`
	GivenName  string    `json:"contactGivenName"`
	Number     string    `json:"contactNumber"`
	Address    *Address  `json:"address"`
	Checkout   IRI       `json:"checkoutId"` // the register on which a payment is recorded
	TotalTI    int64     `json:"totalTI"`    // cents to collect, tax included
	Currency   string    `json:"priceCurrency"`
	State      string    `json:"state"`
	Invoiced   present   `json:"invoice"` // has an invoice, of some installations in other members; false before the sale is settled
	Articles   []Article `json:"articles"`
}

// present is whether a member has a value, of whatever form: what cannot be read must not pass for nothing.
type present bool

// UnmarshalJSON never fails.
func (p *present) UnmarshalJSON(data []byte) error {
	nothing := []string{`null`, `""`, `[]`, `{}`, `0`, `false`}
	*p = present(!slices.Contains(nothing, strings.Join(strings.Fields(string(data)), "")))
	return nil
}

func (s Sale) check() error { return requireIRI(s.IRI, "sales") }

func (s Sale) identifier() IRI { return s.IRI }

// NewSale is a cart to be opened. Contact, Club and ClubCode are required; the other fields
// are required before the sale is settled.
type NewSale struct {
	Contact    IRI      `json:"contactId"`
	Club       IRI      `json:"clubId"`
	ClubCode   string   `json:"clubCode"`
	FamilyName string   `json:"contactFamilyName,omitempty"`
	GivenName  string   `json:"contactGivenName,omitempty"`
	Number     string   `json:"contactNumber,omitempty"`
	Address    *Address `json:"address,omitempty"`
}

// CreateSale opens an empty cart; club system API, section Sales. Of the response only the IRI is needed, and the
// state is read: read the sale for the rest. Rejected with Violations when a
// required field is missing.
func (c *Client) CreateSale(ctx context.Context, scope Scope, in NewSale) (Sale, error) {
	got, err := do[createdSale](ctx, c, post("CreateSale", scope, "sales", "", in))
	sale := Sale{IRI: got.IRI, State: got.State.value, Invoiced: got.Invoice}
	c.setState(&sale)
	return sale, err
}

type createdSale struct {
	IRI     IRI             `json:"@id"`
	State   lenient[string] `json:"state"`
	Invoice present         `json:"invoice"`
}

func (s createdSale) check() error { return requireIRI(s.IRI, "sales") }

// maxArticles of a sale: several times what a visitor can put into a cart.
const maxArticles = 500

// Values of Config.SaleState: what shows whether a sale is open or settled.
const (
	SaleStateMember  = "state"   // its state
	SaleStateInvoice = "invoice" // its invoice, which an open sale does not have
	SaleStateCheck   = "check"   // its check alone, which must fail for a settled sale
)

// pricedSale requires what shows that a sale is as agreed: a missing total does not mean a free sale.
type pricedSale struct {
	Sale
	InvoiceID        present `json:"invoiceId"`
	InvoiceReference present `json:"invoiceReference"`

	Total    *cents     `json:"totalTI"` // read instead of the sale's, as the next
	Articles []struct { // nil if the response has none, which is not an empty list
		Article
		Price *cents `json:"priceTI"`
		Total *cents `json:"totalTI"` // of some installations: with fees and discounts; only this adds up to the sale's
	} `json:"articles"`
}

// check requires the lines to add up to the total, which is never negative.
func (p *pricedSale) check() error {
	err := cmp.Or(p.Sale.check(), requireAmount("totalTI", p.Total), checkLength("articles", len(p.Articles), maxArticles))
	var sum int64
	for i := range p.Articles {
		article := &p.Articles[i]
		amount, field := article.Total, "articles.totalTI"
		if amount == nil {
			amount, field = article.Price, "articles.priceTI"
		}
		if err = cmp.Or(err, requireAmount(field, amount)); err != nil {
			return err
		}
		article.PriceTI, article.hasTotal = int64(*amount), article.Total != nil
		sum += article.PriceTI
	}
	if err == nil && len(p.Articles) > 0 && max(0, sum) != int64(*p.Total) {
		return &DecodeError{Field: "totalTI", Want: "the sum of the articles"}
	}
	return err
}

// GetSale reads a sale with its articles, its register and its total; club system API,
// section Sales. Read it after each change, because the club system adds and reprices
// articles. ErrNotFound when it does not exist; Unknown for a sale that does not show what
// Config.SaleState and Config.SaleWithoutArticles require.
func (c *Client) GetSale(ctx context.Context, scope Scope, sale IRI) (Sale, error) {
	got, err := do[pricedSale](ctx, c, get("GetSale", scope, "sales/{id}", sale))
	if err != nil {
		return Sale{}, err
	}
	read := got.Sale
	read.TotalTI = int64(*got.Total)
	read.Invoiced = got.Invoiced || got.InvoiceID || got.InvoiceReference
	for _, article := range got.Articles {
		read.Articles = append(read.Articles, article.Article)
	}
	c.setState(&read)
	err = cmp.Or(require("state", read.State != "" || c.cfg.SaleState == SaleStateCheck),
		require("articles", got.Articles != nil || c.cfg.SaleWithoutArticles))
	if err != nil {
		return Sale{}, &Error{Operation: "GetSale", Outcome: Unknown, Status: http.StatusOK, Err: err}
	}
	return read, nil
}

// setState derives the state of a sale from its invoice, where that is what shows it.
func (c *Client) setState(sale *Sale) {
	if c.cfg.SaleState != SaleStateInvoice {
		return
	}
	sale.State = "not invoiced"
	if sale.Invoiced {
		sale.State = "invoiced"
	}
}

// SaleCheck is the club system's check of a cart.
type SaleCheck struct {
	Valid      bool
	Violations []Violation // the reasons, if it gives any
	// Foreign: the cart is not valid, but something in front of the club system may have said so. No payment is known to be recorded by it.
	Foreign bool
}

// CheckSale checks whether a cart can be settled; club system API, section Sales. An
// invalid cart is not an error. Paying one would book the money on the contact's account
// and settle nothing. A cart is valid only if the club system responds 204, and invalid only if its own
// response is a 400 or a 422. ErrNotFound when the sale does not exist.
func (c *Client) CheckSale(ctx context.Context, scope Scope, sale IRI) (SaleCheck, error) {
	_, err := do[noContent](ctx, c, get("CheckSale", scope, "sales/{id}/check", sale))
	invalid := []int{http.StatusBadRequest, http.StatusUnprocessableEntity}
	if failed, ok := errors.AsType[*Error](err); ok && slices.Contains(invalid, failed.Status) && !failed.isForeign() {
		return SaleCheck{Violations: failed.Violations, Foreign: !failed.own}, nil
	}
	return SaleCheck{Valid: err == nil}, err
}

// GetCheckedSale reads a sale and its check in parallel. Neither ends the other: to the breaker, that
// would look like a failure.
func (c *Client) GetCheckedSale(ctx context.Context, scope Scope, id IRI) (sale Sale, check SaleCheck, err error) {
	var reads errgroup.Group
	reads.Go(func() (err error) {
		sale, err = c.GetSale(ctx, scope, id)
		return err
	})
	reads.Go(func() (err error) {
		check, err = c.CheckSale(ctx, scope, id)
		return err
	})
	err = reads.Wait()
	return sale, check, err
}

// UpdateSaleContact puts the name and number of the migrated contact into a sale; club
// system API, section Contacts. It follows MigrateContact. The description has this operation below sale, some
// installations below sales. Where one path is unknown, nothing was done, and the other is tried and remembered.
func (c *Client) UpdateSaleContact(ctx context.Context, scope Scope, sale IRI) error {
	path, other := "sale/{id}/update_contact", "sales/{id}/update_contact"
	if _, plural := c.pluralUpdates.Load(scope.ClientToken); plural {
		path, other = other, path
	}
	err := c.write(ctx, put("UpdateSaleContact", scope, path, sale, nil))
	if !isUnknownPath(err) {
		return err
	}
	again := c.write(ctx, put("UpdateSaleContact", scope, other, sale, nil))
	switch {
	case isUnknownPath(again): // so the sale does not exist, or neither path is granted
		return err
	case again == nil && strings.HasPrefix(other, "sales/"):
		c.pluralUpdates.Store(scope.ClientToken, true)
	case again == nil:
		c.pluralUpdates.Delete(scope.ClientToken)
	}
	return again
}

// isUnknownPath reports whether the club system may not have the path of a call. In production it refuses such a path like
// one that is not granted.
func isUnknownPath(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrEndpointNotGranted)
}

// PostponeDue settles a sale without money: the contact owes the amount, which is overdue
// from date (YYYY-MM-DD); club system API, section Sales. It is sent at most once: see
// CreatePayment for the gate and the outcomes. Rejected for a sale of zero amount, and for
// one that is settled or whose check fails.
func (c *Client) PostponeDue(ctx context.Context, scope Scope, sale IRI, date string, gate Gate) error {
	_, err := c.sendOnce(ctx, post("PostponeDue", scope, "sales/{id}/postpone_due", sale, map[string]string{"date": date}), gate)
	return err
}

// ValidateSale settles a sale whose amount is zero; club system API, section Sales. It is
// sent at most once: see CreatePayment for the gate and the outcomes. Rejected for any other
// amount, and for a sale that is settled or whose check fails.
func (c *Client) ValidateSale(ctx context.Context, scope Scope, sale IRI, gate Gate) error {
	_, err := c.sendOnce(ctx, post("ValidateSale", scope, "sales/{id}/transitions", sale, transition{Transition: "validate"}), gate)
	return err
}

// transition moves a record to another state.
type transition struct {
	Transition string `json:"transition"`
	Code       string `json:"code,omitempty"`
}
