// Package text has every text that a visitor reads, by its code, in one file per language, and writes plurals, days and
// amounts as the language does. Pages, responses, mails and confirmations take their texts from here.
//
// A code is a constant of one of the types below, declared where it is used; TestTexts finds those without a text, and the
// texts that nothing uses. Match returns the language of a visitor, Fill a text with its parameters:
//
//	french := text.Match("fr")
//	french.Fill(french.Contract[codeWithdrawn], map[string]string{"date": "2026-12-01", "amount": french.Money(4990, "EUR")})
package text

import (
	"embed"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/go-playground/locales"
	"github.com/go-playground/locales/en_GB"
	"github.com/go-playground/locales/fr_FR"
	"golang.org/x/text/language"

	"frontdesk/flows"
)

// PageCode names a text of the gateway's own card page: the heading of one of its states, or another part.
type PageCode string

// ContractCode names a text of a contract's documents and of the mails about it.
type ContractCode string

// Language is the texts in one language, by their codes. A text has its parameters in braces.
type Language struct {
	Tag      string             `json:"-"` // BCP 47
	locale   locales.Translator // writes days and plurals as the language does
	First    string             // day of a month
	Ordinals Text               // of the days of a month, by the plural categories of ordinals; with the parameter day
	Titles   map[flows.Code]string
	Details  map[flows.DetailCode]Text
	Fields   map[flows.FieldCode]Text
	Messages map[flows.MessageCode]Text
	Cart     map[flows.CartProblemCode]string
	Page     map[PageCode]string
	Contract map[ContractCode]Text
}

// Text has a form for each plural category that the language distinguishes, such as one and other. A text without a
// number has only the latter.
type Text map[string]string

// UnmarshalJSON reads the forms, or the only one.
func (t *Text) UnmarshalJSON(data []byte) error {
	var only string
	if json.Unmarshal(data, &only) == nil {
		*t = Text{"other": only}
		return nil
	}
	return json.Unmarshal(data, (*map[string]string)(t))
}

//go:embed *.json
var files embed.FS

// Languages are the languages of the texts, the default first. To add one, translate en.json and name its locale here. The
// locales are those that the site uses for visitors without one.
var Languages = []*Language{read(en_GB.New()), read(fr_FR.New())}

var matcher = newMatcher()

func newMatcher() language.Matcher {
	var tags []language.Tag
	for _, l := range Languages {
		tags = append(tags, language.Make(l.Tag))
	}
	return language.NewMatcher(tags)
}

func read(locale locales.Translator) *Language {
	tag, _, _ := strings.Cut(locale.Locale(), "_")
	file, err := files.ReadFile(tag + ".json")
	l := &Language{Tag: tag, locale: locale}
	if err == nil {
		err = json.Unmarshal(file, l)
	}
	if err != nil {
		panic(err) // the file is wrong
	}
	return l
}

// Match returns the language that is closest to the preferred ones, each a tag or a list as in the header Accept-Language
// (RFC 9110), else the default.
func Match(preferred ...string) *Language {
	_, i := language.MatchStrings(matcher, preferred...)
	return Languages[i]
}

// Fill replaces the parameters of a text, in the form that its number needs. A parameter that is a day, YYYY-MM-DD, is
// written by Date.
func (l *Language) Fill(text Text, params map[string]string) string {
	form := "other"
	var pairs []string
	for name, value := range params {
		if number, err := strconv.ParseFloat(value, 64); err == nil && len(text) > 1 { // such a text has one parameter
			form = strings.ToLower(l.locale.CardinalPluralRule(number, 0).String())
		}
		if day, err := time.Parse(time.DateOnly, value); err == nil {
			value = l.Date(day)
		}
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text[form])
}

// Ordinal writes a day of the month as the language counts it: 5th, 1er.
func (l *Language) Ordinal(day int) string {
	form := strings.ToLower(l.locale.OrdinalPluralRule(float64(day), 0).String())
	written, ok := l.Ordinals[form]
	if !ok {
		written = l.Ordinals["other"]
	}
	return strings.ReplaceAll(written, "{day}", strconv.Itoa(day))
}

// Month writes the name of a month within a sentence: November, novembre.
func (l *Language) Month(month time.Month) string { return l.locale.MonthWide(month) }

// Days writes days of one month, the first and the last: 10–31 Dec, 10–31 déc.; of one day, 30 Nov.
func (l *Language) Days(month time.Month, first, last int) string {
	days := strconv.Itoa(first)
	if last != first {
		days += "–" + strconv.Itoa(last)
	}
	return days + " " + l.locale.MonthAbbreviated(month)
}

// Date writes a day as the language does: 1 December 2026, 1er décembre 2026.
func (l *Language) Date(day time.Time) string {
	date := l.locale.FmtDateLong(day)
	if rest, isFirst := strings.CutPrefix(date, "1 "); isFirst {
		return l.First + " " + rest
	}
	return date
}
