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

// call is one business request on its way through a world. It lives under the world's lock.
type call struct {
	w       *World
	op      *operation // nil: no such operation
	ids     []int      // the numbers in the path, in order
	allowed []string   // methods that the path knows, when op is nil
	req     *request
	caller  caller
	now     time.Time
	club    *club        // acting club; nil when the operation needs no scope and none was sent
	node    *networkNode // acting node; likewise
}

// serve checks the call in the order in which the club system does, then runs the operation.
func (c *call) serve() (reply, error) {
	if !c.w.granted(c.op) {
		return reply{}, failure(http.StatusForbidden, "api.error.scope.unauthorized-endpoint",
			"This endpoint is not authorised for the client.")
	}
	if err := c.readScope(); err != nil {
		return reply{}, err
	}
	if c.op == nil {
		return reply{}, c.noOperation()
	}
	return c.op.handle(c)
}

func (c *call) noOperation() error {
	if len(c.allowed) == 0 {
		return itemNotFound()
	}
	e := failure(http.StatusMethodNotAllowed, "", "Method Not Allowed")
	e.header = http.Header{"Allow": {strings.Join(c.allowed, ", ")}}
	return e
}

// readScope reads the club and the network node that the call acts for. The
// node may be left out by a club that belongs to no chain. The network nodes
// alone can be read without either, since nobody knows a club before.
func (c *call) readScope() error {
	clubIRI, nodeIRI := c.req.Header.Get(clubHeader), c.req.Header.Get(nodeHeader)
	if clubIRI == "" && nodeIRI == "" && c.op != nil && c.op.unscoped {
		return nil
	}
	clubID, _ := c.w.parseIRI("clubs", clubIRI)
	nodeID, _ := c.w.parseIRI("network_nodes", nodeIRI)
	c.club, c.node = clubByID(clubID), nodeByID(nodeID)
	alone := c.club != nil && c.club.node == 0 && nodeIRI == ""
	if c.club == nil || c.node == nil && !alone || !c.sees(clubID) {
		return itemNotFound()
	}
	return nil
}

// path is the call's path as records name it.
func (c *call) path() string { return "/" + strings.Join(c.req.path, "/") }

// sees reports whether records of a club can be seen: it is within the client's
// scope, and below the acting node (without a node it is the acting club).
func (c *call) sees(clubID int) bool {
	scope := c.w.settings.ClientClubs
	of := clubByID(clubID)
	if of == nil || len(scope) > 0 && !slices.Contains(scope, clubID) {
		return false
	}
	return of == c.club && c.node == nil || c.node != nil && c.node.covers(of)
}

// clubAt returns the club when the call may see it.
func (c *call) clubAt(id int) (*club, error) {
	if !c.sees(id) {
		return nil, itemNotFound()
	}
	return clubByID(id), nil
}

// contactAt returns a contact when the call may see it: its club lies below the
// acting node, and a contact who calls with its own token sees nobody else.
func (c *call) contactAt(id int) (*contact, error) {
	k := c.w.state.Contacts.get(id)
	if k == nil || k.Deleted || !c.sees(k.ClubID) || !c.caller.maySee(id) {
		return nil, itemNotFound()
	}
	return k, nil
}

// saleAt returns a sale when the call may see it.
func (c *call) saleAt(id int) (*sale, error) {
	s := c.w.state.Sales.get(id)
	if s == nil || !c.sees(s.ClubID) {
		return nil, itemNotFound()
	}
	return s, nil
}

// filterIRI reads an identifier from a query parameter: zero when it is not
// sent, an error when it is anything but an identifier of that collection.
func (c *call) filterIRI(name, collection string) (int, error) {
	text := c.req.query.Get(name)
	if text == "" {
		return 0, nil
	}
	id, valid := c.w.parseIRI(collection, text)
	if !valid {
		return 0, itemNotFound()
	}
	return id, nil
}

// granted reports whether the client may call the operation: in the sandbox
// everything, in production what the settings list.
func (w *World) granted(op *operation) bool {
	if !w.settings.ProductionMode {
		return true
	}
	return op != nil && (slices.Contains(w.settings.GrantedEndpoints, op.name) ||
		slices.Contains(w.settings.GrantedEndpoints, op.endpoint()))
}
