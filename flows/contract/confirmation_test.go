package contract_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/contract"
)

const confirmedClub = `
defaults:
  timeZone: Europe/Paris
  address: {street: 14 rue de la Roquette, postalCode: "75011", city: Paris, country: FR}
  trader: {name: Lumen, legalForm: SAS, email: contact@lumen.example,
    address: {street: 1 rue de Rivoli, postalCode: "75004", city: Paris, country: FR}}
  mediator: {name: Médiation <conso>, url: https://mediator.example}
`

// concluded is a registration that was completed on 15 January 2030, shortly after midnight in Paris, with an order of the day before.
func concluded(t *testing.T, language string, items ...contract.Ordering) (*flows.Registration, *flows.Payment, catalogue.Details) {
	t.Helper()
	clubs, err := catalogue.ParseDirectory([]byte(confirmedClub), nil)
	if err != nil {
		t.Fatal(err)
	}
	euros := func(minor int64) flows.Money { return flows.Money{Amount: minor, Currency: "EUR"} }
	order, err := json.Marshal(contract.Ordered{
		Button:      contract.WithObligation,
		Items:       items,
		DueNow:      euros(6890),
		Taxes:       []contract.Tax{{Percent: 20, Included: euros(1148), Net: euros(5742)}},
		Debits:      []contract.Debit{{Date: "2030-02-05", Price: euros(3990), Basis: "estimated"}},
		Endless:     []contract.Endless{{From: "2030-03-05", Every: "P1M", Day: 5, Price: euros(3990), Basis: "exact"}},
		MinimumTerm: "P12M",
		Notice:      "One month.",
		Basis:       "estimated",
	})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2030, 1, 14, 23, 0, 5, 0, time.UTC)
	r := &flows.Registration{
		ID:       "3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11",
		ClubID:   "11",
		ClubName: "Lumen Bastille",
		Contact: &flows.Contact{IRI: "/demo/contacts/7", Number: "11-001007", GivenName: "<b>Ada</b>", Entered: "ada@example.com",
			Identity: flows.Identity{FamilyName: "Martin", Street: "12 rue des Lilas", PostalCode: "75011", City: "Paris", BirthDate: "1990-05-17"}},
		Items:   []flows.Item{{Mandate: true}},
		Mandate: &flows.Mandate{Holder: "Grace Hopper", Masked: "FR** **** 0189", ValidFrom: "2030-01-14"},
		Ordered: &flows.Ordered{Language: language, Order: order},
	}
	p := &flows.Payment{
		Method:    flows.ByCard,
		Amount:    6890,
		Currency:  "EUR",
		State:     flows.Recorded,
		UpdatedAt: at,
		Agreements: []flows.Agreement{{Document: "terms", Version: "2026-11", Language: language, SHA256: strings.Repeat("ab", 32), At: at},
			{Document: "privacy", Version: "2026-11", Language: language, SHA256: strings.Repeat("cd", 32), At: at}},
	}
	return r, p, clubs.Details("11")
}

var withRight = contract.Ordering{Name: "Flex, monthly", Price: flows.Money{Amount: 6890, Currency: "EUR"}, StartDate: "2030-02-01",
	Parts: []contract.Part{{Kind: "registration_fee", Price: flows.Money{Amount: 2900, Currency: "EUR"}},
		{Kind: "first_instalment", Price: flows.Money{Amount: 3990, Currency: "EUR"}}},
	Withdrawal: contract.WithdrawalPeriod{Right: true, From: "contract", Until: "2030-01-28"}}

var bottle = contract.Ordering{Name: "Bottle", Type: catalogue.Goods, Price: flows.Money{Currency: "EUR"},
	Withdrawal: contract.WithdrawalPeriod{Right: true, From: "delivery"}}

var withoutRight = contract.Ordering{Name: "Trial", Price: flows.Money{Currency: "EUR"},
	Withdrawal: contract.WithdrawalPeriod{Exception: "It is on a fixed date."}}

// TestConfirmation: the page has all that was agreed, in the buyer's language, loads nothing, and is the same whenever it is composed. Its
// withdrawal periods are those of the day on which the contract was concluded, at the club.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	for language, wants := range map[string][]string{
		"en": {"Flex, monthly", "€68.90 due with the order", "15 January 2030", "00:00:05", "UTC+01:00",
			"Then €39.90 by direct debit on 5 February 2030 (estimated)", "All taxes included",
			"Then €39.90 by direct debit every month on the 5th, from 5 March 2030 until you cancel",
			"of which the registration fee: €29.00", "of which the first instalment: €39.90", "Including €11.48 tax (20%)",
			"By card with the order, on 15 January 2030",
			"Minimum term</th><td>12 months", "</b> Martin", "12 rue des Lilas\n75011 Paris", "ada@example.com", "Grace Hopper",
			"(https://club.example/?club=11&statement=withdrawal)", `href="https://club.example/?club=11&statement=cancellation"`,
			"One month.", "Terms and conditions", "FR** **** 0189", "75004 Paris, FR",
			"Model withdrawal form", "agreed to on", "acknowledged on",
			"until the end of 29 January 2030", "Médiation <conso>", "There is no right of withdrawal. It is on a fixed date."},
		"fr": {"Flex, monthly", "68,90 € à la commande", "15 janvier 2030", "00:00:05",
			"Puis 39,90 € par prélèvement le 5 février 2030 (estimation)", "Toutes taxes comprises",
			"Puis 39,90 € par prélèvement chaque mois, le 5, à partir du 5 mars 2030, jusqu’à résiliation",
			"dont les frais d’inscription : 29,00 €", "dont la première échéance : 39,90 €", "Dont 11,48 € de taxes (20 %)",
			"Par carte à la commande, le 15 janvier 2030",
			"Durée minimale</th><td>12 mois", "12 rue des Lilas\n75011 Paris", "Débiteur</th><td>Grace Hopper",
			"(https://club.example/?club=11&statement=withdrawal)",
			`href="https://club.example/?club=11&statement=cancellation"`,
			"Conditions générales", "Modèle de formulaire de rétractation",
			"jusqu’à la fin du 29 janvier 2030", "Documents du contrat", "E-mail : "},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			r, p, club := concluded(t, language, withRight, withoutRight)
			made, err := contract.Confirm(r, p, club, "https://club.example")
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range wants {
				if !strings.Contains(strings.ReplaceAll(html.UnescapeString(made.HTML), "\u00a0", " "), want) {
					t.Errorf("the page lacks %q", want)
				}
			}
			if t.Failed() {
				t.Log(made.HTML)
			}
			for name, forbidden := range map[string]string{
				"a text without its parameter": `\{[a-z]+\}`,
				"something that is loaded":     `(?i)<(script|link|img|iframe|object)|url\(|@import|src=`,
				"markup of the buyer's":        `<b>`,
				"a link to elsewhere":          `href="(https?://[^c]|[^h])`,
				"a birth date without need":    `1990`,
			} {
				if found := regexp.MustCompile(forbidden).FindString(made.HTML); found != "" {
					t.Errorf("the page has %s: %s", name, found)
				}
			}
			if strings.Count(made.HTML, "statement=cancellation") != 1 {
				t.Error("where a cancellation is declared is not said once")
			}
			if !strings.Contains(made.HTML, "@media print") || !strings.Contains(made.HTML, `<html lang="`+language+`">`) {
				t.Error("it is not made for print, or in no language")
			}
			var document struct{ SHA256 string }
			sum := sha256.Sum256([]byte(made.HTML))
			if err := json.Unmarshal(made.Document, &document); err != nil || document.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("%s, %v", made.Document, err)
			}
			again, err := contract.Confirm(r, p, club, "https://club.example")
			if err != nil || again.HTML != made.HTML || string(again.Document) != string(made.Document) {
				t.Errorf("composed again, it differs: %v", err)
			}
			order, err := contract.OrderIn(made)
			if err != nil || len(order.Items) != 2 || order.Items[0].Withdrawal.Until != "2030-01-29" || order.Items[1].Withdrawal.Right {
				t.Errorf("its order is %+v, %v", order, err)
			}
			if made.Amount != 6890 || made.Contact != "/demo/contacts/7" {
				t.Errorf("%+v", made)
			}
		})
	}
}

// TestRhythms: what is repeated is repeated "every month", not "every 1 month".
func TestRhythms(t *testing.T) {
	t.Parallel()
	for language, words := range map[string]map[string]string{
		"en": {"P1D": "every day", "P1W": "every week", "P4W": "every 4 weeks", "P1M": "every month", "P2M": "every 2 months",
			"P1Y": "every year", "P2Y": "every 2 years", "P1M2D": "P1M2D"},
		"fr": {"P1D": "chaque jour", "P1W": "chaque semaine", "P4W": "toutes les 4 semaines", "P1M": "chaque mois", "P2M": "tous les 2 mois",
			"P1Y": "chaque année", "P2Y": "tous les 2 ans", "P1M2D": "P1M2D"},
	} {
		for duration, want := range words {
			r, p, club := concluded(t, language, withRight)
			r.Ordered.Order = bytes.ReplaceAll(r.Ordered.Order, []byte(`"P1M"`), []byte(strconv.Quote(duration)))
			made, err := contract.Confirm(r, p, club, "")
			found := regexp.MustCompile(`(?:by direct debit|par prélèvement) (.+?)(?: on the|, le) 5`).FindStringSubmatch(made.Text)
			if err != nil || found == nil || found[1] != want {
				t.Errorf("%s: %s is %v, not %q, %v", language, duration, found, want, err)
			}
		}
	}
}

// TestHandedOver: the confirmation says where goods are handed over, beside them alone.
func TestHandedOver(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{
		"en": "Handed over at the club: Lumen Bastille, 14 rue de la Roquette, 75011 Paris",
		"fr": "À retirer au club : Lumen Bastille, 14 rue de la Roquette, 75011 Paris",
	} {
		r, p, club := concluded(t, language, withRight, bottle)
		if language == "fr" { // the club system has the address
			r.ClubAddress, club.Address = flows.Address(club.Address), catalogue.Address{}
		}
		made, err := contract.Confirm(r, p, club, "https://club.example")
		if err != nil {
			t.Fatal(err)
		}
		_, goods, _ := strings.Cut(made.Text, "Bottle")
		if strings.Count(made.Text, want) != 1 || !strings.Contains(goods, want) {
			t.Errorf("%q is not beside the goods:\n%s", want, made.Text)
		}
	}
}

// TestConfirmationWithoutRight: without a right of withdrawal, it has neither instructions nor the form.
func TestConfirmationWithoutRight(t *testing.T) {
	t.Parallel()
	r, p, club := concluded(t, "en", withoutRight)
	made, err := contract.Confirm(r, p, club, "https://club.example")
	if err != nil || strings.Contains(made.HTML, "Model withdrawal form") || !strings.Contains(string(made.Document), `"withdrawal":{}`) {
		t.Errorf("%s, %v", made.Document, err)
	}
}

// TestTermOfConfirmation: a contract that ends with its term runs for it, once on the page; where an item differs from the longest term,
// the page says so. What is paid at the club is not said to be paid with the order.
func TestTermOfConfirmation(t *testing.T) {
	t.Parallel()
	for language, wants := range map[string][]string{
		"en": {"Runs for</th><td>12 months", "Runs for 3 months", "€68.90 to be paid at the club", "To be paid at the club by 1 February 2030"},
		"fr": {"Durée</th><td>12 mois", "Durée : 3 mois", "68,90 € à payer au club", "À payer au club au plus tard le 1er février 2030"},
	} {
		long, short := withRight, withRight
		long.Commitment, short.Commitment = "P12M", "P3M"
		r, p, club := concluded(t, language, long, short)
		var order contract.Ordered
		if err := json.Unmarshal(r.Ordered.Order, &order); err != nil {
			t.Fatal(err)
		}
		order.Endless = nil
		r.Ordered.Order, _ = json.Marshal(order)
		p.Method, p.DueDate = flows.Deferred, "2030-02-01"
		made, err := contract.Confirm(r, p, club, "https://club.example")
		if err != nil {
			t.Fatal(err)
		}
		page := strings.ReplaceAll(made.HTML, "\u00a0", " ")
		for _, want := range wants {
			if strings.Count(page, want) == 0 {
				t.Errorf("the page lacks %q", want)
			}
		}
		for _, wrong := range []string{"Minimum term", "Durée minimale", "due with the order", "à la commande"} {
			if strings.Contains(page, wrong) {
				t.Errorf("the page says %q", wrong)
			}
		}
		if strings.Count(page, wants[0][strings.LastIndex(wants[0], ">")+1:]) != 1 {
			t.Errorf("the term is there twice:\n%s", page)
		}
	}
}
