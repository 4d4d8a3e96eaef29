package rig

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// StatusError is an answer that is no success.
type StatusError struct {
	Request string // method and path
	Status  int
	Body    string
}

// Error says what was asked, and what the answer was.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: status %d: %s", e.Request, e.Status, e.Body)
}

// DoJSON sends a request, and decodes its answer, unless into is nil. An answer that is
// no success is a StatusError.
func DoJSON(client *http.Client, request *http.Request, into any) error {
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return err
	case answer.StatusCode > 299:
		return &StatusError{request.Method + " " + request.URL.Path, answer.StatusCode, string(text)}
	case into == nil:
		return nil
	}
	return json.Unmarshal(text, into)
}
