package club_test

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// TestSaleTerms: a club shows that it has terms of its own, whatever form they have; other installations refuse to read them.
func TestSaleTerms(t *testing.T) {
	world := newWorld(t, "sale-terms")
	at := world.bastille
	if known := must[club.Club](t)(world.client.GetClub(t.Context(), at, at.Club)); bool(known.SaleTerms) {
		t.Error("a club without terms shows some")
	}
	if _, err := world.client.CurrentSaleTerms(t.Context(), at); club.OutcomeOf(err) != club.Rejected {
		t.Errorf("an installation without terms: %v", err)
	}
	world.configure(func(s *clubsim.Settings) { s.SaleTerms = true })
	for name, change := range map[string]func(*clubsim.Settings){
		"as described": func(*clubsim.Settings) {},
		"as PHP":       func(s *clubsim.Settings) { s.PHPJSON = true },
	} {
		world.configure(change)
		known := must[club.Club](t)(world.client.GetClub(t.Context(), at, at.Club))
		terms := must[club.SaleTerms](t)(world.client.CurrentSaleTerms(t.Context(), at))
		if !bool(known.SaleTerms) || !strings.Contains(terms.Content, "Lumen Bastille : conditions") || terms.Language != "fr" {
			t.Errorf("%s: %+v", name, terms)
		}
	}
	for body, want := range map[string]string{
		`{"@id": "/demo/sale_terms/11", "content": "Terms.", "language": ["fr"]}`: "Terms.",
		`{"@id": "/demo/sale_terms/11", "content": ""}`:                           "",
		`{"@id": "/demo/clubs/11", "content": "Terms."}`:                          "",
		`<html>`: "",
	} {
		odd := serve(t, answering(http.StatusOK, body))
		got, err := club.New(configured(odd.URL)).CurrentSaleTerms(t.Context(), demo)
		if got.Content != want || (err == nil) != (want != "") {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

// TestContractDocument: the bytes of a contract are exactly the club system's. What is not a PDF is an error.
func TestContractDocument(t *testing.T) {
	content := []byte("%PDF-1.4\n\xef\xbb\xbf\"hydra:member\":\x00\xff\n")
	for body, ok := range map[string]bool{
		string(content): true, "<html>Please wait</html>": false, `{"@id": "/demo/sales/1"}`: false, "": false,
	} {
		odd := serve(t, answering(http.StatusOK, body))
		got, err := club.New(configured(odd.URL)).GetContract(t.Context(), demo, sale)
		if (err == nil) != ok || ok && !bytes.Equal(got, content) {
			t.Errorf("%q: %q, %v", body, got, err)
		}
	}
	cfg := configured(serve(t, answering(http.StatusOK, string(content))).URL)
	cfg.Limits.MaxBody = int64(len(content) - 1)
	if _, err := club.New(cfg).GetContract(t.Context(), demo, sale); err == nil {
		t.Error("a contract that was cut counts")
	}
	world := newWorld(t, "contract")
	number := club.NewIRI(world.ClientToken(), "sales", "1")
	if _, err := world.client.GetContract(t.Context(), world.bastille, number); !errors.Is(err, club.ErrNotFound) {
		t.Errorf("an installation without contracts: %v", err)
	}
}
