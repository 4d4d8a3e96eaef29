package keyring

import "strings"

// phoneDigits is how many last digits identify a phone: as many as a French number has
// without its prefix, so that every spelling of a number gives the same pseudonym. Phones
// of different countries that share them only share their limits.
const phoneDigits = 9

// IsPhone reports whether a text has enough digits to identify a phone.
func IsPhone(text string) bool { return len(lastDigits(text)) == phoneDigits }

// PhonePseudonym returns the pseudonym of the phone of a chain's contact; empty without a number.
func (k *Keyring) PhonePseudonym(clientToken, mobile string) string {
	digits := lastDigits(mobile)
	if digits == "" {
		return ""
	}
	return k.Pseudonym("phone", clientToken+" "+digits)
}

// CurrentPersonPseudonyms returns a person's pseudonyms under the current key: one for
// the e-mail address and one for the phone, as far as they are known.
func (k *Keyring) CurrentPersonPseudonyms(clientToken, email, mobile string) []string {
	all := k.PersonPseudonyms(clientToken, email, mobile)
	return all[:len(all)/len(k.keys)]
}

// PersonPseudonyms returns a person's pseudonyms under every key of the ring, those of
// CurrentPersonPseudonyms first.
func (k *Keyring) PersonPseudonyms(clientToken, email, mobile string) (names []string) {
	var texts []string
	if email = strings.ToLower(strings.TrimSpace(email)); email != "" {
		texts = append(texts, "email "+clientToken+" "+email)
	}
	if digits := lastDigits(mobile); digits != "" {
		texts = append(texts, "mobile "+clientToken+" "+digits)
	}
	for key := range k.keys {
		for _, text := range texts {
			names = append(names, k.Pseudonyms("person", text)[key])
		}
	}
	return names
}

// lastDigits returns the digits of a text, at most the last phoneDigits of them.
func lastDigits(text string) string {
	digits := Digits(text)
	return digits[max(0, len(digits)-phoneDigits):]
}

// Digits returns the digits of a phone number.
func Digits(number string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
}
