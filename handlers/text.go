package handlers

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/text"
)

// texts write responses and pages in one language.
type texts struct{ *text.Language }

// languageOf returns the language that a visitor prefers (RFC 9110, Accept-Language). A browser's
// EventSource cannot set the header, so the parameter of event streams counts first.
func languageOf(r *http.Request) texts {
	preferred := r.Header.Values("Accept-Language")
	if named := namedLanguage(r); named != "" {
		preferred = []string{named}
	}
	return texts{text.Match(preferred...)}
}

// namedLanguage returns the language that a parameter names; empty without one. Of texts it is lang, of documents language.
func namedLanguage(r *http.Request) string {
	query := r.URL.Query()
	return cmp.Or(query.Get("lang"), query.Get("language"))
}

func textsOf(ctx context.Context) texts { return languageOf(exchangeOf(ctx).request) }

// message returns the message with a code. payment may be nil.
func (l texts) message(code flows.MessageCode, payment *flows.Payment) api.Message {
	message := api.Message{Code: api.MessageCode(code)}
	if code == flows.MessageLaterRecorded {
		message.Params = &api.TextParams{"dueDate": payment.DueDate}
	}
	message.Text = l.Fill(l.Messages[code], value(message.Params))
	return message
}

// announce names the language of a response. Vary says to caches that another visitor's may be in another one.
func (l texts) announce(header http.Header) {
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
