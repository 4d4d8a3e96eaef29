package handlers

import (
	"regexp"
	"strings"
)

// Other systems promise nothing about the length of their words, and the contract
// does: an answer shows no more of them than openapi.yaml says.
const (
	// longestWords is ten times a name, and several sentences.
	longestWords = 500
	// longestProse is three pages.
	longestProse = 10_000
	// longestDuration is more than any combination of its units needs.
	longestDuration = 50
	// longestURL: hosted pages carry their state in their address, and browsers take
	// no more than some thousands of characters everywhere.
	longestURL = 5_000
	// mostParents, mostTags: deeper chains, and contacts with more marks, are nobody's to read.
	mostParents, mostTags = 50, 200
	// mostDays is one for each day of a year.
	mostDays = 366
	// mostProblems of a cart: whoever has mended so many asks again.
	mostProblems = 100
	// mostChanges: each of the club client's 500 lines was added and priced anew, and as many are gone.
	mostChanges = 1_500
	// mostPeriods of a billing: weekly for two hundred years; beyond it a count is none.
	mostPeriods = 10_000
)

// words puts a name or a sentence on one line, as long as it may be.
func words(text string) string {
	return cut(strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, text), longestWords)
}

// prose keeps the lines of a longer text.
func prose(text string) string {
	return cut(strings.Map(func(r rune) rune {
		if isControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text), longestProse)
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// duration is that of a club, which need not be one.
func duration(text string) string { return cut(words(text), longestDuration) }

// cut leaves so many characters of a text.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	if characters := []rune(text); len(characters) > most {
		return string(characters[:most])
	}
	return text
}

// whole gives a text that is of no use in part, unless it is too long; empty then.
func whole(text string, most int) string {
	if len(text) > most {
		return ""
	}
	return text
}

// currencyOf is a code of ISO 4217. XXX, which stands for none there, is told where
// the club system tells something else: front ends format amounts by it.
func currencyOf(text string) string {
	if len(text) != 3 || strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "XXX"
	}
	return text
}

// publicID is an id as routes take it.
var publicID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// addressable tells whether a record can be asked for by its id. One that cannot is
// left out of answers: nobody could do anything with it.
func addressable(id string) bool { return publicID.MatchString(id) }

// first gives so many of a list.
func first[T any](list []T, most int) []T { return list[:min(len(list), most)] }
