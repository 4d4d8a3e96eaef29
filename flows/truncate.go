package flows

import (
	"strings"
	"unicode"
)

// SingleLine returns a text of another system or of a visitor as one line of at most limit characters. Characters that control
// become spaces.
func SingleLine(text string, limit int) string {
	return Truncate(strings.Map(func(r rune) rune {
		if controls(r) {
			return ' '
		}
		return r
	}, text), limit)
}

// Lines returns such a text with its line breaks and tabs, without other characters that control.
func Lines(text string, limit int) string {
	return Truncate(strings.Map(func(r rune) rune {
		if controls(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text), limit)
}

// controls reports whether a character steers a terminal, breaks a line, or turns around what is written after it: a name must not make
// the club's own words read otherwise.
func controls(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
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
