package clubsim

// networkNode is a node of a chain of clubs (club system API, section NetworkNode).
type networkNode struct {
	id     int
	name   string
	alias  string // empty: null on the wire
	kind   string // group, franchise or club
	parent int    // zero: the top of a chain
	club   int    // set for nodes of kind club
}

// networkNodes are the two chains of the demo organisation. One of them has a
// franchise between the group and two of its clubs.
var networkNodes = []networkNode{
	{id: 1, name: "Lumen Fitness", alias: "lumen", kind: "group"},
	{id: 2, name: "Lumen Paris", alias: "lumen-paris", kind: "franchise", parent: 1},
	{id: 3, name: "Lumen Bastille", alias: "bastille", kind: "club", parent: 2, club: 11},
	{id: 4, name: "Lumen Batignolles", alias: "batignolles", kind: "club", parent: 2, club: 12},
	{id: 5, name: "Lumen Lyon Confluence", kind: "club", parent: 1, club: 13},
	{id: 6, name: "Nordlicht Studios", alias: "nordlicht", kind: "group"},
	{id: 7, name: "Nordlicht Lille", alias: "lille", kind: "club", parent: 6, club: 21},
	{id: 8, name: "Nordlicht Nantes", alias: "nantes", kind: "club", parent: 6, club: 22},
}

// nodeAt returns a node; nodes are visible from every scope.
func (c *request) nodeAt(id int) (*networkNode, error) {
	if n := nodeByID(id); n != nil {
		return n, nil
	}
	return nil, itemNotFound()
}

// nodeByID returns a node, nil when there is none.
func nodeByID(id int) *networkNode {
	for i := range networkNodes {
		if networkNodes[i].id == id {
			return &networkNodes[i]
		}
	}
	return nil
}

// covers reports whether a club belongs to the node or to one below it.
func (n *networkNode) covers(c *club) bool {
	for at := nodeByID(c.node); at != nil; at = nodeByID(at.parent) {
		if at.id == n.id {
			return true
		}
	}
	return false
}

// top is the chain that the node belongs to.
func (n *networkNode) top() *networkNode {
	for n.parent != 0 {
		n = nodeByID(n.parent)
	}
	return n
}

func (n *networkNode) children() []*networkNode {
	var below []*networkNode
	for i := range networkNodes {
		if networkNodes[i].parent == n.id {
			below = append(below, &networkNodes[i])
		}
	}
	return below
}

type networkNodeRecord struct {
	resource
	ID       int     `json:"id"`
	Name     string  `json:"name"`
	Alias    *string `json:"alias"`
	Kind     string  `json:"type"`
	ClubID   *string `json:"clubId"`
	Children []any   `json:"children"` // nested nodes, or the IRIs of the children
}

// networkNodeRecord renders the node in the shape before or after the announced release
// (club system API, section Versioning).
func (w *World) networkNodeRecord(n *networkNode) *networkNodeRecord {
	r := &networkNodeRecord{
		resource: w.resource("NetworkNode", "network_nodes", n.id), ID: n.id, Name: n.name, Alias: textOrNil(n.alias),
		Kind: n.kind, ClubID: w.iriOrNil("clubs", n.club), Children: []any{},
	}
	for _, child := range n.children() {
		if w.settings.NetworkNodeShape == "flat" {
			r.Children = append(r.Children, w.iri("network_nodes", child.id))
		} else {
			r.Children = append(r.Children, w.networkNodeRecord(child))
		}
	}
	return r
}

// listNetworkNodes: GET network_nodes, every node of the organisation, whatever the
// acting node. The optional filter clubId finds the node of a club.
func listNetworkNodes(c *request) (response, error) {
	clubID, err := c.filterIRI("clubId", "clubs")
	if err != nil {
		return response{}, err
	}
	var found []*networkNode
	flat := c.w.settings.NetworkNodeShape == "flat"
	for i := range networkNodes {
		n := &networkNodes[i]
		if clubID == n.club && clubID != 0 || clubID == 0 && (flat || n.parent == 0) {
			found = append(found, n)
		}
	}
	return paginate(c, "NetworkNode", found, c.w.networkNodeRecord)
}
