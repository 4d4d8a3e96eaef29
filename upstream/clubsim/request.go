package clubsim

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// The scope headers of a business request (club system API, section Authentication).
const (
	clubHeader = "X-User-Club-Id"
	nodeHeader = "X-User-Network-Node-Id"
)

// request is one business request to a world. It exists under the world's lock.
type request struct {
	w      *World
	op     *operation
	ids    []int // the numbers in the path, in order
	req    *httpRequest
	caller caller
	now    time.Time
	club   *club        // acting club; nil when the operation needs no scope and none was sent
	node   *networkNode // acting node; likewise
	wide   bool         // no club was sent, so that a read is of all clubs below the node
}

// serve checks the request in the same order as the club system, then runs the operation.
func (c *request) serve() (response, error) {
	// In the sandbox a client may call every operation, in production those that the settings list.
	if c.w.settings.ProductionMode && !slices.ContainsFunc(c.w.settings.GrantedEndpoints, c.op.isNamed) {
		return response{}, failure(http.StatusForbidden, "api.error.scope.unauthorized-endpoint",
			"This endpoint is not authorised for the client.")
	}
	if err := c.readScope(); err != nil {
		return response{}, err
	}
	if c.op.absent != nil && c.op.absent(c.w.settings) {
		return response{}, itemNotFound()
	}
	sent, needed := mediaType(c.req.Header.Get("Content-Type")), c.w.settings.WriteType
	if c.op.method != http.MethodGet && len(c.req.body) > 0 && needed != "any" && sent != needed {
		return response{}, failure(http.StatusUnsupportedMediaType, "", "This content type is not supported.")
	}
	answer, err := c.op.handle(c)
	if unknown := c.req.query.unknown(); err == nil && c.op.method == http.MethodGet && len(unknown) > 0 && c.w.settings.RefuseFilters {
		return response{}, invalid(unknown...)
	}
	return answer, err
}

// readScope reads the club and the network node that the caller acts for. A header that
// was sent must be right. A missing one has a default where a contact calls with its own
// token. The network nodes can be read without them, because they are where a caller learns
// of clubs.
func (c *request) readScope() error {
	clubIRI, nodeIRI := c.req.Header.Get(clubHeader), c.req.Header.Get(nodeHeader)
	c.club, c.node = c.w.catalogue.club(c.w.parseIRI("clubs", clubIRI)), c.w.catalogue.node(c.w.parseIRI("network_nodes", nodeIRI))
	own := c.w.catalogue.club(c.caller.Club)
	if own != nil && c.club == nil {
		clubIRI, c.club = "", own // the token says which, and collections of requests send an empty variable
	}
	switch {
	case own != nil && c.club != own, clubIRI != "" && !c.w.inScope(c.club), nodeIRI != "" && !c.w.nodeInScope(c.node),
		c.club != nil && c.node != nil && !c.node.covers(c.club):
		return itemNotFound()
	case c.op.unscoped:
		return nil
	}
	c.defaultScope()
	if reads := c.op.method == http.MethodGet; c.club == nil && c.node != nil && reads && c.w.settings.ClubOptional {
		c.wide = true
		all := c.w.catalogue.Clubs
		c.club = all[slices.IndexFunc(all, func(of *club) bool { return c.sees(of.ID) })] // nodeInScope covers one
	}
	if c.club == nil || c.node == nil && c.nodeRequired() || !c.sees(c.club.ID) {
		return itemNotFound()
	}
	return nil
}

// defaultScope fills in what a contact or a club that calls with its own token left out. For a contact these are its own
// club, and the highest node above that, from which a migration between two clubs of the
// chain is visible; a club acts from its own node alone.
func (c *request) defaultScope() {
	if own := c.w.catalogue.club(c.caller.Club); own != nil {
		c.club, c.node = own, own.node
		return
	}
	k := c.w.state.Contacts.get(c.caller.Contact)
	if k == nil {
		return
	}
	if c.club == nil {
		c.club = c.w.catalogue.club(k.ClubID)
	}
	if c.node == nil && c.club.node != nil {
		c.node = c.club.node.top()
	}
}

// nodeRequired reports whether the node header is needed to say which clubs of a chain
// are meant. A club outside any chain, and a client with a single club, need none.
func (c *request) nodeRequired() bool {
	return c.club.node != nil && len(c.w.settings.ClientClubs) != 1
}

func (w *World) inScope(of *club) bool {
	scope := w.settings.ClientClubs
	return of != nil && (len(scope) == 0 || slices.Contains(scope, of.ID))
}

func (w *World) nodeInScope(node *networkNode) bool {
	return node != nil && slices.ContainsFunc(w.catalogue.Clubs, func(of *club) bool { return node.covers(of) && w.inScope(of) })
}

// path is the request's path as records name it.
func (c *request) path() string { return "/" + strings.Join(c.req.path, "/") }

// sees reports whether records of a club are visible: the club is within the client's
// scope, and below the acting node (without a node it is the acting club).
func (c *request) sees(clubID int) bool {
	of := c.w.catalogue.club(clubID)
	if !c.w.inScope(of) {
		return false
	}
	return of == c.club && c.node == nil || c.node != nil && c.node.covers(of)
}

// listed reports whether a list has the records of a club: of the acting one, or of those that a filter names.
func (c *request) listed(clubID int, asked []int) bool {
	if len(asked) > 0 || c.wide {
		return wanted(asked, clubID) && c.sees(clubID)
	}
	return clubID == c.club.ID
}

// visible returns a record, or 404 if it does not exist or the request may not see it.
func visible[T any](found *T, seen func(*T) bool) (*T, error) {
	if found == nil || !seen(found) {
		return nil, itemNotFound()
	}
	return found, nil
}

func (c *request) clubAt(id int) (*club, error) {
	return visible(c.w.catalogue.club(id), func(*club) bool { return c.sees(id) })
}

// contactAt returns a contact that the request may see: its club is below the acting
// node, and a contact that calls with its own token sees only itself.
func (c *request) contactAt(id int) (*contact, error) {
	return visible(c.w.state.Contacts.get(id), func(k *contact) bool { return !k.Deleted && c.sees(k.ClubID) && c.caller.maySee(id) })
}

func (c *request) saleAt(id int) (*sale, error) {
	return visible(c.w.state.Sales.get(id), func(s *sale) bool { return c.sees(s.ClubID) })
}

// filterIRI reads an identifier from a query parameter: zero when it was not sent, an
// error when it is not an identifier of that collection.
func (c *request) filterIRI(name, collection string) (int, error) {
	text := c.req.query.Get(name)
	if text == "" {
		return 0, nil
	}
	id := c.w.parseIRI(collection, text)
	if id == 0 {
		return 0, itemNotFound()
	}
	return id, nil
}

// named returns the record whose identifier a query parameter holds; nil when it was not sent.
func named[T any](c *request, name, collection string, find func(id int) (*T, error)) (*T, error) {
	id, err := c.filterIRI(name, collection)
	if id == 0 {
		return nil, err
	}
	return find(id)
}
