package keyring

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// PhonePseudonym returns the pseudonym under which limits count the phone of a chain's contact, abbreviated as
// flows.AbbreviatePhone does; empty without one.
func (k *Keyring) PhonePseudonym(clientToken, abbreviated string) string {
	if abbreviated == "" {
		return ""
	}
	return k.Pseudonym("phone", clientToken+" "+abbreviated)
}

// CurrentPersonPseudonyms returns a person's pseudonyms under the current key: one for
// the e-mail address and one for the phone, as far as they are known.
func (k *Keyring) CurrentPersonPseudonyms(clientToken, email, mobile string) []string {
	all := k.PersonPseudonyms(clientToken, email, mobile)
	return all[:len(all)/len(k.keys)]
}

// PersonPseudonyms returns a person's pseudonyms under every key of the ring, those of
// CurrentPersonPseudonyms first. The mobile number is complete, as flows.CompletePhone returns it, or empty: a part of a
// number would find strangers.
func (k *Keyring) PersonPseudonyms(clientToken, email, mobile string) (names []string) {
	var texts []string
	email = sameEmail(email)
	if email != "" {
		texts = append(texts, "email "+clientToken+" "+email)
	}
	if mobile != "" {
		texts = append(texts, "mobile "+clientToken+" "+mobile)
	}
	for key := range k.keys {
		for _, text := range texts {
			names = append(names, k.Pseudonyms("person", text)[key])
		}
	}
	return names
}

// NamePseudonyms returns the pseudonyms of a person's full name under every key of the ring, the current one first. The order of the
// words does not count.
func (k *Keyring) NamePseudonyms(clientToken, name string) []string {
	words := strings.Fields(Spelling(name))
	slices.Sort(words)
	return k.Pseudonyms("person", "name "+clientToken+" "+strings.Join(words, " "))
}

// NumberPseudonyms returns the pseudonyms of a contact's number under every key of the ring, the current one first. Only letters and
// digits count.
func (k *Keyring) NumberPseudonyms(clientToken, number string) []string {
	return k.Pseudonyms("person", "number "+clientToken+" "+strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, Spelling(number)))
}

// Spelling returns one text for all spellings of what a person types: composed, in lower case, with one space between
// words and without invisible characters.
func Spelling(text string) string {
	visible := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(norm.NFC.String(strings.ToLower(norm.NFC.String(visible)))), " ")
}

// sameEmail returns one text for all spellings of an e-mail address: without spaces, and with its domain as the mail
// system writes it.
func sameEmail(email string) string {
	name, domain, found := strings.Cut(strings.ReplaceAll(Spelling(email), " ", ""), "@")
	if !found {
		return name
	}
	if ascii, err := idna.Lookup.ToASCII(domain); err == nil {
		domain = ascii
	}
	return name + "@" + domain
}
