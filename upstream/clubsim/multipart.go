package clubsim

import (
	"bytes"
	"mime/multipart"
	"net/url"
)

// multipartFields reads the plain fields of multipart form data, the second encoding of
// token requests.
func multipartFields(body []byte, boundary string) (url.Values, error) {
	if boundary == "" {
		return nil, errNoForm
	}
	form, err := multipart.NewReader(bytes.NewReader(body), boundary).ReadForm(maxBody)
	if err != nil {
		return nil, errNoForm
	}
	defer func() { _ = form.RemoveAll() }() // nothing is on disk: the body is below the memory limit
	return form.Value, nil
}
