package handlers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/text"
	"frontdesk/upstream/captcha"
)

// GetConfig serves GET /v1/config.
func (s *Server) GetConfig(ctx context.Context, _ api.GetConfigRequestObject) (api.GetConfigResponseObject, error) {
	clubs, now := s.cfg.Catalogue.Details(""), exchangeOf(ctx).At // the days of the clubs without a time zone of their own
	return s.cacheResponse(ctx, flows.Buyer{}, nil, clubs.DayEnds(now), func(*bool) (any, error) { return s.config(ctx, clubs, now), nil })
}

func (s *Server) config(ctx context.Context, clubs catalogue.Details, now time.Time) api.Config {
	out := api.Config{
		Mode:      api.ConfigMode(s.cfg.Mode),
		Version:   s.document.Info.Version,
		Languages: each(text.Languages, func(l *text.Language) string { return l.Tag }),
		Person:    personFields(s.document),
		Card: api.CardConfig{
			Processor: s.cfg.Cards.Name(), PublishableKey: optional(s.cfg.PublishableKey), ScriptUrl: optional(s.hereOf(ctx, s.cfg.CardScriptURL)),
		},
		MobileCountries: optionalList(s.cfg.SMSCountries),
		Features:        []api.Feature{},
		Statements:      new(statementLabels()),
	}
	out.StartDates.Earliest, out.StartDates.Latest = clubs.StartDates(now, "")
	for _, method := range flows.Methods() {
		offered := api.MethodConfig{Method: api.PaymentMethod(method)}
		for _, audience := range flows.Audiences() {
			if s.cfg.Methods.Allows(audience, method) && (audience != flows.ToStaff || len(s.cfg.StaffKeys) > 0) {
				offered.Audience = append(offered.Audience, api.Audience(audience))
			}
		}
		if method == flows.Deferred {
			offered.LatestDueDate = new(s.cfg.Methods.LatestDueDate(clubs.Today(now)))
		}
		if len(offered.Audience) > 0 {
			out.Methods = append(out.Methods, offered)
		}
	}
	if s.cfg.Captcha != nil {
		out.Challenge = challengeOf(s.cfg.Captcha.Widget())
	}
	if s.cfg.Identity.Configured() {
		out.Features = append(out.Features, api.FeatureLogin)
	}
	if len(s.cfg.StaffKeys) > 0 {
		out.Features = append(out.Features, api.FeatureStaff)
	}
	return out
}

// personFields lists the fields of a person's details with their formats by the contract, those of the address below it.
func personFields(document *openapi3.T) (fields []api.PersonField) {
	for _, at := range []struct{ prefix, schema string }{{"/", "Person"}, {"/address/", "Address"}} {
		schema := document.Components.Schemas[at.schema].Value
		for name, property := range schema.Properties {
			if property.Value.Type.Is("object") {
				continue
			}
			field := api.PersonField{
				Pointer:   at.prefix + name,
				Required:  slices.Contains(schema.Required, name),
				Format:    optional(property.Value.Format),
				MinLength: optional(int(property.Value.MinLength)), // #nosec G115 -- of the contract
				Pattern:   optional(property.Value.Pattern),
				Allowed:   optionalList(each(property.Value.Enum, func(value any) string { return fmt.Sprint(value) })),
			}
			if longest := property.Value.MaxLength; longest != nil {
				field.MaxLength = new(int(*longest)) // #nosec G115 -- likewise
			}
			fields = append(fields, field)
		}
	}
	slices.SortFunc(fields, func(a, b api.PersonField) int { return cmp.Compare(a.Pointer, b.Pointer) })
	return fields
}

func challengeOf(widget captcha.Widget) *api.ChallengeWidget {
	return &api.ChallengeWidget{Provider: api.ChallengeProvider(cmp.Or(widget.Provider, "other")), SiteKey: optional(widget.SiteKey)}
}
