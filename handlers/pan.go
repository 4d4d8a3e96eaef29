package handlers

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"frontdesk/flows/iban"
	"frontdesk/upstream/cards"
)

// The patterns of digits. One number has up to three separators between its digits, as people write
// and pages copy them.
var (
	numberPattern = regexp.MustCompile(`[0-9](?:[ \t\x{00a0}\x{202f}./_\x{2010}-\x{2015}-]{0,3}[0-9]){12,}`)
	groupPattern  = regexp.MustCompile(`[0-9]+`)
	wordPattern   = regexp.MustCompile(`[0-9A-Za-z]+`)
	uuidPattern   = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	ibanPattern   = regexp.MustCompile(`^\s*[A-Za-z]{2}[0-9]{2}`)
)

const (
	minPAN, maxPAN = 13, 19 // digits of a card number, by the networks below
	maxPhone       = 15     // digits behind the plus of a phone number (ITU-T E.164)
	minToken       = 32     // characters of a hash or token, in which digits may look like anything
	// minGroup, maxGroup: cards are embossed in groups of three to six digits; the last one may be
	// shorter. Pairs are phone numbers, dozens the magnetic line of a cheque.
	minGroup, maxGroup = 3, 6
)

// containsPAN reports whether the text of a member has 13 to 19 digits that pass the check of card
// numbers (Luhn) and begin like a card of one of the main networks.
//
// These are never cards: an IBAN, in the member iban even one with a typing error; a phone number
// with its plus; a UUID; a number inside a token or hash of 32 characters or more. A French SIRET
// (14 digits, which pass Luhn too) that begins like a card of Diners counts as a card: refusing one
// number too many costs less than keeping a card's.
func containsPAN(member, text string) bool {
	if len(text) < minPAN || isIBAN(member, text) {
		return false
	}
	text = uuidPattern.ReplaceAllString(text, "|")
	words := wordPattern.FindAllStringIndex(text, -1)
	for _, at := range numberPattern.FindAllStringIndex(text, -1) {
		run := text[at[0]:at[1]]
		groups := groupPattern.FindAllString(run, -1)
		all := strings.Join(groups, "")
		switch {
		case at[0] > 0 && text[at[0]-1] == '+' && len(all) <= maxPhone, len(groups) == 1 && insideToken(at, words):
		case strings.Trim(text, " \t.-") == run && isPAN(all), panAmong(groups):
			return true
		}
	}
	return false
}

// isIBAN reports whether a text is an account number, or is meant to be one.
func isIBAN(member, text string) bool {
	_, problem, _ := iban.Parse(text)
	return problem == "" || member == "iban" && ibanPattern.MatchString(text)
}

// insideToken reports whether a number is part of a long word.
func insideToken(number []int, words [][]int) bool {
	return slices.ContainsFunc(words, func(word []int) bool {
		length := word[1] - word[0]
		return word[0] <= number[0] && number[1] <= word[1] && length >= minToken && length > number[1]-number[0]
	})
}

// panAmong reports whether one group of digits, or several in a row, are a card number.
func panAmong(groups []string) bool {
	for first := range groups {
		number := ""
		for _, group := range groups[first:] {
			number += group
			if len(number) > maxPAN {
				break
			}
			if (number == group || len(group) <= maxGroup) && isPAN(number) {
				return true
			}
			if len(group) < minGroup || len(group) > maxGroup {
				break
			}
		}
	}
	return false
}

type cardNetwork struct{ from, to, least, most int }

// cardNetworks are the first six digits of the main networks' cards, and how many digits their
// cards have (ISO/IEC 7812).
var cardNetworks = []cardNetwork{
	{400000, 499999, 13, 13}, // Visa
	{400000, 499999, 16, 16},
	{400000, 499999, 19, 19},
	{510000, 559999, 16, 16}, // Mastercard
	{222100, 272099, 16, 16}, // Mastercard, the newer ones
	{340000, 349999, 15, 15}, // American Express
	{370000, 379999, 15, 15},
	{300000, 305999, 14, 19}, // Diners Club
	{309500, 309599, 14, 19},
	{360000, 369999, 14, 19},
	{380000, 399999, 14, 19},
	{352800, 358999, 16, 19}, // JCB
	{601100, 601199, 16, 19}, // Discover
	{644000, 659999, 16, 19},
	{620000, 629999, 16, 19}, // UnionPay
	{810000, 817199, 16, 19},
	{500000, 509999, 13, 19}, // Maestro
	{560000, 589999, 13, 19},
	{630000, 639999, 13, 19},
	{670000, 679999, 13, 19},
	{220000, 220499, 16, 19}, // Mir
}

// isPAN checks digits against the networks and ISO/IEC 7812.
func isPAN(digits string) bool {
	if len(digits) < minPAN || len(digits) > maxPAN || !cards.Luhn(digits) {
		return false
	}
	first, _ := strconv.Atoi(digits[:6])
	return slices.ContainsFunc(cardNetworks, func(n cardNetwork) bool {
		return n.from <= first && first <= n.to && n.least <= len(digits) && len(digits) <= n.most
	})
}
