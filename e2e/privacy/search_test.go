package privacy_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// secrets are texts that may appear nowhere, in any encoding.
type secrets struct {
	forms map[string]string // the encoded texts, and what each one is
	codes []string          // so short that only a separate word counts
}

// add adds a text to the search: as it is, escaped for an address or for JSON, in hex, and in base64 at
// any offset of a longer text.
func (s *secrets) add(what, text string) {
	if s.forms == nil {
		s.forms = map[string]string{}
	}
	quoted, _ := json.Marshal(text)
	escaped := strings.ReplaceAll(string(quoted[1:len(quoted)-1]), "/", `\/`)
	for _, form := range []string{
		text, strings.ToLower(text), url.QueryEscape(text), url.PathEscape(text), string(quoted[1 : len(quoted)-1]),
		escaped, hex.EncodeToString([]byte(text)),
	} {
		s.forms[form] = what
	}
	for shift := range 3 {
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			// The characters at both ends depend on the neighbouring text.
			encoded := encoding.EncodeToString(append(bytes.Repeat([]byte{'x'}, shift), text...))
			s.forms[encoded[(shift*8+5)/6:len(encoded)-4]] = what
		}
	}
}

// in names the secrets that a text contains.
func (s *secrets) in(text string) (found []string) {
	lower := strings.ToLower(text)
	for form, what := range s.forms {
		if strings.Contains(text, form) || strings.Contains(lower, form) {
			found = append(found, what+" as "+form)
		}
	}
	for _, code := range s.codes {
		if regexp.MustCompile(`(^|[^0-9A-Za-z.+:-])` + code + `($|[^0-9A-Za-z.+:-])`).MatchString(text) {
			found = append(found, "the code "+code)
		}
	}
	return found
}

// TestSearchFindsEncodings checks that the search finds a text in every encoding, so that finding
// nothing proves something.
func TestSearchFindsEncodings(t *testing.T) {
	t.Parallel()
	var s secrets
	const text = "zqada+x@canary.example/é"
	s.add("it", text)
	s.codes = []string{"482913"}
	quoted, _ := json.Marshal(map[string]string{"to": text})
	for name, place := range map[string]string{
		"plain":                 "to=" + text,
		"loud":                  "ZQADA+X@CANARY.EXAMPLE/É",
		"query":                 "?q=" + url.QueryEscape(text),
		"path":                  "/" + url.PathEscape(text),
		"JSON":                  string(quoted),
		"base64":                base64.StdEncoding.EncodeToString([]byte(text)),
		"base64 inside":         base64.RawURLEncoding.EncodeToString([]byte("ab" + text + "c")),
		"base64 further inside": base64.StdEncoding.EncodeToString([]byte("b" + text)),
		"hex":                   hex.EncodeToString([]byte(text)),
		"code":                  "code=482913 entered",
	} {
		if s.in(place) == nil {
			t.Errorf("%s: nothing is found in %s", name, place)
		}
	}
	if found := s.in("took=1482913 id=9482913-1 the rest is harmless"); found != nil {
		t.Errorf("found %v where there is nothing", found)
	}
}
