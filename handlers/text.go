package handlers

import (
	"context"
	"embed"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-playground/locales"
	"github.com/go-playground/locales/en_GB"
	"github.com/go-playground/locales/fr"
	"github.com/labstack/echo/v4"
	"golang.org/x/text/language"

	"frontdesk/api"
	"frontdesk/flows"
)

// texts are the server's texts in one language, by their codes. A text has its parameters in braces.
type texts struct {
	Tag      string             `json:"-"` // BCP 47
	locale   locales.Translator // writes dates, numbers and plurals as the language does
	First    string             // day of a month
	Titles   map[flows.Code]string
	Details  map[flows.DetailCode]text
	Fields   map[flows.FieldCode]text
	Messages map[flows.MessageCode]text
	Cart     map[flows.CartProblemCode]string
	Page     map[pageText]string
}

// text has a form for each plural category that the language distinguishes, such as one and other. A text without a
// number has only the latter.
type text map[string]string

// UnmarshalJSON reads the forms, or the only one.
func (t *text) UnmarshalJSON(data []byte) error {
	var only string
	if json.Unmarshal(data, &only) == nil {
		*t = text{"other": only}
		return nil
	}
	return json.Unmarshal(data, (*map[string]string)(t))
}

//go:embed texts/*.json
var textFiles embed.FS

// languages are the languages of the texts, the default first. To add one, translate en.json and name its locale here.
var (
	languages = []*texts{readTexts(en_GB.New()), readTexts(fr.New())}
	matcher   = language.NewMatcher(each(languages, func(l *texts) language.Tag { return language.Make(l.Tag) }))
)

func readTexts(locale locales.Translator) *texts {
	tag, _, _ := strings.Cut(locale.Locale(), "_")
	file, err := textFiles.ReadFile("texts/" + tag + ".json")
	texts := &texts{Tag: tag, locale: locale}
	if err == nil {
		err = json.Unmarshal(file, texts)
	}
	if err != nil {
		panic(err) // the file is wrong
	}
	return texts
}

// languageOf returns the language that a visitor prefers (RFC 9110, Accept-Language). A browser's
// EventSource cannot set the header, so the parameter of event streams counts first.
func languageOf(r *http.Request) *texts {
	preferred := r.Header.Values("Accept-Language")
	if lang := r.URL.Query().Get("lang"); lang != "" {
		preferred = []string{lang}
	}
	_, i := language.MatchStrings(matcher, preferred...)
	return languages[i]
}

func textsOf(ctx context.Context) *texts { return languageOf(exchangeOf(ctx).request) }

// message returns the message with a code. payment may be nil.
func (l *texts) message(code flows.MessageCode, payment *flows.Payment) api.Message {
	message := api.Message{Code: api.MessageCode(code)}
	if code == flows.MessageLaterRecorded {
		message.Params = &api.TextParams{"dueDate": payment.DueDate}
	}
	message.Text = l.fill(l.Messages[code], value(message.Params))
	return message
}

// fill replaces the parameters of a text, in the form that its number needs. A date is written as the language writes it.
func (l *texts) fill(text text, params map[string]string) string {
	form := "other"
	var pairs []string
	for name, value := range params {
		if number, err := strconv.ParseFloat(value, 64); err == nil && len(text) > 1 { // such a text has one parameter
			form = strings.ToLower(l.locale.CardinalPluralRule(number, 0).String())
		}
		if day, err := time.Parse(time.DateOnly, value); err == nil {
			value = l.date(day)
		}
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text[form])
}

func (l *texts) date(day time.Time) string {
	date := l.locale.FmtDateLong(day)
	if rest, isFirst := strings.CutPrefix(date, "1 "); isFirst {
		return l.First + " " + rest
	}
	return date
}

// announce names the language of a response. Vary says to caches that another visitor's may be in another one.
func (l *texts) announce(header http.Header) {
	header.Set("Content-Language", l.Tag)
	if !slices.Contains(header.Values("Vary"), "Accept-Language") {
		header.Add("Vary", "Accept-Language")
	}
}

// announceLanguage names the language of the responses that the contract says have texts.
func (s *Server) announceLanguage(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.operationOf(c).hasTexts {
			languageOf(c.Request()).announce(c.Response().Header())
		}
		return next(c)
	}
}
