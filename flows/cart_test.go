package flows_test

import (
	"encoding/json"
	"slices"
	"testing"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// TestStoredCartProblem checks that a problem stored by version 0.9.0, which had its sentence in the record, is the same problem.
func TestStoredCartProblem(t *testing.T) {
	t.Parallel()
	var cart flows.Cart
	stored := `{"problems": [{"code": "settled", "message": "This cart was already settled at the club."}]}`
	if err := json.Unmarshal([]byte(stored), &cart); err != nil || !cart.Settled() {
		t.Errorf("%+v, %v", cart, err)
	}
}

// TestTaxesOfACart checks that taxes are added up by rate, and that a cart has none that are not all of them.
func TestTaxesOfACart(t *testing.T) {
	t.Parallel()
	const year, drink, prorata = `{"priceTI": 4990, "priceTE": 4158, "taxRate": 20}`, `{"priceTI": 550, "priceTE": 500, "taxRate": 10}`,
		`{"priceTI": -500, "priceTE": -417, "taxRate": 20}`
	both := []flows.Tax{{Percent: 20, Included: 832 - 83, Net: 4158 - 417}, {Percent: 10, Included: 50, Net: 500}}
	for name, test := range map[string]struct {
		total    int64
		articles string
		want     []flows.Tax
	}{
		"two rates":     {5040, year + "," + drink + "," + prorata, both},
		"no article":    {0, "", nil},
		"one untold":    {5540, year + `, {"priceTI": 550}`, nil},
		"another total": {5000, year, nil},
	} {
		var sale club.Sale
		if err := json.Unmarshal([]byte(`{"articles": [`+test.articles+`]}`), &sale); err != nil {
			t.Fatal(err)
		}
		sale.TotalTI = test.total
		var registration flows.Registration
		registration.ApplySale("EUR", sale, club.SaleCheck{Valid: true})
		if !slices.Equal(registration.Cart.Taxes, test.want) {
			t.Errorf("%s: %+v, want %+v", name, registration.Cart.Taxes, test.want)
		}
	}
}

// TestCartOfInstallation reads what articles of some installations say: which ones are mandatory, and what is wrong with
// the buyer's details.
func TestCartOfInstallation(t *testing.T) {
	t.Parallel()
	sale := club.Sale{State: "building", TotalTI: 2500}
	for _, record := range []string{
		`{"@id": "/demo/articles/1", "offerId": "/demo/offers/1", "mandatory": false, "hasImplementationErrors": true, "implementationErrors":
			[{"propertyPath": "implementation.startDate", "code": "api.error.sale.article.start-date-required"}, {"code": 7}, {"message": "x"}]}`,
		`{"@id": "/demo/articles/2", "offerId": "/demo/offers/2", "priceTI": 2500, "mandatory": true}`,
		`{"@id": "/demo/articles/3", "mandatory": "odd", "implementationErrors": {}}`,
	} {
		var article club.Article
		if err := json.Unmarshal([]byte(record), &article); err != nil {
			t.Fatal(err)
		}
		sale.Articles = append(sale.Articles, article)
	}
	registration := flows.Registration{Items: []flows.Item{
		{NewItem: flows.NewItem{ID: "chosen"}, Offer: "/demo/offers/1"}, {NewItem: flows.NewItem{ID: "also"}, Offer: "/demo/offers/2"},
	}}
	registration.ApplySale("EUR", sale, club.SaleCheck{Valid: true})
	cart := registration.Cart
	if cart.Lines[0].Added || !cart.Lines[1].Added || !cart.Lines[1].Required || cart.Lines[2].Required {
		t.Errorf("the lines are %+v", cart.Lines)
	}
	want := []flows.CartProblem{
		{Code: flows.ProblemStartDateRequired, Line: "chosen", Field: "/startDate"},
		{Code: flows.ProblemNotAccepted, Line: "chosen"},
	}
	if cart.Valid || !slices.Equal(cart.Problems, want) {
		t.Errorf("the problems are %+v, want %+v", cart.Problems, want)
	}
}

// TestFieldsOfProblems reads the fields of the lines that problems are about, however the club system writes their paths, and once
// where the check says the same without a field.
func TestFieldsOfProblems(t *testing.T) {
	t.Parallel()
	const debitDay = "api.error.sale.article.debit-day-not-allowed"
	sale := club.Sale{State: "building"}
	for _, record := range []string{
		`{"@id": "/demo/articles/1", "offerId": "/demo/offers/1"}`,
		`{"@id": "/demo/articles/2", "offerId": "/demo/offers/2", "implementationErrors": [
			{"propertyPath": "repaymentSchedule.debitDay", "code": "` + debitDay + `"}, {"propertyPath": "startDate"}]}`,
	} {
		var article club.Article
		if err := json.Unmarshal([]byte(record), &article); err != nil {
			t.Fatal(err)
		}
		sale.Articles = append(sale.Articles, article)
	}
	var registration flows.Registration
	registration.ApplySale("EUR", sale, club.SaleCheck{Violations: []club.Violation{
		{Field: "articles[0].implementations[0].startDate"},
		{Field: "articles[0].repaymentSchedule.startDate"},
		{Field: "articles[1]", Code: debitDay},
		{Field: "contactFamilyName"},
	}})
	want := []flows.CartProblem{
		{Code: flows.ProblemNotAccepted, Line: "1", Field: "/startDate"},
		{Code: flows.ProblemNotAccepted, Line: "1", Field: "/debit/from"},
		{Code: flows.ProblemDebitDayNotAllowed, Line: "2", Field: "/debit/day"},
		{Code: flows.ProblemNotAccepted},
		{Code: flows.ProblemNotAccepted, Line: "2", Field: "/startDate"},
	}
	if !slices.Equal(registration.Cart.Problems, want) {
		t.Errorf("the problems are %+v, want %+v", registration.Cart.Problems, want)
	}
}
