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
var networkNodes = []*networkNode{
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
	return visible(nodeByID(id), func(*networkNode) bool { return true })
}

func nodeByID(id int) *networkNode {
	for _, n := range networkNodes {
		if n.id == id {
			return n
		}
	}
	return nil
}

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

// networkNodeRecord renders the node in the shape before or after the announced release
// (club system API, section Versioning): its children are nodes, or their identifiers.
// Some installations have neither, and each node names its parent.
func (w *World) networkNodeRecord(node *networkNode) record {
	below := filter(networkNodes, func(child *networkNode) bool { return child.parent == node.id })
	children := records(below, func(child *networkNode) any {
		if w.settings.NetworkNodeShape == "flat" {
			return w.iri("network_nodes", child.id)
		}
		return w.networkNodeRecord(child)
	})
	members := record{
		"id": node.id, "name": node.name, "alias": orNil(node.alias), "type": node.kind, "clubId": w.iriOrNil("clubs", node.club),
		"children": children,
	}
	if w.settings.NetworkNodeShape == "parent" {
		delete(members, "children")
		members["parent"] = w.iriOrNil("network_nodes", node.parent)
	}
	return w.record("NetworkNode", "network_nodes", node.id, members)
}

// listNetworkNodes: GET network_nodes, every node of the organisation, whatever the
// acting node. The optional filters find the nodes of clubs, or those of a name, an alias or a type.
func listNetworkNodes(call *request) (response, error) {
	query := call.req.query
	names, aliases, kinds := query.all("name"), query.all("alias"), query.all("type")
	clubIDs, err := call.filterIRIs("clubId", "clubs")
	if err != nil {
		return response{}, err
	}
	all := call.w.settings.NetworkNodeShape != "nested" || len(names)+len(aliases)+len(kinds)+len(clubIDs) > 0
	found := filter(networkNodes, func(n *networkNode) bool {
		return (all || n.parent == 0) && wanted(clubIDs, n.club) && wanted(names, n.name) && wanted(aliases, n.alias) && wanted(kinds, n.kind)
	})
	return paginate(call, "NetworkNode", found, call.w.networkNodeRecord)
}
