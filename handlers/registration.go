package handlers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/registration"
	"frontdesk/upstream/identity"
)

// StartRegistration serves POST /v1/registrations.
func (s *Server) StartRegistration(
	ctx context.Context, request api.StartRegistrationRequestObject,
) (api.StartRegistrationResponseObject, error) {
	attempt := exchangeOf(ctx).attempt
	start := registration.StartRequest{
		ID:          attempt.ID,
		Again:       attempt.Again,
		ClientToken: callerOf(ctx).clientToken,
		ClubID:      request.Body.ClubId,
		Channel:     webChannel,
		Contact:     callerOf(ctx).contact,
		Staff:       callerOf(ctx).staff,
		Invitation:  value(request.Body.Invitation),
		Guardian:    guardianOf(request.Body.Guardian),
	}
	if a := request.Body.Attribution; a != nil {
		start.Attribution = &flows.Attribution{
			Source:   value(a.Source),
			Medium:   value(a.Medium),
			Campaign: value(a.Campaign),
			Content:  value(a.Content),
		}
	}
	if request.Body.Channel != nil {
		start.Channel = string(*request.Body.Channel)
	}
	if request.Body.Person != nil {
		start.Person = new(personOf(*request.Body.Person))
	}
	for _, item := range value(request.Body.Items) {
		start.Items = append(start.Items, itemOf(item))
	}
	view, token, err := s.cfg.Registrations.Start(ctx, start)
	if err != nil {
		return nil, err
	}
	body, headers := s.withToken(ctx, view, token, request.Params.XFrontdeskSession != nil)
	return api.StartRegistration201JSONResponse{Body: body, Headers: headers}, nil
}

// withToken returns a registration with its token: in a cookie, or in the body.
func (s *Server) withToken(
	ctx context.Context, view flows.View, token string, cookie bool,
) (api.Registration, api.StartRegistration201ResponseHeaders) {
	body, headers := s.registrationOf(ctx, view), api.StartRegistration201ResponseHeaders{Location: new(pathOf(view.ID))}
	if cookie {
		headers.SetCookie = new(s.sessionCookie(view.ID, token, view.ExpiresAt.Add(flows.KeepRegistration).Sub(s.cfg.Now())))
	} else {
		body.Token = &token
	}
	return body, headers
}

// GetRegistration serves GET /v1/registrations/{id}.
func (s *Server) GetRegistration(ctx context.Context, request api.GetRegistrationRequestObject) (api.GetRegistrationResponseObject, error) {
	view, err := s.cfg.Registrations.Get(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	return versionedRegistration{api.GetRegistration200JSONResponse(s.registrationOf(ctx, view)), exchangeOf(ctx).request}, nil
}

// GetCurrentRegistration serves GET /v1/registrations/current.
func (s *Server) GetCurrentRegistration(
	ctx context.Context, _ api.GetCurrentRegistrationRequestObject,
) (api.GetCurrentRegistrationResponseObject, error) {
	var sessions []registration.Session
	for _, cookie := range exchangeOf(ctx).request.Cookies() {
		if id, ours := strings.CutPrefix(cookie.Name, s.cookieName("")); ours && uuid.Validate(id) == nil {
			sessions = append(sessions, registration.Session{ID: id, Token: cookie.Value})
		}
	}
	if len(sessions) == 0 {
		return nil, &flows.Error{Code: flows.TokenRequired, Detail: flows.DetailTokenRequired}
	}
	view, err := s.cfg.Registrations.Current(ctx, callerOf(ctx).clientToken, sessions)
	if err != nil {
		return nil, err
	}
	return api.GetCurrentRegistration200JSONResponse(s.registrationOf(ctx, view)), nil
}

// versionedRegistration is a registration with its version as ETag; a 304 if the caller has it.
type versionedRegistration struct {
	body    api.GetRegistration200JSONResponse
	request *http.Request
}

func (v versionedRegistration) VisitGetRegistrationResponse(w http.ResponseWriter) error {
	etag := `"` + v.body.Version + `"`
	w.Header().Set("ETag", "W/"+etag) // a weak one, because seconds count down within a version
	if etagMatches(v.request.Header["If-None-Match"], etag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return v.body.VisitGetRegistrationResponse(w)
}

// versionOf returns the version of what a caller sees: a digest, because the clock and the language change
// it too. Seconds that only count down do not; when they begin again, so does the sequence.
func versionOf(r api.Registration) string {
	if r.Mandate != nil {
		mandate := *r.Mandate
		mandate.ResendIn, r.Mandate = nil, &mandate
	}
	text, _ := json.Marshal(r) // its types can all be encoded
	digest := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(digest[:12])
}

// AbandonRegistration serves DELETE /v1/registrations/{id}.
func (s *Server) AbandonRegistration(
	ctx context.Context, request api.AbandonRegistrationRequestObject,
) (api.AbandonRegistrationResponseObject, error) {
	view, err := s.cfg.Registrations.Abandon(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	return api.AbandonRegistration200JSONResponse(s.registrationOf(ctx, view)), nil
}

// PutPerson serves PUT /v1/registrations/{id}/person.
func (s *Server) PutPerson(ctx context.Context, request api.PutPersonRequestObject) (api.PutPersonResponseObject, error) {
	view, err := s.cfg.Registrations.PutPerson(ctx, request.Id, callerOf(ctx).token, personOf(*request.Body))
	if err != nil {
		return nil, err
	}
	return api.PutPerson200JSONResponse(s.registrationOf(ctx, view)), nil
}

// CorrectPerson serves PATCH /v1/registrations/{id}/person. The corrected person is checked by the
// same rules as a new one.
func (s *Server) CorrectPerson(ctx context.Context, request api.CorrectPersonRequestObject) (api.CorrectPersonResponseObject, error) {
	view, err := s.cfg.Registrations.CorrectPerson(ctx, request.Id, callerOf(ctx).token, func(stored flows.Person) (flows.Person, error) {
		person := api.Person{
			GivenName:  stored.GivenName,
			FamilyName: stored.FamilyName,
			BirthDate:  stored.BirthDate,
			Email:      stored.Email,
			Mobile:     stored.Mobile,
			Address:    api.Address{Street: stored.Street, PostalCode: stored.PostalCode, City: stored.City, Country: stored.Country},
		}
		if g := stored.Guardian; !g.IsZero() && request.Body.BirthDate == nil && request.Body.Guardian == nil {
			person.Guardian = &api.Guardian{GivenName: g.GivenName, FamilyName: g.FamilyName, Relation: api.GuardianRelation(g.Relation),
				Phone: g.Phone, Email: optional(g.Email)}
		}
		if stored.Gender != "" {
			person.Gender = new(api.PersonGender(stored.Gender))
		}
		correction, err := json.Marshal(request.Body)
		err = cmp.Or(err, json.Unmarshal(correction, &person)) // which keeps what the correction lacks
		corrected, failed := json.Marshal(person)
		var members any
		if err = cmp.Or(err, failed, json.Unmarshal(corrected, &members)); err != nil {
			return stored, err
		}
		if problems := s.memberProblems("", members); len(problems) > 0 {
			return stored, invalid(problems)
		}
		return personOf(person), nil
	})
	if err != nil {
		return nil, err
	}
	return api.CorrectPerson200JSONResponse(s.registrationOf(ctx, view)), nil
}

// PutGuardian serves PUT /v1/registrations/{id}/guardian.
func (s *Server) PutGuardian(ctx context.Context, request api.PutGuardianRequestObject) (api.PutGuardianResponseObject, error) {
	view, err := s.cfg.Registrations.PutGuardian(ctx, request.Id, callerOf(ctx).token, guardianOf(request.Body))
	if err != nil {
		return nil, err
	}
	return api.PutGuardian200JSONResponse(s.registrationOf(ctx, view)), nil
}

func personOf(person api.Person) flows.Person {
	return flows.Person{
		GivenName:  person.GivenName,
		FamilyName: person.FamilyName,
		BirthDate:  person.BirthDate,
		Email:      person.Email,
		Mobile:     person.Mobile,
		Gender:     string(value(person.Gender)),
		Street:     person.Address.Street,
		PostalCode: person.Address.PostalCode,
		City:       person.Address.City,
		Country:    person.Address.Country,
		Guardian:   guardianOf(person.Guardian),
	}
}

func guardianOf(guardian *api.Guardian) flows.Guardian {
	if guardian == nil {
		return flows.Guardian{}
	}
	return flows.Guardian{
		GivenName:  guardian.GivenName,
		FamilyName: guardian.FamilyName,
		Relation:   string(guardian.Relation),
		Phone:      guardian.Phone,
		Email:      value(guardian.Email),
	}
}

// MigrateProspect serves POST /v1/registrations/{id}/prospect.
func (s *Server) MigrateProspect(ctx context.Context, request api.MigrateProspectRequestObject) (api.MigrateProspectResponseObject, error) {
	view, err := s.migrate(ctx, request.Id, *request.Body)
	if err != nil {
		return nil, err
	}
	return api.MigrateProspect201JSONResponse(s.registrationOf(ctx, view)), nil
}

func (s *Server) migrate(ctx context.Context, id string, by api.Prospect) (flows.View, error) {
	who := callerOf(ctx)
	if by.IdentityToken == "" {
		return s.cfg.Registrations.Migrate(ctx, id, who.token, by.AccessToken)
	}
	contact, err := s.cfg.Identity.Verify(ctx, by.IdentityToken, who.clientToken)
	switch {
	case errors.Is(err, identity.ErrUnavailable):
		return flows.View{}, tokenRefused(err)
	case err != nil:
		return flows.View{}, registration.LoginTokenRefused(err)
	}
	known := flows.ContactIdentity{ClientToken: who.clientToken, ContactID: contact.ID, ClubID: contact.Club}
	return s.cfg.Registrations.MigrateIdentified(ctx, id, who.token, known)
}

func pathOf(id string) string { return "/v1/registrations/" + id }

func (s *Server) registrationOf(ctx context.Context, view flows.View) api.Registration {
	view = s.cfg.Methods.Restrict(view, callerOf(ctx).staff)
	out := api.Registration{
		Id:          view.ID,
		ClubId:      view.ClubID,
		ClubName:    optional(singleLine(view.ClubName)),
		State:       api.RegistrationState(view.State()),
		Step:        api.Step(view.Step()),
		Final:       view.Step().Final(),
		Cart:        s.cartOf(ctx, view),
		Next:        make([]api.Action, 0, len(view.Actions)),
		ExpiresAt:   flows.Instant(view.ExpiresAt),
		ForgottenAt: flows.Instant(view.KeptUntil(view.Payment)),
	}
	out.Order = s.orderOf(ctx, view, &out.Cart)
	out.Message = textsOf(ctx).message(view.CurrentMessage(), view.Payment)
	if view.Stale {
		out.Cart.Stale = &view.Stale
	}
	if a := view.Attribution; a != nil {
		out.Attribution = &api.Attribution{
			Source:   optional(a.Source),
			Medium:   optional(a.Medium),
			Campaign: optional(a.Campaign),
			Content:  optional(a.Content),
		}
	}
	if view.Contact != nil {
		out.Contact = &api.Contact{Number: singleLine(view.Contact.Number), Status: singleLine(view.Contact.Status),
			GivenName: optional(singleLine(view.Contact.GivenName)), MobileEnding: optional(view.Contact.MobileEnding)}
		if slices.Contains(view.Actions, "person") {
			out.Contact.Masked = maskedOf(view.Contact.Masked)
		}
		if buyer := view.Contact.Buyer; buyer != nil {
			out.Contact.Debt = new(money(buyer.Debt, view.Cart.Currency))
		}
	}
	if g := view.Guardian; !g.IsZero() {
		out.Guardian = &api.GuardianParty{
			GivenName: singleLine(g.GivenName), FamilyName: singleLine(g.FamilyName), Relation: api.GuardianRelation(g.Relation),
			PhoneEnding: new(g.Phone[len(g.Phone)-2:]), // E.164
		}
	}
	if view.Phase == flows.Completed && !view.Rebuilt {
		out.Confirmation = &api.SentConfirmation{}
		if to := view.MailedTo(); view.Mails && len(to) >= min(1, len(view.HeldMails)) { // else none is mailed
			out.Confirmation.MailedTo = &to
		}
	}
	if view.Mandate != nil {
		terms := s.cfg.Registrations.MandateTerms(view.Registration, textsOf(ctx).Tag)
		out.Mandate = new(mandateOf(view.Mandate, terms, view.At))
		out.Mandate.Covers = view.MandateCovers()
	}
	if view.Payment != nil {
		out.Payment = new(s.paymentOf(ctx, view))
	}
	for _, action := range view.Actions {
		next := api.Action{Action: api.ActionName(action)}
		if action == "pay" {
			s.addMethods(view, &next)
		}
		out.Next = append(out.Next, next)
	}
	out.Sequence = view.Sequence()
	out.Version = versionOf(out)
	return out
}

func maskedOf(masked flows.Masked) *api.MaskedPerson {
	return &api.MaskedPerson{
		FamilyName: optional(singleLine(masked.FamilyName)),
		BirthYear:  optional(masked.BirthYear),
		Email:      optional(singleLine(masked.Email)),
		Street:     optional(singleLine(masked.Street)),
		PostalCode: optional(singleLine(masked.PostalCode)),
		City:       optional(singleLine(masked.City)),
	}
}

// CreateResumeLink serves POST /v1/registrations/{id}/resume-link.
func (s *Server) CreateResumeLink(
	ctx context.Context, request api.CreateResumeLinkRequestObject,
) (api.CreateResumeLinkResponseObject, error) {
	link, err := s.cfg.Registrations.NewResumeLink(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	return api.CreateResumeLink201JSONResponse{Url: s.hereOf(ctx, link.URL), ExpiresAt: flows.Instant(link.ExpiresAt)}, nil
}

// ResumeRegistration serves POST /v1/resumptions.
func (s *Server) ResumeRegistration(
	ctx context.Context, request api.ResumeRegistrationRequestObject,
) (api.ResumeRegistrationResponseObject, error) {
	view, token, err := s.cfg.Registrations.Resume(ctx, callerOf(ctx).clientToken, request.Body.Resume)
	if err != nil {
		return nil, err
	}
	body, headers := s.withToken(ctx, view, token, request.Params.XFrontdeskSession != nil)
	return api.ResumeRegistration201JSONResponse{Body: body, Headers: api.ResumeRegistration201ResponseHeaders(headers)}, nil
}

// EndSession serves DELETE /v1/registrations/{id}/session. It ends every session of the request: that of its
// token, and that of its cookie.
func (s *Server) EndSession(ctx context.Context, request api.EndSessionRequestObject) (api.EndSessionResponseObject, error) {
	if err := s.cfg.Registrations.EndSession(ctx, request.Id, callerOf(ctx).token); err != nil {
		return nil, err
	}
	cookie, err := exchangeOf(ctx).request.Cookie(s.cookieName(request.Id))
	if err != nil {
		return api.EndSession204Response{}, nil
	}
	if cookie.Value != callerOf(ctx).token {
		if err := s.cfg.Registrations.EndSession(ctx, request.Id, cookie.Value); err != nil && flows.CodeOf(err) != flows.RegistrationNotFound {
			return nil, err
		}
	}
	expired := s.sessionCookie(request.Id, "", -time.Second)
	return api.EndSession204Response{Headers: api.EndSession204ResponseHeaders{SetCookie: &expired}}, nil
}
