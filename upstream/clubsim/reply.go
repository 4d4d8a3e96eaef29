package clubsim

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// reply is an operation's success: a status and a body to encode; a nil body sends none.
type reply struct {
	status int
	body   any
}

func (r reply) answer() answer {
	if r.body == nil {
		return answer{status: r.status}
	}
	return answer{status: r.status, body: encode(r.body)}
}

// ok answers 200 with a body.
func ok(body any) (reply, error) { return reply{http.StatusOK, body}, nil }

// noContent answers 204.
func noContent() (reply, error) { return reply{status: http.StatusNoContent}, nil }

// created answers 201 with a body, or what the settings of the world say
// instead: the description shows neither the status nor the body of most writes.
func (c *call) created(body any) (reply, error) {
	if !c.w.settings.WriteBodies {
		body = nil
	}
	return reply{c.w.settings.CreatedStatus, body}, nil
}

// apiError is a refusal with the status, code and text that the club system
// documents (club system API, section Errors).
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

// Error makes an apiError an error; its text is the one on the wire.
func (e *apiError) Error() string { return e.message }

func failure(status int, code, message string) *apiError {
	return &apiError{status: status, code: code, message: message}
}

// itemNotFound is the documented answer to everything that cannot be found,
// and to everything that may not be seen.
func itemNotFound() error { return failure(http.StatusNotFound, "", "Item not found") }

// badRequest is a 400 with a code and no field to blame.
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

// answer renders the error in the shape that the world's settings ask for.
func (e *apiError) answer(settings Settings) answer {
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
	return answer{status: e.status, header: e.header, body: encode(body)}
}

// collection is a page of a list in Hydra's form.
type collection struct {
	Context string `json:"@context"`
	ID      string `json:"@id"`
	Type    string `json:"@type"`
	Member  any    `json:"hydra:member"`
	Total   int    `json:"hydra:totalItems"`
	View    *view  `json:"hydra:view"`
}

// plainCollection is the same without prefixes, as newer services of this kind send it.
type plainCollection struct {
	Context string `json:"@context"`
	ID      string `json:"@id"`
	Type    string `json:"@type"`
	Member  any    `json:"member"`
	Total   int    `json:"totalItems"`
	View    *view  `json:"view"`
}

type view map[string]string

// paginate answers one page of items. Page and itemsPerPage are documented for
// every collection (club system API, section Network nodes and other collections).
func paginate[T any](c *call, kind string, items []T) (reply, error) {
	page, perPage, err := c.page()
	if err != nil {
		return reply{}, err
	}
	pages := max(1, (len(items)+perPage-1)/perPage)
	first := min(len(items), (page-1)*perPage)
	member := append([]T{}, items[first:min(len(items), first+perPage)]...)
	col := collection{
		Context: "/contexts/" + kind, ID: c.path(), Type: "hydra:Collection",
		Member: member, Total: len(items), View: c.view(page, pages),
	}
	if c.w.settings.HydraPrefix {
		return ok(col)
	}
	col.Type = "Collection"
	return ok(plainCollection(col))
}

// maxPage keeps page × itemsPerPage far from overflow; no list comes near it.
const maxPage = 1_000_000

// page reads the page number and the page size, the latter capped as the settings say.
func (c *call) page() (page, perPage int, err error) {
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
func (c *call) view(page, pages int) *view {
	prefix := ""
	if c.w.settings.HydraPrefix {
		prefix = "hydra:"
	}
	link := func(n int) string {
		query := url.Values{}
		for name, values := range c.req.query {
			query[name] = values
		}
		query.Set("page", strconv.Itoa(n))
		return c.path() + "?" + query.Encode()
	}
	v := view{"@id": link(page), "@type": prefix + "PartialCollectionView", prefix + "first": link(1), prefix + "last": link(pages)}
	if page > 1 {
		v[prefix+"previous"] = link(min(page-1, pages))
	}
	if page < pages {
		v[prefix+"next"] = link(page + 1)
	}
	return &v
}
