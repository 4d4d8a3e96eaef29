package clubsim

import (
	"cmp"
	"fmt"
)

// lacksSaleTerms reports whether the clubs have no terms of sale, which the description does not have either.
func (s Settings) lacksSaleTerms() bool { return !s.SaleTerms }

// saleTermsRecord is the terms of a club, which have its number. Only their existence is known; the members are assumptions.
func (w *World) saleTermsRecord(at *club) record {
	return w.record("SaleTerms", "sale_terms", at.ID, record{
		"name": "Conditions générales de vente", "clubId": w.iri("clubs", at.ID), "language": "fr",
		"content": fmt.Sprintf("<!doctype html>\n<html lang=\"fr\"><head><meta charset=\"utf-8\">"+
			"<title>Conditions générales de vente</title></head><body><h1>%s : conditions générales de vente</h1>"+
			"<p>Texte du simulateur, sans valeur juridique.</p></body></html>\n", at.Name),
	})
}

// identifySaleTerms: GET identify_sale_terms?club=, the terms that a sale of the club has now.
func identifySaleTerms(c *request) (response, error) {
	at, err := named(c, "club", "clubs", c.clubAt)
	if at == nil {
		return response{}, cmp.Or(err, itemNotFound())
	}
	return ok(c.w.saleTermsRecord(at))
}

// acceptSaleTerms: POST sales/{id}/accept_gtcs, open or recorded. Its body is not known; none is needed here.
func acceptSaleTerms(c *request, sale *sale) (response, error) {
	sale.TermsAccepted = append(sale.TermsAccepted, c.now)
	return c.created(c.w.saleRecord(sale))
}
