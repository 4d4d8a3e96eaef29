package oldsandbox

import (
	"strings"

	"frontdesk/upstream/cards"
)

const (
	challengeCard         = "4000002500003155"
	declineCard           = "card_declined"
	declineFunds          = "insufficient_funds"
	declineAuthentication = "authentication_failed"
)

type testCard struct {
	Number       string
	Effect, Tone string // text and colour on the hosted page

	challenge   bool
	declineCode string
}

// Spaced returns the number in groups of four, as on a card.
func (c testCard) Spaced() string {
	return c.Number[:4] + " " + c.Number[4:8] + " " + c.Number[8:12] + " " + c.Number[12:]
}

func testCards() []testCard {
	return []testCard{
		{Number: "4242424242424242", Effect: "Succeeds", Tone: "good"},
		{Number: challengeCard, Effect: "Bank asks first", Tone: "ask", challenge: true},
		{Number: "4000000000000002", Effect: "Declined", Tone: "bad", declineCode: declineCard},
		{Number: "4000000000009995", Effect: "Insufficient funds", Tone: "bad", declineCode: declineFunds},
	}
}

// readCard finds the test card of a typed number. Every other valid number is declined, and
// returned without its digits, so that a real card's number is never kept.
func readCard(typed string) (testCard, error) {
	number := strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "").Replace(typed)
	if len(number) < 12 || len(number) > 19 || strings.Trim(number, "0123456789") != "" || !cards.Luhn(number) {
		return testCard{}, errInvalid(codeInvalidNumber, "card is not a card number. Use one of the test cards, such as 4242424242424242.")
	}
	for _, card := range testCards() {
		if card.Number == number {
			return card, nil
		}
	}
	return testCard{declineCode: declineCard}, nil
}
