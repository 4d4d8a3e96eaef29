package flows

import (
	"strings"
	"unicode"
)

// SingleLine returns a text of another system as one line of at most limit characters. Control characters
// become spaces.
func SingleLine(text string, limit int) string {
	return Truncate(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text), limit)
}

// Truncate returns at most limit characters of a text.
func Truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	if characters := []rune(text); len(characters) > limit {
		return string(characters[:limit])
	}
	return text
}
