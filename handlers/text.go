package handlers

import (
	"context"
	"embed"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/text/language"

	"frontdesk/api"
	"frontdesk/flows"
)

// texts are the server's texts in one language, by their codes. A text has its parameters in braces.
type texts struct {
	Tag      string            `json:"-"` // BCP 47
	Months   []string          // their names in a date
	First    string            // day of a month
	Several  string            // the detail of a problem with several fields
	Item     string            // the detail of a problem with one of several items
	Messages map[string]string // by MessageCode
	Cart     map[string]string // of the cart's problems, by their code; none: the record's own, in English
	Fields   map[string]string // by FieldCode
	Titles   map[string]string // of problems, by their code
	Page     map[string]string // of the card page, by its state or part
	Details  map[string]string // of problems, by the English one, which is where the error is made; none in English
}

//go:embed texts/*.json
var textFiles embed.FS

// languages are the languages of the texts, the default first.
var (
	languages = []*texts{readTexts("en"), readTexts("fr")}
	matcher   = language.NewMatcher([]language.Tag{language.English, language.French}) // in the order of languages
)

func readTexts(tag string) *texts {
	file, err := textFiles.ReadFile("texts/" + tag + ".json")
	l := &texts{Tag: tag}
	if err == nil {
		err = json.Unmarshal(file, l)
	}
	if err != nil {
		panic(err) // the file is wrong
	}
	return l
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

// message returns a message with its code and parameters; nil without one. payment may be nil.
func (l *texts) message(
	code flows.MessageCode, payment *flows.Payment,
) (message *api.Words, named *api.MessageCode, params *api.TextParams) {
	if code == flows.MessageLaterRecorded {
		params = &api.TextParams{"dueDate": payment.DueDate}
	}
	return optional(l.fill(l.Messages[string(code)], value(params))), optional(string(code)), params
}

// fill replaces the parameters of a text. A date is written as the language writes it.
func (l *texts) fill(text string, params map[string]string) string {
	var pairs []string
	for name, value := range params {
		if day, err := time.Parse(time.DateOnly, value); err == nil {
			number := day.Format("2")
			if day.Day() == 1 {
				number = l.First
			}
			value = number + " " + l.Months[day.Month()-1] + day.Format(" 2006")
		}
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
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
