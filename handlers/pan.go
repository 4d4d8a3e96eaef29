package handlers

import (
	"regexp"
	"strconv"
	"strings"

	"frontdesk/flows/iban"
	"frontdesk/upstream/cards"
)

// The forms in which digits are told apart. Digits of one number stand together, or
// with up to three separators in between, as people write and pages copy them.
var (
	numberPattern = regexp.MustCompile(`[0-9](?:[ \t\x{00a0}\x{202f}./_\x{2010}-\x{2015}-]{0,3}[0-9]){12,}`)
	groupPattern  = regexp.MustCompile(`[0-9]+`)
	wordPattern   = regexp.MustCompile(`[0-9A-Za-z]+`)
	uuidPattern   = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	ibanPattern   = regexp.MustCompile(`^\s*[A-Za-z]{2}[0-9]{2}`)
)

// The lengths that tell numbers apart.
const (
	minPAN, maxPAN = 13, 19 // digits of a card number, by the networks below
	maxPhone       = 15     // digits behind the plus of a phone number (ITU-T E.164)
	// minToken: what is as long as this without a gap is a hash or a token, in which
	// digits may look like anything; nobody writes so much onto a card number.
	minToken = 32
	// minGroup, maxGroup: cards are embossed in groups of three to six digits, the last one may
	// be shorter. What stands in pairs is phone numbers, what stands in dozens a cheque's magnetic line.
	minGroup, maxGroup = 3, 6
)

// containsPAN tells whether the text of a member holds 13 to 19 digits that pass
// the check of card numbers (Luhn) and begin like a card of one of the main networks.
//
// What has a form of its own is judged by that form, and is never a card: an IBAN, in
// the member for it one with a typing error as well; a phone number with its plus; a
// UUID; a number inside a token or hash of 32 characters and more.
// Numbers of fewer than 13 digits are none either, such as the club system's ids; a text
// without enoughDigits need not be asked about.
// A French SIRET (14 digits, which pass Luhn too) that begins like a card of Diners
// is taken for one: a number too many that is refused costs less than one that is kept.
func containsPAN(member, text string) bool {
	if isIBAN(member, text) {
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

// enoughDigits tells whether a text has as many digits as the shortest card number.
func enoughDigits(text string) bool {
	digits := 0
	for i := range len(text) {
		if '0' <= text[i] && text[i] <= '9' {
			digits++
		}
	}
	return digits >= minPAN
}

// isIBAN tells whether a text is an account number, or is about to be told what is wrong with it as one.
func isIBAN(member, text string) bool {
	_, problem := iban.Parse(text)
	return problem == "" || member == "iban" && ibanPattern.MatchString(text)
}

// insideToken tells whether a number is part of a long word.
func insideToken(number []int, words [][]int) bool {
	for _, word := range words {
		if word[0] <= number[0] && number[1] <= word[1] {
			return word[1]-word[0] >= minToken && word[1]-word[0] > number[1]-number[0]
		}
	}
	return false
}

// panAmong tells whether a group of digits is a card number, or several that follow each other.
func panAmong(groups []string) bool {
	for first := range groups {
		number := ""
		for _, group := range groups[first:] {
			number += group
			if len(number) > maxPAN {
				break
			}
			if number == group && len(group) >= minPAN || number != group && len(group) <= maxGroup {
				if isPAN(number) {
					return true
				}
			}
			if len(group) < minGroup || len(group) > maxGroup {
				break
			}
		}
	}
	return false
}

// cardNetworks are the numbers that cards of the main networks begin with, by their first
// six digits, and how many digits those cards have (ISO/IEC 7812).
var cardNetworks = []struct{ from, to, least, most int }{
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

// isPAN holds digits against the networks and the check of ISO/IEC 7812.
func isPAN(digits string) bool {
	if len(digits) < minPAN || len(digits) > maxPAN || !cards.Luhn(digits) {
		return false
	}
	first, _ := strconv.Atoi(digits[:6])
	for _, n := range cardNetworks {
		if n.from <= first && first <= n.to && n.least <= len(digits) && len(digits) <= n.most {
			return true
		}
	}
	return false
}
