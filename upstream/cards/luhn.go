package cards

// Luhn reports whether digits have a valid check digit (ISO/IEC 7812): every second digit
// from the right is doubled, and the sum of all digits is a multiple of ten.
func Luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			d *= 2
		}
		sum += d/10 + d%10
	}
	return sum%10 == 0
}
