package handlers_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"frontdesk/flows/iban"
)

// networks are prefixes of card numbers, with the length of the number.
var networks = map[string]int{"4": 16, "51": 16, "2221": 16, "34": 15, "37": 15, "36": 14, "6011": 16, "3528": 16, "62": 19, "5018": 13}

// TestEveryCardIsOne makes card numbers of each network, in the notations that people use.
func TestEveryCardIsOne(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	rapid.Check(t, func(r *rapid.T) {
		first := rapid.SampledFrom([]string{"4", "51", "2221", "34", "37", "36", "6011", "3528", "62", "5018"}).Draw(r, "first")
		digits := first + rapid.StringOfN(rapid.RuneFrom([]rune("0123456789")), networks[first]-len(first)-1, networks[first]-len(first)-1, -1).
			Draw(r, "rest")
		number := digits + checkDigit(digits)
		gap := rapid.SampledFrom([]string{"", " ", "-", ".", "  ", "\u00a0"}).Draw(r, "gap")
		var groups []string
		for rest := number; rest != ""; rest = rest[min(4, len(rest)):] {
			groups = append(groups, rest[:min(4, len(rest))])
		}
		before := rapid.SampledFrom([]string{"", "CB ", "my card: ", "+"}).Draw(r, "before")
		after := rapid.SampledFrom([]string{"", " Ada", ", 12/27"}).Draw(r, "after")
		text := before + strings.Join(groups, gap) + after
		if phone := strings.HasPrefix(text, "+") && len(number) <= 15; refusedAsCard(client, "street", text) == phone {
			r.Fatalf("%q is a card", text)
		}
	})
}

// checkDigit returns the digit that makes a card number valid.
func checkDigit(digits string) string {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 0 {
			d *= 2
			if d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return fmt.Sprint((10 - sum%10) % 10)
}

// accounts are forms of account numbers; n is a digit.
var accounts = []string{
	"FRnnnnnnnnnnnnnnnnnnnnnnn",
	"DEnnnnnnnnnnnnnnnnnn",
	"ESnnnnnnnnnnnnnnnnnnnn",
	"BEnnnnnnnnnnnn",
	"ITXnnnnnnnnnnnnnnnnnnnnnn",
	"NLABNAnnnnnnnnnn",
	"GBNWBKnnnnnnnnnnnnnn",
	"PLnnnnnnnnnnnnnnnnnnnnnnnn",
	"CHnnnnnnnnnnnnnnnnn",
	"LUnnnnnnnnnnnnnnnn",
	"PTnnnnnnnnnnnnnnnnnnnnn",
}

// TestOtherNumbersAreNoCards: account numbers, phone numbers, ids and tokens are never taken for card numbers.
func TestOtherNumbersAreNoCards(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	digits := func(r *rapid.T, least, most int) string {
		return rapid.StringOfN(rapid.RuneFrom([]rune("0123456789")), least, most, -1).Draw(r, "digits")
	}
	bytes := func(r *rapid.T, n int) []byte { return rapid.SliceOfN(rapid.Byte(), n, n).Draw(r, "bytes") }
	for name, make := range map[string]func(r *rapid.T) string{
		"IBAN":  func(r *rapid.T) string { return account(r, digits) },
		"phone": func(r *rapid.T) string { return "+" + rapid.StringMatching(`[1-9][0-9]{6,14}`).Draw(r, "phone") },
		"id":    func(r *rapid.T) string { return digits(r, 1, 12) },
		"UUID":  func(r *rapid.T) string { return uuid.UUID(bytes(r, 16)).String() },
		"UUID of digits": func(r *rapid.T) string {
			d := digits(r, 32, 32)
			return d[:8] + "-" + d[8:12] + "-" + d[12:16] + "-" + d[16:20] + "-" + d[20:]
		},
		"hash":  func(r *rapid.T) string { return "a" + hex.EncodeToString(bytes(r, 16)) + "f" },
		"token": func(r *rapid.T) string { return base64.RawURLEncoding.EncodeToString(bytes(r, 64)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := client.WithT(t)
			rapid.Check(t, func(r *rapid.T) {
				if text := make(r); refusedAsCard(c, "street", text) {
					r.Fatalf("%q is not a card number", text)
				}
			})
		})
	}
}

// account makes a valid account number, in groups of four or ungrouped.
func account(r *rapid.T, digits func(r *rapid.T, least, most int) string) string {
	form := rapid.SampledFrom(accounts).Draw(r, "form")
	country, rest := form[:2], form[2:]
	n := strings.Count(rest, "n")
	rest = strings.TrimRight(rest, "n") + digits(r, n, n)
	number := country + checkOf(country, rest) + rest
	if _, problem, _ := iban.Parse(number); problem != "" {
		r.Fatalf("%s: %s", number, problem)
	}
	if rapid.Bool().Draw(r, "grouped") {
		var groups []string
		for ; number != ""; number = number[min(4, len(number)):] {
			groups = append(groups, number[:min(4, len(number))])
		}
		number = strings.Join(groups, " ")
	}
	return number
}

// checkOf returns the check digits that make an account number valid (ISO 7064).
func checkOf(country, account string) string {
	text := ""
	for _, r := range account + country + "00" {
		if r >= 'A' {
			text += fmt.Sprint(r - 'A' + 10)
		} else {
			text += string(r)
		}
	}
	n, _ := new(big.Int).SetString(text, 10)
	return fmt.Sprintf("%02d", 98-new(big.Int).Mod(n, big.NewInt(97)).Int64())
}
