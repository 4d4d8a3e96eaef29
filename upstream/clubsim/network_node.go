package clubsim

// networkNode is a node of a chain of clubs (club system API, section NetworkNode).
type networkNode struct {
	ID     int    `yaml:"id,omitempty"`
	Name   string `yaml:"name,omitempty"`
	Alias  string `yaml:"alias,omitempty"`  // empty: null on the wire
	Kind   string `yaml:"type,omitempty"`   // group, franchise or club
	Parent int    `yaml:"parent,omitempty"` // zero: the top of a chain
	Club   int    `yaml:"club,omitempty"`   // set for nodes of kind club
	Clubs  []int  `yaml:"clubs,omitempty,flow"`

	parent *networkNode
	path   string // in the file
}

// The kinds of nodes; the third one is franchise.
const (
	nodeGroup = "group"
	nodeClub  = "club"
)

// id is the number of a node; zero for none.
func (n *networkNode) id() int {
	if n == nil {
		return 0
	}
	return n.ID
}

// nodeAt returns a node; nodes are visible from every scope.
func (c *request) nodeAt(id int) (*networkNode, error) {
	return visible(c.w.catalogue.node(id), func(*networkNode) bool { return true })
}

func (n *networkNode) covers(c *club) bool {
	for at := c.node; at != nil; at = at.parent {
		if at == n {
			return true
		}
	}
	return false
}

// top is the chain that the node belongs to.
func (n *networkNode) top() *networkNode {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// networkNodeRecord renders the node in the shape before or after the announced release
// (club system API, section Versioning): its children are nodes, or their identifiers.
// Some installations have neither, and each node names its parent.
func (w *World) networkNodeRecord(node *networkNode) record {
	below := filter(w.catalogue.network, func(child *networkNode) bool { return child.parent == node })
	children := records(below, func(child *networkNode) any {
		if w.settings.NetworkNodeShape == "flat" {
			return w.iri("network_nodes", child.ID)
		}
		return w.networkNodeRecord(child)
	})
	members := record{
		"id": node.ID, "name": node.Name, "alias": orNil(node.Alias), "type": node.Kind, "clubId": w.iriOrNil("clubs", node.Club),
		"children": children,
	}
	if w.settings.NetworkNodeShape == "parent" {
		delete(members, "children")
		members["parent"] = w.iriOrNil("network_nodes", node.parent.id())
	}
	return w.record("NetworkNode", "network_nodes", node.ID, members)
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
	found := filter(call.w.catalogue.network, func(n *networkNode) bool {
		return (all || n.parent == nil) && wanted(clubIDs, n.Club) && wanted(names, n.Name) && wanted(aliases, n.Alias) && wanted(kinds, n.Kind)
	})
	return paginate(call, "NetworkNode", found, call.w.networkNodeRecord)
}
