package text_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"frontdesk/flows/text"
)

// saidBySite evaluates expressions with the texts of the signup site as their names.
const saidBySite = `
const said = {};
for (const language of ["en", "fr"]) {
  const { order, cart, terms, plan, units } = (await import(process.argv[1] + "/text." + language + ".js")).default;
  said[language] = Object.fromEntries(JSON.parse(process.argv[2]).map((expression) => [expression, eval(expression)]));
}
console.log(JSON.stringify(said));`

// TestOrderIsAsTheSiteSaysIt: the essential terms of an order have the same words on the signup site, on the gateway's card page and in
// the confirmation. Only the kinds of spaces and apostrophes may differ.
func TestOrderIsAsTheSiteSaysIt(t *testing.T) {
	t.Parallel()
	type params = map[string]string
	ofContract := func(code text.ContractCode, p params) func(*text.Language) string {
		return func(l *text.Language) string { return l.Fill(l.Contract[code], p) }
	}
	ofPage := func(code text.PageCode, p params) func(*text.Language) string {
		return func(l *text.Language) string { return l.Fill(text.Text{"other": l.Page[code]}, p) }
	}
	written := map[string]func(*text.Language) string{ // by the site's expression
		`order.debits(1, "P", "D", "D")`:             ofContract("later_debit", params{"price": "P", "date": "D"}),
		`order.debits(3, "P", "D", "E")`:             ofContract("later_debits", params{"count": "3", "price": "P", "first": "D", "last": "E"}),
		`order.endless("P", "E", "", "D")`:           ofContract("later_endless", params{"price": "P", "every": "E", "date": "D"}),
		`"E" + plan.onDay(10)`:                       onDay("later_on_day", 10),
		`"E" + plan.onDay(1)`:                        onDay("later_on_day", 1),
		`"E" + plan.onDay(31)`:                       onDay("later_on_late_day", 31),
		`units.every(1, "M")`:                        ofContract("every_months", params{"number": "1"}),
		`units.every(4, "W")`:                        ofContract("every_weeks", params{"number": "4"}),
		`units.span(12, "M")`:                        ofContract("period_months", params{"number": "12"}),
		`cart.taxOf(20, "A")`:                        ofContract("tax_included", params{"amount": "A", "percent": "20"}),
		`cart.tax`:                                   ofContract("taxes_included", nil),
		`order.minimum("S")`:                         ofContract("confirmation_commitment", params{"period": "S"}),
		`order.runs("S")`:                            ofContract("confirmation_item_runs", params{"period": "S"}),
		`order.handedOver("P")`:                      ofContract("handed_over", params{"place": "P"}),
		`order.about("N", "W")`:                      ofContract("about", params{"names": "N", "words": "W"}),
		`order.heading`:                              ofPage("ordered", nil),
		`order.buttons.pay_now`:                      ofPage("pay_now", nil),
		`order.total("P")`:                           ofPage("total", params{"amount": "P"}),
		`terms.nothingFollows`:                       ofPage("nothing_follows", nil),
		`terms.starts("D")`:                          ofPage("starts", params{"day": "D"}),
		`terms.starts("E")`:                          ofContract("confirmation_starts", params{"date": "E"}),
		`"E (" + plan.estimated + ")"`:               ofContract("estimated", params{"words": "E"}),
		`order.unknown`:                              ofPage("may_follow", nil),
		`order.withdrawal.until("D")`:                ofContract("withdrawal_until", params{"date": "D"}),
		`order.withdrawal.delivery`:                  ofContract("withdrawal_of_goods", nil),
		`order.withdrawal.none("R")`:                 ofContract("no_withdrawal", params{"reason": "R"}),
		`order.personalised("N")`:                    ofPage("personalised", params{"names": "N"}),
		`order.guarantee.notice`:                     ofPage("guarantee_notice", nil),
		`order.guarantee.words`:                      ofPage("guarantee_words", nil),
		`order.buttons.order_with_obligation_to_pay`: ofPage("order_with_obligation_to_pay", nil),
	}
	var expressions []string
	for expression := range written {
		expressions = append(expressions, expression)
	}
	input, err := json.Marshal(expressions)
	if err != nil {
		t.Fatal(err)
	}
	site := exec.CommandContext(t.Context(), "node", "--input-type=module", "--eval", saidBySite, "../../web-example", string(input))
	output, err := site.Output()
	if err != nil {
		t.Fatalf("%v: this test needs node", err)
	}
	var said map[string]map[string]string
	if err := json.Unmarshal(output, &said); err != nil {
		t.Fatal(err)
	}
	if len(said) != len(text.Languages) {
		t.Errorf("the site says it in %d languages, and the texts are in %d", len(said), len(text.Languages))
	}
	plain := strings.NewReplacer("\u00a0", " ", "\u202f", " ", "'", "’")
	for tag, of := range said {
		for expression, want := range of {
			if got := plain.Replace(written[expression](text.Match(tag))); got != plain.Replace(want) || got == "" {
				t.Errorf("%s in %s is %q, and the site says %q", expression, tag, got, want)
			}
		}
	}
}

func onDay(code text.ContractCode, day int) func(*text.Language) string {
	return func(l *text.Language) string {
		return l.Fill(l.Contract[code], map[string]string{"every": "E", "day": l.Ordinal(day)})
	}
}
