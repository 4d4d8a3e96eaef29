package journey_test

import (
	"crypto/sha256"
	"encoding/hex"
	"html"
	"net/http"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/mail/sink"
)

// TestConfirmation: a registration has no confirmation before it is completed. Then its holder gets the same bytes every time, as JSON and
// as a page that needs nothing else, and no other caller gets any.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	for method, pay := range map[string]func(*frontdesktest.Client) api.Registration{
		"card": func(c *frontdesktest.Client) api.Registration {
			registration := c.Register()
			c.Do("GET", confirmationOf(registration.Id), nil).Problem(api.NoConfirmation)
			payment := c.Pay(registration.Id)
			c.Do("GET", confirmationOf(registration.Id), nil).Problem(api.NoConfirmation)
			c.Confirm(payment, "4242424242424242")
			return c.Await(registration.Id, api.Completed)
		},
		"desk": func(c *frontdesktest.Client) api.Registration {
			registration := c.Register()
			c.RequestPayment(registration.Id, map[string]string{"method": "desk", "mean": "cash"}, frontdesktest.StaffKey()).
				Into(http.StatusCreated, nil)
			return c.Registration(registration.Id)
		},
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			client, _ := frontdesktest.NewWorld(t)
			registration := pay(client)
			path := confirmationOf(registration.Id)
			first := client.Do("GET", path, nil)
			var confirmation api.Confirmation
			first.Into(http.StatusOK, &confirmation)
			if confirmation.RegistrationId.String() != registration.Id || confirmation.Payment.Total != registration.Payment.Total ||
				string(confirmation.Payment.Method) != method || len(confirmation.Order.Items) != len(registration.Cart.Items) ||
				confirmation.Buyer.Number != registration.Contact.Number {
				t.Errorf("of %+v it says %s", registration, first.Body)
			}
			taxes := frontdesktest.Value(confirmation.Order.Taxes)
			if len(taxes) == 0 || !slices.Equal(taxes, frontdesktest.Value(registration.Cart.Taxes)) {
				t.Errorf("its taxes are %v: %s", taxes, first.Body)
			}
			page := client.Do("GET", path, nil, [2]string{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}, [2]string{"Accept-Language", "fr"})
			sum := sha256.Sum256(page.Body)
			if confirmation.Sha256 != hex.EncodeToString(sum[:]) || !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") ||
				!strings.Contains(page.Header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("the page %v has the hash %x: %s", page.Header, sum, page.Body)
			}
			again := client.Do("GET", path, nil, [2]string{"Accept-Language", "fr"})
			if string(again.Body) != string(first.Body) || again.Header.Get("ETag") != first.Header.Get("ETag") {
				t.Errorf("first %s, then %s", first.Body, again.Body)
			}
			known := client.Do("GET", path, nil, [2]string{"If-None-Match", first.Header.Get("ETag")})
			if known.Status != http.StatusNotModified || len(known.Body) > 0 {
				t.Errorf("known: %d %s", known.Status, known.Body)
			}
			client.Token = "another-token-that-is-long-enough"
			client.Do("GET", path, nil).Problem(api.RegistrationNotFound)
			client.Token = ""
			client.Do("GET", path, nil).Problem(api.TokenRequired)
		})
	}
}

// TestWhereMailed: the registration and an acknowledgement say whether they are mailed and to which address, masked. It is the address
// that the visitor entered, or that the club has of a member.
func TestWhereMailed(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	for name, environment := range map[string][]string{
		"with a mail server":    frontdesktest.NewMailServer(t, sink.Config{}).Environment(),
		"without a mail server": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, client := env.Gateway(t, environment...)
			expect := func(what string, mailedTo *[]string, want ...string) {
				t.Helper()
				if sent := mailedTo != nil; sent != (environment != nil) || sent && !slices.Equal(*mailedTo, want) {
					t.Errorf("%s goes to %v", what, mailedTo)
				}
			}
			registration := client.Register()
			if registration.Confirmation != nil {
				t.Errorf("before the payment, it has %+v", registration.Confirmation)
			}
			client.Confirm(client.Pay(registration.Id), frontdesktest.ApprovedCard)
			expect("a visitor's confirmation", client.Await(registration.Id, api.Completed).Confirmation.MailedTo, "a•••@example.com")

			member, at := client.As("customer"), "11"
			registration = member.RegisterWith(at, nil, api.NewItem{OfferId: client.CardOffer(at).Id, StartDate: new(frontdesktest.Day(1))})
			member.RequestPayment(registration.Id, map[string]string{"method": "desk", "mean": "cash"}, frontdesktest.StaffKey()).
				Into(http.StatusCreated, nil)
			expect("a member's confirmation", member.Await(registration.Id, api.Completed).Confirmation.MailedTo, "c•••@example.com")

			var statement api.Statement
			client.Do("POST", "/v1/withdrawals", `{"name": "Ada", "email": "ada@example.com"}`, frontdesktest.Key("")).
				Into(http.StatusCreated, &statement)
			var acknowledgement api.Acknowledgement
			client.Do("POST", "/v1/withdrawals/"+statement.Id+"/confirm", nil).Into(http.StatusOK, &acknowledgement)
			if to := frontdesktest.Value(acknowledgement.MailedTo); (to == "a•••@example.com") != (environment != nil) {
				t.Errorf("the acknowledgement goes to %q", to)
			}
		})
	}
}

// TestConfirmationSaysWhatTheBuyerSaw: in both languages it names the buyer in full, the debtor of the mandate, where to withdraw and to
// cancel, and how and when money moves. The first month's part has the name that the cart shows.
func TestConfirmationSaysWhatTheBuyerSaw(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]struct {
		names map[string]string // of the first month's line, by offer
		page  []string
	}{
		"en": {map[string]string{"1301": "Part of March (10–31 Mar)", "1401": "Deducted for March (1–9 Mar)"}, []string{
			"By card with the order, on ", " by direct debit ", "5 April 2031", "Member number", "Debtor", "Postal address"}},
		"fr": {map[string]string{"1301": "Prorata mars (10–31 mars)", "1401": "Déduction mars (1–9 mars)"}, []string{
			"Par carte à la commande, le ", " par prélèvement ", "5 avril 2031", "Numéro d’adhérent", "Débiteur", "Adresse postale"}},
	} {
		for offer, name := range want.names {
			t.Run(language+" "+offer, func(t *testing.T) {
				t.Parallel()
				client, _ := frontdesktest.NewWorld(t)
				in := [2]string{"Accept-Language", language}
				item := api.NewItem{OfferId: offer, StartDate: new("2031-03-10"), Debit: &api.Debit{Day: new(5)}}
				registration := client.RegisterWith("11", frontdesktest.Person(), item)
				client.Do("GET", "/v1/registrations/"+registration.Id, nil, in).Into(http.StatusOK, &registration)
				if i := slices.IndexFunc(registration.Cart.Items, isAdjustment); i < 0 || registration.Cart.Items[i].Name != name ||
					registration.Order.Essentials.Items[i].Name != name {
					t.Fatalf("the cart is %+v", registration.Cart.Items)
				}
				path := "/v1/registrations/" + registration.Id
				client.Do("POST", path+"/mandate", api.NewMandate{Holder: "Grace Hopper", Iban: frontdesktest.GoodIBAN}, frontdesktest.Key(""), in).
					Into(http.StatusCreated, &registration)
				if !strings.Contains(registration.Mandate.Text, "Grace Hopper") {
					t.Errorf("the authorisation names no debtor: %s", registration.Mandate.Text)
				}
				client.Do("POST", path+"/mandate/signature", api.Signature{Code: client.SMS()[0].Code}, frontdesktest.Key(""), in).
					Into(http.StatusCreated, nil)
				client.RequestPayment(registration.Id, map[string]string{"method": "card"}, in).Into(http.StatusCreated, &registration)
				client.Confirm(*registration.Payment, frontdesktest.ApprovedCard)
				client.Await(registration.Id, api.Completed)
				var confirmation api.Confirmation
				client.Do("GET", confirmationOf(registration.Id), nil).Into(http.StatusOK, &confirmation)
				buyer, at := confirmation.Buyer, frontdesktest.Value(confirmation.Buyer.Address)
				if frontdesktest.Value(buyer.GivenName) != "Ada" || frontdesktest.Value(buyer.FamilyName) != "Martin" || buyer.BirthDate != nil ||
					frontdesktest.Value(buyer.Email) != "ada@example.com" || frontdesktest.Value(at.Street) != "12 rue des Lilas" ||
					frontdesktest.Value(at.Country) != "FR" || frontdesktest.Value(confirmation.Mandate.Debtor) != "Grace Hopper" {
					t.Errorf("it names %+v, and %+v", buyer, confirmation.Mandate)
				}
				body := client.Do("GET", confirmationOf(registration.Id), nil, [2]string{"Accept", "text/html"}).Body
				page := html.UnescapeString(string(body))
				for _, part := range append(want.page, name, "Ada Martin", "75011 Paris, FR", "club=11&statement=withdrawal",
					"club=11&statement=cancellation", confirmation.Mandate.Iban) {
					if !strings.Contains(page, part) {
						t.Errorf("the page lacks %q:\n%s", part, page)
					}
				}
			})
		}
	}
}

func isAdjustment(item api.CartItem) bool { return item.Origin == api.Adjustment }

func confirmationOf(registration string) string {
	return "/v1/registrations/" + registration + "/confirmation"
}
