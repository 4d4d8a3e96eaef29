package keyring

import (
	"strings"
)

// phoneDigits: a phone is identified by its last digits, as many as a French number
// has without its prefix, so that all spellings of one number are one. Two phones of
// different countries that share them only wait for each other.
const phoneDigits = 9

// IsPhone tells whether a text has enough digits to identify a phone.
func IsPhone(text string) bool { return len(onlyDigits(text)) >= phoneDigits }

// PhonePseudonym is the pseudonym of the phone of a chain's contact; empty without a number.
func (k *Keyring) PhonePseudonym(clientToken, mobile string) string {
	digits := onlyDigits(mobile)
	if digits == "" {
		return ""
	}
	return k.Pseudonym("phone", clientToken+" "+digits[max(0, len(digits)-phoneDigits):])
}

// CurrentPersonPseudonyms returns the pseudonyms of a person under the current key, one for each of
// e-mail and phone that is known.
func (k *Keyring) CurrentPersonPseudonyms(clientToken, email, mobile string) []string {
	all := k.PersonPseudonyms(clientToken, email, mobile)
	return all[:len(all)/len(k.pseudonymKeys)]
}

// PersonPseudonyms returns a person's pseudonyms under every key of the ring, those of Person
// first. Without the key nobody can try addresses out on a pseudonym.
func (k *Keyring) PersonPseudonyms(clientToken, email, mobile string) (names []string) {
	var texts []string
	if email = strings.ToLower(strings.TrimSpace(email)); email != "" {
		texts = append(texts, "email "+clientToken+" "+email)
	}
	if digits := onlyDigits(mobile); digits != "" {
		texts = append(texts, "mobile "+clientToken+" "+digits[max(0, len(digits)-phoneDigits):])
	}
	for key := range k.pseudonymKeys {
		for _, text := range texts {
			names = append(names, k.Pseudonyms("person", text)[key])
		}
	}
	return names
}

func onlyDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}
