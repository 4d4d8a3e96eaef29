package handlers

import (
	"fmt"
	"net/http"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
)

// deprecation is what the contract says about a deprecated operation or parameter: x-deprecated, the day since
// when it should not be used, and x-sunset, the day from which it may be removed.
type deprecation struct {
	header, query string // the name of the parameter; neither for the operation
	since, sunset time.Time
}

func deprecationsOf(op *openapi3.Operation) (found []deprecation, err error) {
	add := func(deprecated deprecation, extensions map[string]any) {
		for name, day := range map[string]*time.Time{"x-deprecated": &deprecated.since, "x-sunset": &deprecated.sunset} {
			if text, ok := extensions[name]; ok || name == "x-deprecated" {
				parsed, wrong := time.Parse(time.DateOnly, fmt.Sprint(text))
				*day = parsed
				if wrong != nil {
					err = fmt.Errorf("%s is deprecated in openapi.yaml, but its %s is not a date: %w", op.OperationID, name, wrong)
				}
			}
		}
		found = append(found, deprecated)
	}
	if op.Deprecated {
		add(deprecation{}, op.Extensions)
	}
	for _, parameter := range op.Parameters {
		switch p := parameter.Value; {
		case p.Deprecated && p.In == "header":
			add(deprecation{header: p.Name}, p.Extensions)
		case p.Deprecated && p.In == "query":
			add(deprecation{query: p.Name}, p.Extensions)
		}
	}
	return found, err
}

// announceDeprecation marks the responses of deprecated operations, and those to deprecated parameters: Deprecation
// (RFC 9745) and, once its end is known, Sunset (RFC 8594).
func (s *Server) announceDeprecation(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		for _, deprecation := range s.operationOf(c).deprecations {
			if deprecation.header != "" && c.Request().Header.Get(deprecation.header) == "" ||
				deprecation.query != "" && !c.QueryParams().Has(deprecation.query) {
				continue
			}
			header := c.Response().Header()
			header.Set("Deprecation", fmt.Sprintf("@%d", deprecation.since.Unix()))
			if !deprecation.sunset.IsZero() {
				header.Set("Sunset", deprecation.sunset.Format(http.TimeFormat))
			}
		}
		return next(c)
	}
}
