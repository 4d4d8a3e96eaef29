package redact

import (
	"strings"

	"github.com/google/uuid"
)

// longWord is where a word may be a token; see words.
const longWord = 24

// records are the collections of the club system whose records are somebody's; see forms.
var records = []string{"/contacts/", "/sales/", "/mandates/", "/signature_requests/", "/optins/"}

// ordinary tells that a text has nothing to be taken out, without looking at each form:
// no quotation, no address, too few digits for an account or a number, no long word with
// a digit. A gateway writes such texts at every request, and the forms would take longer
// than the request.
func ordinary(text string) bool {
	if isTrace(text) || isJourney(text) {
		return true
	}
	digits, run, long, slash := 0, 0, false, false
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 0x80 || c == '"' || c == '`' || c == '\'' || c == '@':
			return false
		case '0' <= c && c <= '9':
			digits++
		case c == '/':
			slash = true
		}
		if run++; !inWord(c) {
			run = 0
		}
		long = long || run >= longWord
	}
	return digits < 2 && (digits == 0 || !long) && (!slash || !somewhere(text))
}

// isTrace tells whether a text is nothing but the id of a trace.
func isTrace(text string) bool {
	if len(text) != 32 {
		return false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// isJourney tells whether a text is nothing but the id of a registration, or of one of its
// first nine payments, which has a hyphen and a digit behind it.
func isJourney(text string) bool {
	const registration = len("00000000-0000-0000-0000-000000000000")
	if len(text) == registration+2 && text[registration] == '-' && '0' <= text[registration+1] && text[registration+1] <= '9' {
		text = text[:registration]
	}
	return len(text) == registration && uuid.Validate(text) == nil && strings.ToLower(text) == text
}

// inWord are the characters of words.
func inWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '+' || c == '.' || c == '-'
}

// somewhere tells whether a text with slashes may lead somewhere.
func somewhere(text string) bool {
	if strings.Contains(text, "://") {
		return true
	}
	for _, record := range records {
		if strings.Contains(text, record) {
			return true
		}
	}
	return false
}
