package flows

import (
	"strings"
	"unicode"
)

// SingleLine returns a text of another system as one line: its control characters become spaces, and it is
// truncated to so many characters.
func SingleLine(text string, most int) string {
	return Truncate(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text), most)
}

// Truncate leaves at most so many characters of a text.
func Truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	if characters := []rune(text); len(characters) > most {
		return string(characters[:most])
	}
	return text
}
