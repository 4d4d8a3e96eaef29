package club

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// NetworkNode is a node of a chain of clubs: a group, a franchise or a club.
type NetworkNode struct {
	IRI      IRI
	Name     string
	Alias    string // empty: none
	Type     string // group, franchise, club
	Club     IRI    // empty unless the node is a club
	Children []IRI  // as the club system sent them; some may not exist
}

// Network is the network nodes of an organisation. Each node is in it once. A node that the
// club system lists below several others belongs to the first of them, and a link that
// would close a circle is left out.
type Network struct {
	nodes  []NetworkNode // in document order
	index  map[IRI]int
	parent map[IRI]IRI
}

// NetworkNodes reads the chain; club system API, sections Network nodes and Versioning. It
// reads both documented forms: nodes nested in their parents, and all nodes in one list
// with the IRIs of their children. In a third form, each node of the list has the IRI of its parent.
func (c *Client) NetworkNodes(ctx context.Context, scope Scope) (*Network, error) {
	roots, err := list[wireNode](ctx, c, get("NetworkNodes", scope, "network_nodes", ""))
	if err != nil {
		return nil, err
	}
	network := &Network{index: make(map[IRI]int), parent: make(map[IRI]IRI)}
	network.add(roots)
	for _, node := range roots {
		network.adopt(node.Parent.value, node.IRI)
	}
	network.linkAll()
	if len(network.nodes) > maxRecords {
		return nil, unbounded("NetworkNodes")
	}
	if left := leftOut(roots); len(left) > 0 && len(network.Clubs()) == 0 {
		return nil, unreadable("NetworkNodes", left[0])
	}
	return network, nil
}

// wireNode is the JSON of a node. As a child it may be only its IRI.
type wireNode struct {
	nodeFields
	children records[wireNode]

	reference bool
	err       *DecodeError // why the node itself cannot be read; its children stay
}

type nodeFields struct {
	IRI   IRI    `json:"@id"`
	Name  string `json:"name"`
	Alias string `json:"alias"`
	Type  string `json:"type"`
	Club  IRI    `json:"clubId"`

	Parent lenient[IRI] `json:"parent"` // in a list without children
}

// maxNodeDepth is how deeply the JSON of a node may be nested: ten times as deeply as that of a group with franchises. Each level of nodes
// is a copy of all that is below it.
const maxNodeDepth = 60

// deeper reports whether JSON is nested more deeply.
func deeper(data []byte, depth int) bool {
	decoder := jsontext.NewDecoder(bytes.NewReader(data), asWritten)
	for {
		if _, err := decoder.ReadToken(); err != nil {
			return false // the end, or an error that is found when it is decoded
		}
		if decoder.StackDepth() > depth {
			return true
		}
	}
}

// UnmarshalJSON reads a node in either form.
func (w *wireNode) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		w.reference = true
		return unmarshal(data, &w.IRI)
	}
	if deeper(data, maxNodeDepth) {
		return &DecodeError{Field: "children", Want: "nested less deeply"}
	}
	var below struct {
		Children records[wireNode] `json:"children"`
	}
	if err := unmarshal(data, &below); err != nil {
		return err
	}
	w.children = below.Children
	err := decodeError(unmarshal(data, &w.nodeFields))
	if len(w.children) == 0 {
		return err
	}
	w.err, _ = errors.AsType[*DecodeError](err)
	return nil
}

func (w *wireNode) unreadable() (left []*DecodeError) {
	if w.err != nil {
		left = append(left, w.err)
	}
	for _, child := range w.children.unreadable() {
		left = append(left, child.within("children"))
	}
	return left
}

// leftOut returns why nodes, or nodes below them, cannot be read.
func leftOut(nodes []wireNode) (left []*DecodeError) {
	for i := range nodes {
		left = append(left, nodes[i].unreadable()...)
	}
	return left
}

// MarshalJSON writes the nodes, for caches.
func (n *Network) MarshalJSON() ([]byte, error) { return json.Marshal(n.nodes) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Network) UnmarshalJSON(data []byte) error {
	*n = Network{index: make(map[IRI]int), parent: make(map[IRI]IRI)}
	if err := unmarshal(data, &n.nodes); err != nil {
		return err
	}
	for i, node := range n.nodes {
		n.index[node.IRI] = i
	}
	n.linkAll()
	return nil
}

// add adds nodes and the nodes nested in them, parents first.
func (n *Network) add(nodes []wireNode) {
	for _, wire := range nodes {
		children := wire.children.readable()
		if wire.reference || wire.IRI == "" || wire.err != nil {
			n.add(children)
			continue
		}
		at, known := n.index[wire.IRI]
		if !known {
			at = len(n.nodes)
			n.index[wire.IRI] = at
			n.nodes = append(n.nodes, NetworkNode{
				IRI:   wire.IRI,
				Name:  wire.Name,
				Alias: wire.Alias,
				Type:  wire.Type,
				Club:  wire.Club,
			})
		}
		for _, child := range children {
			n.adopt(n.nodes[at].IRI, child.IRI)
		}
		n.add(children)
	}
}

// adopt adds a child to a node, if that is known.
func (n *Network) adopt(parent, child IRI) {
	at, known := n.index[parent]
	if known && !slices.Contains(n.nodes[at].Children, child) {
		n.nodes[at].Children = append(n.nodes[at].Children, child)
	}
}

// linkAll makes each node the parent of its children, unless a child is missing, has a parent
// already, or is above the node.
func (n *Network) linkAll() {
	for _, node := range n.nodes {
		for _, child := range node.Children {
			_, known := n.index[child]
			_, taken := n.parent[child]
			if known && !taken && !slices.Contains(n.ancestors(node.IRI), child) {
				n.parent[child] = node.IRI
			}
		}
	}
}

// ancestors returns a node and all above it, the root last.
func (n *Network) ancestors(node IRI) (line []IRI) {
	for ; node != ""; node = n.parent[node] {
		line = append(line, node)
	}
	return line
}

// Clubs returns the nodes that are clubs, in the order of the document.
func (n *Network) Clubs() []NetworkNode {
	return slices.DeleteFunc(slices.Clone(n.nodes), func(node NetworkNode) bool { return node.Club == "" })
}

// NodeOf returns the node of a club.
func (n *Network) NodeOf(club IRI) (NetworkNode, bool) {
	for _, node := range n.nodes {
		if node.Club == club && club != "" {
			return node, true
		}
	}
	return NetworkNode{}, false
}

// Path returns the nodes from the root down to the club's own; nil when the club is not in
// the network.
func (n *Network) Path(club IRI) (path []NetworkNode) {
	own, _ := n.NodeOf(club)
	for _, iri := range slices.Backward(n.ancestors(own.IRI)) {
		path = append(path, n.nodes[n.index[iri]])
	}
	return path
}

// CommonAncestor returns the lowest node above two clubs, from which a call that concerns
// both must act. For a club and itself it is the club's own node. False when the clubs
// belong to different chains.
func (n *Network) CommonAncestor(a, b IRI) (common IRI, found bool) {
	pathA, pathB := n.Path(a), n.Path(b)
	for i := range min(len(pathA), len(pathB)) { // below the first difference nothing is shared
		if pathA[i].IRI == pathB[i].IRI {
			common, found = pathA[i].IRI, true
		}
	}
	return common, found
}
