package probe

import (
	"bytes"
	"io"
	"net/http"
)

// handlerTransport sends requests to a handler in the same process.
type handlerTransport struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (t handlerTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body == nil {
		request.Body = http.NoBody // as a server does
	}
	written := &writtenResponse{header: http.Header{}, status: http.StatusOK}
	t.ServeHTTP(written, request)
	return &http.Response{
		StatusCode: written.status,
		Header:     written.header,
		Body:       io.NopCloser(&written.body),
		Request:    request,
	}, nil
}

// writtenResponse is a http.ResponseWriter.
type writtenResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *writtenResponse) Header() http.Header               { return w.header }
func (w *writtenResponse) WriteHeader(status int)            { w.status = status }
func (w *writtenResponse) Write(content []byte) (int, error) { return w.body.Write(content) }
