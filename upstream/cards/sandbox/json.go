package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// maxBody holds the largest metadata in its most wasteful encoding, with room to spare.
const maxBody = 512 << 10

// maxURL is what all browsers and proxies support.
const maxURL = 2048

// readBody reads a request's body, at most maxBody.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, &apiError{Type: typeInvalid, Code: "body_too_large", Message: "The body is too large.", status: http.StatusRequestEntityTooLarge}
	}
	if err != nil {
		return nil, errInvalid("invalid_body", "The body could not be read.")
	}
	return body, nil
}

// decodeJSON reads one JSON object without unknown members.
func decodeJSON(r *http.Request, body []byte, into any) error {
	if mediaType(r) != "application/json" {
		return &apiError{Type: typeInvalid, Code: "unsupported_media_type", Message: "The body must be application/json.", status: http.StatusUnsupportedMediaType}
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return errInvalid("invalid_body", "The body does not fit this path: "+strings.TrimPrefix(err.Error(), "json: ")+".")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errInvalid("invalid_body", "The body holds more than one JSON value.")
	}
	return nil
}

func mediaType(r *http.Request) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// wantsPage tells a browser from a program: only browsers accept text/html.
func wantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// writeJSON encodes before it writes the status.
func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":{"type":"unavailable","code":"internal","message":"The sandbox failed."}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

func writeError(w http.ResponseWriter, err error) {
	known := asAPIError(err)
	if known.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, known.status, errorBody{Error: known})
}

// checkURL accepts an absolute http or https address, or none. The host is limited to plain
// characters because the hosted page's security policy contains it.
func checkURL(member, address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || len(address) > maxURL || (u.Scheme != "http" && u.Scheme != "https") ||
		u.Hostname() == "" || u.User != nil || strings.Trim(u.Host, hostCharacters) != "" {
		return errInvalid("invalid_url", member+" must be an absolute http or https URL without credentials.")
	}
	return nil
}

const hostCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]"
