package oldsandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/upstream/cards"
)

const (
	// maxBody holds the largest metadata in its most wasteful encoding, with room to spare.
	maxBody = 512 << 10

	// maxURL is what all browsers and proxies support.
	maxURL = 2048
)

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, newError(http.StatusRequestEntityTooLarge, typeInvalid, "body_too_large", "The body is too large.")
	}
	if err != nil {
		return nil, errInvalid("invalid_body", "The body could not be read.")
	}
	return body, nil
}

func readJSON(w http.ResponseWriter, r *http.Request, into any) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	return decodeJSON(r, body, into)
}

// decodeJSON reads one JSON object without unknown members.
func decodeJSON(r *http.Request, body []byte, into any) error {
	if mediaType(r) != "application/json" {
		return newError(http.StatusUnsupportedMediaType, typeInvalid, "unsupported_media_type", "The body must be application/json.")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return errInvalid("invalid_body", "The body does not match this endpoint: "+strings.TrimPrefix(err.Error(), "json: ")+".")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errInvalid("invalid_body", "The body holds more than one JSON value.")
	}
	return nil
}

// mediaType returns the body's type without its parameters; empty: unknown.
func mediaType(r *http.Request) string {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind
}

// wantsPage reports whether the caller is a browser: only browsers accept text/html.
func wantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

func respond(w http.ResponseWriter, status int, value any, err error) {
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, status, value)
}

// account is whose payments a sandbox holds.
type account struct {
	ID string `json:"id"`
}

func (s *Server) showAccount(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, account{s.cfg.BaseURL})
}

// writeJSON writes a value of this package, all of which can be encoded.
func writeJSON(w http.ResponseWriter, status int, value any) {
	body, _ := json.Marshal(value)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// checkDescription accepts one line of at most cards.MaxDescription characters.
func checkDescription(text string) error {
	if utf8.RuneCountInString(text) > cards.MaxDescription || strings.ContainsFunc(text, unicode.IsControl) {
		return errInvalid("invalid_description", fmt.Sprintf("description must be one line of at most %d characters.", cards.MaxDescription))
	}
	return nil
}

// checkURL accepts an absolute http or https address, or none. The host is limited to plain
// characters because the hosted page's security policy contains it.
func checkURL(member, address string) error {
	const hostCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]"
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	isApp := err == nil && strings.Contains(u.Scheme, ".") && u.Opaque == ""
	if err != nil || len(address) > maxURL || (u.Scheme != "http" && u.Scheme != "https" && !isApp) ||
		u.Hostname() == "" && !isApp || u.User != nil || strings.Trim(u.Host, hostCharacters) != "" {
		return errInvalid("invalid_url", member+" must be an absolute http or https URL without credentials.")
	}
	return nil
}
