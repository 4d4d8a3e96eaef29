package handlers

import (
	"strings"

	"frontdesk/api"
	"frontdesk/flows"
)

// The limits of texts and lists in responses, as in openapi.yaml. Other systems have none.
const (
	maxText      = 500    // characters; ten times a name, and several sentences
	maxLongText  = 10_000 // characters; three pages
	maxDuration  = 50     // characters; more than any combination of units needs
	maxPhoneText = 40     // characters; more than E.164 has, with spaces
	maxEmail     = 254    // characters; the longest address (RFC 5321)
	maxParents   = 50     // several times what people read
	maxTags      = 200    // likewise
	maxDays      = 366    // one for each day of a year
	maxProblems  = 100    // of a cart; after correcting these, a caller checks again
	maxChanges   = 1_500  // of a cart; each of the club client's 500 lines was added and repriced, and as many are gone
	maxPeriods   = 10_000 // of a billing; weekly for two hundred years, beyond which a count means nothing
)

// singleLine replaces control characters by spaces, and truncates.
func singleLine(text string) string { return flows.SingleLine(text, maxText) }

// multiLine drops control characters except line breaks and tabs, and truncates.
func multiLine(text string) string { return flows.Lines(text, maxLongText) }

func durationText(text string) string { return flows.SingleLine(text, maxDuration) }

// currencyCode returns an ISO 4217 code. Other texts become XXX, which means none there, because
// front ends format amounts by it.
func currencyCode(text string) string {
	if !isCode(text, 3) {
		return "XXX"
	}
	return text
}

// isCode reports whether a text is so many capital letters.
func isCode(text string, length int) bool {
	return len(text) == length && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// isPublicID reports whether a record can be requested by its id. Responses leave out those that
// cannot.
func isPublicID(id string) bool { return flows.PublicIDPattern.MatchString(id) }

// each converts the items of a list. The result is not nil, so that JSON has [].
func each[From, To any](list []From, convert func(From) To) []To {
	out := make([]To, len(list))
	for i, item := range list {
		out[i] = convert(item)
	}
	return out
}

// optional returns a member that is left out when it is zero.
func optional[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// optionalList returns a member that is left out when it is empty.
func optionalList[T any](list []T) *[]T {
	if len(list) == 0 {
		return nil
	}
	return &list
}

// value reads an optional member.
func value[T any](member *T) (v T) {
	if member != nil {
		v = *member
	}
	return v
}

func money(amount int64, currency string) api.Money {
	return api.Money{Amount: amount, Currency: currencyCode(currency)}
}
