package handlers

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"frontdesk/api"
	"frontdesk/flows"
)

const (
	// documentRoute is where the exact bytes of a document are, which never change.
	documentRoute         = "/v1/clubs/:clubId/documents/:sha256"
	immutableCacheControl = "public, max-age=31536000, immutable" // a year, the longest that caches know
)

// ListDocuments serves GET /v1/clubs/{clubId}/documents.
func (s *Server) ListDocuments(ctx context.Context, request api.ListDocumentsRequestObject) (api.ListDocumentsResponseObject, error) {
	club, read, err := s.cfg.Catalogue.DescribeWithTerms(ctx, callerOf(ctx).clientToken, request.ClubId)
	if err != nil {
		return nil, err
	}
	language := textsOf(ctx).Tag
	if named := value(request.Params.Language); named != "" { // the club may have documents in other languages than the gateway has texts
		language, _, _ = strings.Cut(strings.ToLower(named), "-")
	}
	return s.cacheResponse(ctx, flows.Buyer{}, read, exchangeOf(ctx).At.Add(dayless), func(stale *bool) (any, error) {
		list := api.DocumentList{Stale: stale, Items: []api.Document{}}
		for document := range club.DocumentsIn(language) {
			list.Items = append(list.Items, api.Document{
				Document: api.DocumentName(document.Name),
				Version:  document.Version,
				Language: document.Language,
				Url:      s.home(exchangeOf(ctx).request) + "/v1/clubs/" + url.PathEscape(request.ClubId) + "/documents/" + document.SHA256,
				Sha256:   document.SHA256,
			})
		}
		return list, nil
	})
}

// The content security policies of documents. None lets a script run; only browsers' viewers of PDF need an object. The sandbox gives
// a document an origin of its own: it cannot act as the site, whatever it contains.
const (
	documentPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; " +
		"frame-ancestors 'none'; sandbox allow-popups allow-popups-to-escape-sandbox"
	pdfPolicy = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// serveDocument serves GET /v1/clubs/{clubId}/documents/{sha256}.
func (s *Server) serveDocument(c echo.Context) error {
	ctx, clubID := c.Request().Context(), c.Param("clubId")
	document, err := s.cfg.Registrations.Document(ctx, callerOf(ctx).clientToken, clubID, c.Param("sha256"))
	if flows.CodeOf(err) == flows.NotFound {
		if _, unknown := s.cfg.Catalogue.Locate(ctx, callerOf(ctx).clientToken, clubID); unknown != nil {
			return unknown
		}
		return &flows.Error{Code: flows.NotFound, Detail: flows.DetailNothingHere}
	}
	if err != nil {
		return err
	}
	policy := documentPolicy
	if document.ContentType == "application/pdf" {
		policy = pdfPolicy
	}
	c.Response().Header().Set("Content-Security-Policy", policy)
	if strings.HasPrefix(document.ContentType, "image/") { // which front ends of other origins show in their pages
		c.Response().Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	header := http.Header{"Content-Type": {document.ContentType}, "Vary": {s.cacheVary(exchangeOf(ctx))}}
	kept := immutableCacheControl
	if hasCredentials(c.Request()) {
		kept = personalCacheControl
	}
	return encodings{plain: newEncoding(document.Body, header)}.write(c.Response(), c.Request(), kept)
}
