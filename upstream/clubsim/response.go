package clubsim

import (
	"fmt"
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

func (r response) encode() httpResponse {
	if r.body == nil {
		return httpResponse{status: r.status}
	}
	if file, ok := r.body.(pdf); ok {
		return httpResponse{status: r.status, header: http.Header{"Content-Type": {"application/pdf"}}, body: file}
	}
	if single, ok := r.body.(record); ok {
		kind := single["@type"]
		if kind == "Person" {
			kind = "Contact"
		}
		single["@context"] = fmt.Sprint("/contexts/", kind)
	}
	return httpResponse{status: r.status, body: encode(r.body)}
}

func ok(body any) (response, error) { return response{http.StatusOK, body}, nil }

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

func methodNotAllowed(allowed ...string) *apiError {
	e := failure(http.StatusMethodNotAllowed, "", "Method Not Allowed")
	e.header = http.Header{"Allow": {strings.Join(allowed, ", ")}}
	return e
}

// badRequest is a 400 with a code that concerns no single field.
func badRequest(code, message string) error { return failure(http.StatusBadRequest, code, message) }

// invalid is a 400 that names fields.
func invalid(violations ...violation) error {
	lines := records(violations, func(v violation) string { return v.PropertyPath + ": " + v.Message })
	return &apiError{status: http.StatusBadRequest, message: strings.Join(lines, "\n"), violations: violations}
}

// render encodes the error in the shape that the world's settings ask for.
func (e *apiError) render(settings Settings) httpResponse {
	body := record{"@context": "/contexts/Error", "@type": "hydra:Error", "hydra:title": "An error occurred", "hydra:description": e.message}
	switch {
	case settings.ErrorShape == "plain":
		body = record{"status": e.status, "message": e.message}
	case len(e.violations) > 0:
		body["@context"], body["@type"] = "/contexts/ConstraintViolationList", "ConstraintViolationList"
	}
	if len(e.violations) > 0 {
		body["violations"] = e.violations
	}
	if e.code != "" {
		body["code"] = e.code
	}
	return httpResponse{status: e.status, header: e.header, body: encode(body)}
}

// paginate responds with one page of items, in Hydra's form, or in the same without
// prefixes, as newer services of this kind send it. page and itemsPerPage are documented
// for every collection (club system API, section Network nodes and other collections).
func paginate[T, R any](call *request, kind string, items []T, record func(T) R) (response, error) {
	page, perPage, err := call.page()
	if err != nil {
		return response{}, err
	}
	prefix := ""
	if call.w.settings.HydraPrefix {
		prefix = "hydra:"
	}
	viewPrefix := prefix
	if call.w.settings.MixedPrefix {
		viewPrefix = map[string]string{"": "hydra:", "hydra:": ""}[prefix]
	}
	items = inOrder(call.req.query, items, record)
	pages := max(1, (len(items)+perPage-1)/perPage)
	first := min(len(items), (page-1)*perPage)
	members := records(items[first:min(len(items), first+perPage)], record)
	return ok(map[string]any{
		"@context": "/contexts/" + kind, "@id": call.path(), "@type": prefix + "Collection",
		prefix + "member": members, prefix + "totalItems": len(items), viewPrefix + "view": call.view(viewPrefix, page, pages),
	})
}

// records renders records; the result is never null.
func records[T, R any](items []T, record func(T) R) []R {
	rendered := make([]R, len(items))
	for i, item := range items {
		rendered[i] = record(item)
	}
	return rendered
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

// view links a page to its neighbours.
func (c *request) view(prefix string, page, pages int) map[string]string {
	query := maps.Clone(c.req.query.Values)
	link := func(n int) string {
		query["page"] = []string{strconv.Itoa(n)}
		return c.path() + "?" + query.Encode()
	}
	values := map[string]string{
		"@id":            link(page),
		"@type":          prefix + "PartialCollectionView",
		prefix + "first": link(1),
		prefix + "last":  link(pages),
	}
	if page > 1 {
		values[prefix+"previous"] = link(min(page-1, pages))
	}
	if page < pages {
		values[prefix+"next"] = link(page + 1)
	}
	return values
}
