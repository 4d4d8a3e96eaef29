package clubsim

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// response is the success of an operation: a status and a body to encode. A nil body
// sends none.
type response struct {
	status int
	body   any
}

// encoded is a body that is JSON already.
type encoded []byte

// resource is what all records have in common on the wire.
type resource struct {
	Context string `json:"@context,omitempty"` // only of a record that is a whole response
	IRI     string `json:"@id"`
	Type    string `json:"@type,omitempty"`
}

func (r *resource) setContext() { r.Context = "/contexts/" + r.Type }

func (r response) encode() httpResponse {
	switch body := r.body.(type) {
	case nil:
		return httpResponse{status: r.status}
	case encoded:
		return httpResponse{status: r.status, body: body}
	case interface{ setContext() }:
		body.setContext()
	}
	return httpResponse{status: r.status, body: encode(r.body)}
}

// ok responds 200 with a body.
func ok(body any) (response, error) { return response{http.StatusOK, body}, nil }

// noContent responds 204.
func noContent() (response, error) { return response{status: http.StatusNoContent}, nil }

// created responds 201 with a body, or as the settings of the world say: the API's
// description shows neither the status nor the body of most writes.
func (c *request) created(body any) (response, error) {
	if !c.w.settings.WriteBodies {
		body = nil
	}
	return response{c.w.settings.CreatedStatus, body}, nil
}

// apiError is a refusal with the status, code and text that the club system documents
// (club system API, section Errors).
type apiError struct {
	status     int
	code       string
	message    string
	violations []violation // not empty: a ConstraintViolationList
	header     http.Header
}

// violation names one field that is missing or wrong.
type violation struct {
	PropertyPath string `json:"propertyPath"`
	Message      string `json:"message"`
	Code         string `json:"code,omitempty"`
}

// Error implements error; the text is the one on the wire.
func (e *apiError) Error() string { return e.message }

func failure(status int, code, message string) *apiError {
	return &apiError{status: status, code: code, message: message}
}

// itemNotFound is the documented response to everything that does not exist or may not
// be seen.
func itemNotFound() error { return failure(http.StatusNotFound, "", "Item not found") }

// badRequest is a 400 with a code that concerns no single field.
func badRequest(code, message string) error { return failure(http.StatusBadRequest, code, message) }

// invalid is a 400 that names fields.
func invalid(violations ...violation) error {
	lines := make([]string, len(violations))
	for i, v := range violations {
		lines[i] = v.Message
		if v.PropertyPath != "" {
			lines[i] = v.PropertyPath + ": " + v.Message
		}
	}
	return &apiError{status: http.StatusBadRequest, message: strings.Join(lines, "\n"), violations: violations}
}

// render encodes the error in the shape that the world's settings ask for.
func (e *apiError) render(settings Settings) httpResponse {
	body := map[string]any{}
	switch {
	case settings.ErrorShape == "plain":
		body["status"], body["message"] = e.status, e.message
	case len(e.violations) > 0:
		body["@context"], body["@type"] = "/contexts/ConstraintViolationList", "ConstraintViolationList"
	default:
		body["@context"], body["@type"] = "/contexts/Error", "hydra:Error"
	}
	if settings.ErrorShape != "plain" {
		body["hydra:title"], body["hydra:description"] = "An error occurred", e.message
	}
	if len(e.violations) > 0 {
		body["violations"] = e.violations
	}
	if e.code != "" {
		body["code"] = e.code
	}
	return httpResponse{status: e.status, header: e.header, body: encode(body)}
}

// view links a page to its neighbours; prefixedView is the same in Hydra's form.
type view struct {
	ID       string `json:"@id"`
	Type     string `json:"@type"`
	First    string `json:"first"`
	Last     string `json:"last"`
	Previous string `json:"previous,omitempty"`
	Next     string `json:"next,omitempty"`
}

type prefixedView struct {
	ID       string `json:"@id"`
	Type     string `json:"@type"`
	First    string `json:"hydra:first"`
	Last     string `json:"hydra:last"`
	Previous string `json:"hydra:previous,omitempty"`
	Next     string `json:"hydra:next,omitempty"`
}

// paginate responds with one page of items. page and itemsPerPage are documented for
// every collection (club system API, section Network nodes and other collections).
func paginate[T any](c *request, kind string, items []T) (response, error) {
	page, perPage, err := c.page()
	if err != nil {
		return response{}, err
	}
	pages := max(1, (len(items)+perPage-1)/perPage)
	first := min(len(items), (page-1)*perPage)
	members := items[first:min(len(items), first+perPage)]
	return ok(c.collection(kind, members, len(items), c.view(page, pages)))
}

// collection renders a page in Hydra's form, or in the same without prefixes, as newer
// services of this kind send it. It concatenates the JSON itself, so that members which
// are encoded already are only copied. The kinds and the paths of operations need no
// escaping.
func (c *request) collection(kind string, members any, total int, v view) encoded {
	prefix, links := "", any(v)
	if c.w.settings.HydraPrefix {
		v.Type = "hydra:" + v.Type
		prefix, links = "hydra:", prefixedView(v)
	}
	body := c.w.server.newBody()
	body = append(body, `{"@context":"/contexts/`+kind+`","@id":"`+c.path()+`","@type":"`+prefix+`Collection","`+prefix+`member":`...)
	body = appendMembers(body, members)
	body = append(body, `,"`+prefix+`totalItems":`+itoa(total)+`,"`+prefix+`view":`...)
	return append(append(body, encode(links)...), '}')
}

// appendMembers appends a slice as a JSON array, an empty one as [].
func appendMembers(body []byte, members any) []byte {
	done, ok := members.([]encoded)
	if !ok {
		list := encode(members)
		if string(list) == "null" {
			list = []byte("[]")
		}
		return append(body, list...)
	}
	body = append(body, '[')
	for i, one := range done {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, one...)
	}
	return append(body, ']')
}

// maxPage keeps page × itemsPerPage far from overflow; no list comes near it.
const maxPage = 1_000_000

// page reads the page number and the page size, which the settings limit.
func (c *request) page() (page, perPage int, err error) {
	var wrong []violation
	number := func(name string, missing int) int {
		text := c.req.query.Get(name)
		if text == "" {
			return missing
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			wrong = append(wrong, violation{PropertyPath: name, Message: "This value should be a positive integer."})
			return missing
		}
		return n
	}
	page = number("page", 1)
	perPage = min(number("itemsPerPage", c.w.settings.PageSize), c.w.settings.MaxPageSize)
	if len(wrong) > 0 {
		return 0, 0, invalid(wrong...)
	}
	return page, perPage, nil
}

// view links to the neighbouring pages.
func (c *request) view(page, pages int) view {
	query := maps.Clone(c.req.query)
	link := func(n int) string {
		query["page"] = []string{strconv.Itoa(n)}
		return c.path() + "?" + query.Encode()
	}
	v := view{ID: link(page), Type: "PartialCollectionView", First: link(1), Last: link(pages)}
	if page > 1 {
		v.Previous = link(min(page-1, pages))
	}
	if page < pages {
		v.Next = link(page + 1)
	}
	return v
}
