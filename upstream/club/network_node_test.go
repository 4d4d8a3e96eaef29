package club_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"frontdesk/upstream/club"
)

// node encodes a network node; children are the numbers of IRIs, or encoded nodes.
func node(id int, kind string, children ...any) string {
	var parts []string
	for _, child := range children {
		switch child := child.(type) {
		case int:
			parts = append(parts, strconv.Quote("/demo/network_nodes/"+strconv.Itoa(child)))
		case string:
			parts = append(parts, child)
		}
	}
	n, clubID := strconv.Itoa(id), "null"
	if kind == "club" {
		clubID = `"/demo/clubs/` + n + `"`
	}
	return `{"@id": "/demo/network_nodes/` + n + `", "id": ` + n + `, "name": "N` + n + `", "alias": null, "type": "` + kind +
		`", "clubId": ` + clubID + `, "children": [` + strings.Join(parts, ",") + `]}`
}

func members(nodes ...string) string { return `{"hydra:member": [` + strings.Join(nodes, ",") + `]}` }

func clubIRI(id int) club.IRI { return club.NewIRI("demo", "clubs", strconv.Itoa(id)) }

// shape formats a network: its clubs in order, each with the ids from the root down.
func shape(n *club.Network) string {
	var lines []string
	for _, own := range n.Clubs() {
		var ids []string
		for _, at := range n.Path(own.Club) {
			ids = append(ids, at.IRI.ID())
		}
		lines = append(lines, own.Club.ID()+":"+strings.Join(ids, "/"))
	}
	return strings.Join(lines, " ")
}

func TestNetworkShapes(t *testing.T) {
	nested := node(1, "group", node(2, "franchise", node(3, "club"), node(4, "club")), node(5, "club"))
	tests := map[string]struct{ body, want string }{
		"nested": {members(nested, node(6, "group", node(7, "club"))), "3:1/2/3 4:1/2/4 5:1/5 7:6/7"},
		"flat": {
			members(node(1, "group", 2, 5), node(2, "franchise", 3, 4), node(3, "club"), node(4, "club"), node(5, "club")),
			"3:1/2/3 4:1/2/4 5:1/5",
		},
		"flat, children first": {members(node(3, "club"), node(2, "franchise", 3), node(1, "group", 2)), "3:1/2/3"},
		"both at once": {
			members(nested, node(2, "franchise", 3, 4, 9), node(3, "club"), node(9, "club", 8)),
			"3:1/2/3 4:1/2/4 5:1/5 9:1/2/9",
		},
		"missing child":       {members(node(1, "group", 2, 99), node(2, "club")), "2:1/2"},
		"missing parent":      {members(node(2, "club")), "2:2"},
		"own child":           {members(node(1, "group", 1, 2), node(2, "club", 2)), "2:1/2"},
		"circle":              {members(node(1, "group", 2), node(2, "group", 3), node(3, "club", 1)), "3:1/2/3"},
		"circle below a root": {members(node(9, "group", 1), node(1, "group", 2), node(2, "club", 1)), "2:9/1/2"},
		"two parents":         {members(node(1, "group", 3), node(2, "group", 3), node(3, "club")), "3:1/3"},
		"children null":       {members(strings.Replace(node(3, "club"), "[]", "null", 1)), "3:3"},
		"no children":         {members(`{"@id": "/demo/network_nodes/3", "type": "club", "clubId": "/demo/clubs/3"}`), "3:3"},
		"without an IRI":      {members(`{"type": "club", "clubId": "/demo/clubs/3"}`, node(4, "club")), "4:4"},
		"embedded club":       {members(`{"@id": "/demo/network_nodes/3", "type": "club", "clubId": {"@id": "/demo/clubs/3"}}`), "3:3"},
		"without prefix":      {`{"member": [` + nested + `]}`, "3:1/2/3 4:1/2/4 5:1/5"},
		"bare array":          {`[` + nested + `]`, "3:1/2/3 4:1/2/4 5:1/5"},
		"empty":               {members(), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			u := serve(t, answering(200, tt.body))
			n := must[*club.Network](t)(club.New(configured(u.URL)).NetworkNodes(t.Context(), demo))
			if got := shape(n); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestCommonAncestor(t *testing.T) {
	body := members(
		node(1, "group", node(2, "franchise", node(3, "club"), node(4, "club")), node(5, "club")),
		node(6, "group", node(7, "club")),
	)
	u := serve(t, answering(200, body))
	network := must[*club.Network](t)(club.New(configured(u.URL)).NetworkNodes(t.Context(), demo))
	for _, tt := range []struct {
		a, b int
		want string
	}{{3, 4, "2"}, {4, 3, "2"}, {3, 5, "1"}, {3, 3, "3"}, {3, 7, ""}, {3, 99, ""}, {99, 99, ""}} {
		got, ok := network.CommonAncestor(clubIRI(tt.a), clubIRI(tt.b))
		if got.ID() != tt.want || ok != (tt.want != "") {
			t.Errorf("clubs %d and %d: %q, %v, want %q", tt.a, tt.b, got, ok, tt.want)
		}
	}
	if own, ok := network.NodeOf(clubIRI(4)); !ok || own.Name != "N4" || own.Type != "club" {
		t.Errorf("node of club 4: %+v, %v", own, ok)
	}
	if own, ok := network.NodeOf(""); ok {
		t.Errorf("node of no club: %+v", own)
	}
	if path := network.Path(clubIRI(99)); len(path) != 0 {
		t.Errorf("path of an unknown club: %v", path)
	}
	if !slices.Equal(network.Path(clubIRI(3))[0].Children, []club.IRI{"/demo/network_nodes/2", "/demo/network_nodes/5"}) {
		t.Errorf("children of the root: %v", network.Path(clubIRI(3))[0].Children)
	}
}
