package journey_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// ownCatalogue is a team's own catalogue: the one of docs/how-to/your-own-catalogue.md.
func ownCatalogue(t *testing.T) string {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "docs", "examples", "catalogue.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(file)
}

// write writes a file and returns its path.
func write(t *testing.T, path, content string) string {
	t.Helper()
	frontdesktest.Must(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// TestOwnCatalogue: with a catalogue of its own, mock mode has these clubs, offers and people, and no text of the demo's. Buyers pay by
// card, members sign a mandate by SMS code, and a person can log in.
func TestOwnCatalogue(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.Start(t, "FRONTDESK_CATALOGUE="+write(t, filepath.Join(t.TempDir(), "own.yaml"), ownCatalogue(t)))
	client := frontdesktest.NewClient(t, gateway.URL)
	var clubs api.ClubList
	client.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, &clubs)
	if len(clubs.Items) != 12 || clubs.Items[11].Name != "Vigie Avignon" || strings.Join(clubs.Items[11].Path, "|") != "Vigie|Vigie Sud" {
		t.Fatalf("the clubs are %+v", clubs.Items)
	}
	products := client.Do("GET", "/v1/clubs/202/products", nil, [2]string{"Accept-Language", "fr"})
	for text, wanted := range map[string]bool{"Year, paid once": true, "Pass annuel": false, "Students": false, `"ages"`: false} {
		if strings.Contains(string(products.Body), text) != wanted {
			t.Errorf("%q is among the products: %v, want %v", text, !wanted, wanted)
		}
	}
	start := frontdesktest.Day(1)
	registration := client.RegisterWith("209", frontdesktest.Person(), api.NewItem{OfferId: "201", StartDate: &start})
	payment := client.Pay(registration.Id)
	client.Confirm(payment, "4242424242424242")
	client.Await(registration.Id, api.Completed)
	client.Records().ExpectOnePayment(t, 29900)
	if taxes := registration.Cart.Taxes; taxes == nil || len(*taxes) != 1 || (*taxes)[0].Percent != 10 || (*taxes)[0].Net.Amount != 27182 {
		t.Errorf("the taxes of 299 euros are %+v, want 10%%", taxes)
	}

	client.Token = ""
	debit := client.RegisterWith("201", frontdesktest.Person(), api.NewItem{OfferId: "101", StartDate: &start})
	if due := debit.Cart.DueNow.Amount; due != 3500+2999+900 {
		t.Errorf("due now %d: the first month, the fee and the key that goes with it are expected", due)
	}
	client.Do("POST", "/v1/registrations/"+debit.Id+"/mandate", map[string]string{
		"holder": "Ada Martin", "iban": "FR76 3000 6000 0112 3456 7890 189",
	}, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	client.Do("POST", "/v1/registrations/"+debit.Id+"/mandate/signature", map[string]string{"code": client.LatestCode()},
		frontdesktest.Key("")).Into(http.StatusCreated, nil)

	var me api.Me
	client.As("member").Do("GET", "/v1/me", nil).Into(http.StatusOK, &me)
	if me.Status != "customer" {
		t.Errorf("the member is %+v", me)
	}
}

// TestCatalogueChanges: the gateway shows a change of the file without a restart, and keeps what it has when the file has a mistake.
func TestCatalogueChanges(t *testing.T) {
	t.Parallel()
	path := write(t, filepath.Join(t.TempDir(), "own.yaml"), ownCatalogue(t))
	gateway := frontdesktest.Start(t, "FRONTDESK_CATALOGUE="+path)
	client := frontdesktest.NewClient(t, gateway.URL)
	price := func() int64 { return client.CardOffer("201").ListPrice.Amount }
	if price() != 29900 {
		t.Fatalf("the price is %d", price())
	}
	write(t, path, strings.Replace(ownCatalogue(t), "29900", "31900", 1))
	frontdesktest.Eventually(t, "the new price", func() bool { return price() == 31900 })
	write(t, path, strings.Replace(ownCatalogue(t), "listPrice: 29900", "listprice: 29900", 1))
	frontdesktest.Eventually(t, "the mistake is logged", func() bool {
		return strings.Contains(gateway.Log(), "offers[0].listprice: is not known; did you mean listPrice?")
	})
	if price() != 31900 {
		t.Errorf("with a mistake in the file, the price is %d", price())
	}
}

// TestCatalogueOfOneWorld: a test gives its own world another catalogue.
func TestCatalogueOfOneWorld(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	was := client.Club()
	client.Control("PUT", "catalogue", map[string]any{
		"clubs":    []any{map[string]any{"name": "Solo"}},
		"products": []any{map[string]any{"name": "Gold", "offers": []any{map[string]any{"listPrice": 5000}}}},
	}).Into(http.StatusNoContent, nil)
	if club := client.Club(); club != "101" || client.CardOffer(club).ListPrice.Amount != 5000 {
		t.Errorf("the first club is %s", club)
	}
	client.Control("POST", "reset", nil).Into(http.StatusNoContent, nil)
	if club := client.Club(); club != was {
		t.Errorf("after a reset the first club is %s, want %s", club, was)
	}
}

// TestManyClubs: a generated chain of 300 clubs is listed at once, and each of them sells.
func TestManyClubs(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.Start(t, "FRONTDESK_CLUBS=300").URL)
	var clubs api.ClubList
	client.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, &clubs)
	if len(clubs.Items) != 299 { // one club of the demo is in no chain
		t.Fatalf("%d clubs are listed", len(clubs.Items))
	}
	for _, club := range clubs.Items {
		if club.Address == nil || club.Address.City == "" {
			t.Fatalf("the club %+v has no address", club)
		}
	}
	client.CardOffer(clubs.Items[298].Id)
}

// TestCatalogueWithMistakes: the gateway does not start with one, and reports all of them.
func TestCatalogueWithMistakes(t *testing.T) {
	t.Parallel()
	path := write(t, filepath.Join(t.TempDir(), "own.yaml"), "clubs:\n  - {name: A, notise: P1M}\nproducts:\n  - name: B\n    type: pool\n")
	gateway := frontdesktest.TryStart(t, "FRONTDESK_CATALOGUE="+path)
	for _, mistake := range []string{"line 2: clubs[0].notise: is not known; did you mean notice?", `line 5: products[0].type: "pool"`} {
		if gateway.URL != "" || !strings.Contains(gateway.Log(), mistake) {
			t.Errorf("%s is missing in %s", mistake, gateway.Log())
		}
	}
}
