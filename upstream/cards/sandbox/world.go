package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	// worldCookie is for browsers, which cannot add a header to a link.
	worldCookie = "frontdesk-world"
	formType    = "application/x-www-form-urlencoded"
	// maxDoorBody is far above what the door needs, and bounds what settings can hold.
	maxDoorBody = 8 << 10
)

// requestedWorld returns the demo world that a request to the door names, by header, parameter or cookie; empty: none.
func requestedWorld(r *http.Request) (string, error) {
	name := cmp.Or(r.Header.Get(worldHeader), r.URL.Query().Get("world"))
	if name == "" {
		if cookie, err := r.Cookie(worldCookie); err == nil {
			name = cookie.Value
		}
	}
	if name != "" && !worldPattern.MatchString(name) {
		return "", errInvalid("invalid_world", "The world must be demo, or demo- and letters, digits, dots, underscores and hyphens.")
	}
	return name, nil
}

func (s *Server) getSettings(w http.ResponseWriter, r *http.Request) {
	name, err := requestedWorld(r)
	respond(w, s.Settings(cmp.Or(name, defaultWorld)), err)
}

// putSettings replaces the settings of the request's demo world, or else of the default world. A member that is left out gets its
// default.
func (s *Server) putSettings(w http.ResponseWriter, r *http.Request) {
	var in Settings
	name, err := requestedWorld(r)
	if err == nil {
		err = readJSON(w, r, &in)
	}
	if err == nil {
		if wrong := s.Configure(cmp.Or(name, defaultWorld), in); wrong != nil {
			err = errInvalid("invalid_settings", wrong.Error()+".")
		}
	}
	respond(w, s.Settings(cmp.Or(name, defaultWorld)), err)
}

// saveSettings takes the form of the merchant's page, and shows the page again.
func (s *Server) saveSettings(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(w, r)
	form, formErr := url.ParseQuery(string(body))
	name := form.Get("world")
	if err == nil && (formErr != nil || mediaType(r.Header) != formType || !worldPattern.MatchString(name)) {
		err = errInvalid("invalid_body", "POST is for the form of the page. Send PUT with JSON.")
	}
	if err != nil {
		respond(w, nil, err)
		return
	}
	in := Settings{
		Webhooks:      WebhookMode(form.Get("webhooks")),
		WebhookURL:    form.Get("webhookUrl"),
		Refunds:       form.Get("refunds"),
		Errors:        form.Get("errors"),
		Confirmations: form.Get("confirmations"),
		Captures:      form.Get("captures"),
		Challenges:    form.Get("challenges"),
		CaptureBefore: form.Get("captureBefore"),
	}
	for member, number := range map[string]*int{"rateLimit": &in.RateLimit, "secrets": &in.Secrets} {
		if *number, err = strconv.Atoi(cmp.Or(form.Get(member), "0")); err != nil {
			s.showOverview(w, name, member+" must be a number or left out")
			return
		}
	}
	if err := s.Configure(name, in); err != nil {
		s.showOverview(w, name, err.Error())
		return
	}
	seeOther(w, "payments?world="+url.QueryEscape(name))
}

// serveReset is POST /reset, of the world that the request names or else of all.
func (s *Server) serveReset(w http.ResponseWriter, r *http.Request) {
	name, err := requestedWorld(r)
	if err != nil {
		respond(w, nil, err)
		return
	}
	s.Reset(name)
	w.WriteHeader(http.StatusNoContent)
}

// doorError is an error of the door, with its HTTP status.
type doorError struct {
	Type        string `json:"type"` // invalid_request, not_found or state_error
	Code        string `json:"code"`
	Message     string `json:"message"`
	DeclineCode string `json:"declineCode,omitempty"`

	status int
}

func (e *doorError) Error() string { return fmt.Sprintf("%d %s: %s", e.status, e.Code, e.Message) }

func errDoor(status int, kind, code, message string) error {
	return &doorError{Type: kind, Code: code, Message: message, status: status}
}

func errInvalid(code, message string) error {
	return errDoor(http.StatusBadRequest, "invalid_request", code, message)
}

func errNoPayment() error {
	return errDoor(http.StatusNotFound, "not_found", "payment_not_found",
		"The payment does not exist. An id begins with pi_, and is the part before _secret_ in the client secret.")
}

func errMediaType() error {
	return errDoor(http.StatusUnsupportedMediaType, "invalid_request", "unsupported_media_type", "The body must be application/json.")
}

// respond writes a value, or the error, which is a doorError.
func respond(w http.ResponseWriter, value any, err error) {
	status := http.StatusOK
	if refused, ok := errors.AsType[*doorError](err); ok {
		status, value = refused.status, map[string]any{"error": refused}
	}
	body, _ := json.Marshal(value) // all values of the door can be encoded
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// seeOther redirects to an address below the request's own, because only the caller knows where the double is mounted.
func seeOther(w http.ResponseWriter, relative string) {
	w.Header().Set("Location", relative)
	w.WriteHeader(http.StatusSeeOther)
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxDoorBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, errDoor(http.StatusRequestEntityTooLarge, "invalid_request", "body_too_large", "The body must have at most 8 KiB.")
	}
	if err != nil {
		return nil, errInvalid("invalid_body", "The body could not be read.")
	}
	return body, nil
}

// readJSON reads one JSON object without unknown members.
func readJSON(w http.ResponseWriter, r *http.Request, into any) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	if mediaType(r.Header) != "application/json" {
		return errMediaType()
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		wrong := strings.TrimPrefix(err.Error(), "json: ")
		if errors.Is(err, io.EOF) {
			wrong = "it is empty"
		}
		return errInvalid("invalid_body", "The body does not match this endpoint: "+wrong+".")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errInvalid("invalid_body", "The body holds more than one JSON value.")
	}
	return nil
}

// mediaType returns the body's type without its parameters; empty: unknown.
func mediaType(header http.Header) string {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	return kind
}

// noRoute replaces the router's own refusal by an error of the door, and keeps its headers.
type noRoute struct {
	http.ResponseWriter
	method string // of the request
}

// WriteHeader writes the error.
func (n *noRoute) WriteHeader(status int) {
	refusal := errDoor(http.StatusNotFound, "not_found", "no_such_path", "The sandbox has no such path.")
	if status == http.StatusMethodNotAllowed {
		refusal = errDoor(status, "invalid_request", "method_not_allowed", "This path does not accept "+n.method+".")
	}
	respond(n.ResponseWriter, nil, refusal)
}

// Write discards the router's text.
func (n *noRoute) Write(b []byte) (int, error) { return len(b), nil }
