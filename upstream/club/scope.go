package club

import (
	"net/url"
	"reflect"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
)

// IRI identifies a record: a path of the form /{client_token}/<collection>/<id>, such as
// "/demo/clubs/11". The club system does not accept a bare id instead. An IRI is never shown
// to a visitor. The segments of a malformed IRI are empty.
type IRI string

// NewIRI joins the segments of an IRI.
func NewIRI(clientToken, collection, id string) IRI {
	return IRI("/" + clientToken + "/" + collection + "/" + id)
}

// NoID is the id of no record: the highest number of 32 bits, which fits every installation. In production, some take 0 for a path
// that they do not have.
const NoID = "2147483647"

// ID is the last segment, "11" in /demo/clubs/11.
func (i IRI) ID() string {
	_, _, id := i.split()
	return id
}

// Collection is the middle segment, "clubs" in /demo/clubs/11.
func (i IRI) Collection() string {
	_, collection, _ := i.split()
	return collection
}

// ClientToken is the first segment, "demo" in /demo/clubs/11.
func (i IRI) ClientToken() string {
	token, _, _ := i.split()
	return token
}

func (i IRI) split() (clientToken, collection, id string) {
	rest, rooted := strings.CutPrefix(string(i), "/")
	clientToken, rest, _ = strings.Cut(rest, "/")
	collection, id, _ = strings.Cut(rest, "/")
	if !rooted || !isSegment(clientToken) || !isSegment(collection) || !isSegment(id) {
		return "", "", ""
	}
	return clientToken, collection, id
}

// isSegment reports whether s can be one segment of a path and nothing else.
func isSegment(segment string) bool {
	for i := range len(segment) {
		if b := segment[i]; b <= ' ' || b >= 0x7f || strings.IndexByte("/?#%\\", b) >= 0 {
			return false
		}
	}
	return segment != "" && segment != "." && segment != ".."
}

// slashes are what some installations write between the segments of an IRI.
var slashes = regexp.MustCompile(`//+`)

// UnmarshalJSON reads an IRI, or the @id of a record that the club system embeds instead.
func (i *IRI) UnmarshalJSON(data []byte) (err error) {
	var embedded struct {
		ID string `json:"@id"` // not an IRI, which could embed another one, and so on
	}
	switch data[0] {
	case '"':
		err = unmarshal(data, &embedded.ID)
	case '{':
		err = unmarshal(data, &embedded)
	case 'n':
		return nil
	default:
		err = &json.SemanticError{GoType: reflect.TypeFor[IRI]()}
	}
	*i = IRI(slashes.ReplaceAllString(embedded.ID, "/"))
	return err
}

// Scope is on whose behalf a call acts; club system API, section Authentication.
type Scope struct {
	// ClientToken is the organisation; it is the first segment of every path.
	ClientToken string
	// Club is the club whose data is read or stored. Empty: the header is not sent, which
	// only reads of the whole chain accept.
	Club IRI
	// Node is the network node to act from: the club's own, or for a call that concerns two
	// clubs their nearest common ancestor (Network.CommonAncestor). Empty: the header is not
	// sent, which an organisation of one club accepts.
	Node IRI
}

// valid reports whether club and node, where given, belong to the organisation.
func (s Scope) valid() bool {
	return (s.Club == "" || s.Club.ClientToken() == s.ClientToken) &&
		(s.Node == "" || s.Node.ClientToken() == s.ClientToken)
}

// path fills a path template of the API's description, such as "sales/{id}/check", with the
// id of a record, and returns it with the client token in front. It is empty when the
// record belongs to another organisation or collection: a contact and a sale may have the
// same number, and the wrong one would be read or paid.
func (s Scope) path(template string, record IRI) string {
	if !isSegment(s.ClientToken) {
		return ""
	}
	before, after, found := strings.Cut(template, "/{id}")
	if found {
		named := before[strings.LastIndex(before, "/")+1:]
		token, collection, id := record.split()
		// One path of the API is singular where its IRI is plural: sale/{id}/update_contact.
		if token != s.ClientToken || collection != named && collection != named+"s" {
			return ""
		}
		before += "/" + url.PathEscape(id)
	}
	return "/" + url.PathEscape(s.ClientToken) + "/" + before + after
}
