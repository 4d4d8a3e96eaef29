package handlers

import (
	"regexp"
	"strings"
)

// The contract limits the length of texts, and other systems do not: a response shows no more of
// their texts than openapi.yaml allows.
const (
	// maxText is ten times a name, and several sentences.
	maxText = 500
	// maxLongText is three pages.
	maxLongText = 10_000
	// maxDuration is more than any combination of its units needs.
	maxDuration = 50
	// maxURL: hosted pages carry their state in their address, and browsers take
	// no more than some thousands of characters everywhere.
	maxURL = 5_000
	// maxParents and maxTags are several times what people read.
	maxParents, maxTags = 50, 200
	// maxDays is one for each day of a year.
	maxDays = 366
	// maxProblems of a cart: whoever has mended so many asks again.
	maxProblems = 100
	// maxChanges: each of the club client's 500 lines was added and priced anew, and as many are gone.
	maxChanges = 1_500
	// maxPeriods of a billing: weekly for two hundred years; beyond it a count is none.
	maxPeriods = 10_000
)

// singleLine puts a name or a sentence on one line, as long as it may be.
func singleLine(text string) string {
	return truncate(strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, text), maxText)
}

// multiLine keeps the lines of a longer text.
func multiLine(text string) string {
	return truncate(strings.Map(func(r rune) rune {
		if isControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text), maxLongText)
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// durationText is that of a club, which need not be one.
func durationText(text string) string { return truncate(singleLine(text), maxDuration) }

// truncate leaves so many characters of a text.
func truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	if characters := []rune(text); len(characters) > most {
		return string(characters[:most])
	}
	return text
}

// wholeOrEmpty gives a text that is of no use in part, unless it is too long; empty then.
func wholeOrEmpty(text string, most int) string {
	if len(text) > most {
		return ""
	}
	return text
}

// currencyCode is a code of ISO 4217. XXX, which stands for none there, is told where
// the club system tells something else: front ends format amounts by it.
func currencyCode(text string) string {
	if len(text) != 3 || strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "XXX"
	}
	return text
}

// publicIDPattern is an id as routes take it.
var publicIDPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// isPublicID tells whether a record can be asked for by its id. One that cannot is
// left out of answers: nobody could do anything with it.
func isPublicID(id string) bool { return publicIDPattern.MatchString(id) }

// firstN gives so many of a list.
func firstN[T any](list []T, most int) []T { return list[:min(len(list), most)] }
