package clubsim

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// MaxClubs is how many clubs WithClubs makes at most.
const MaxClubs = 1000

// WithClubs returns the catalogue with as many clubs: its own, and those of a generated chain. The same number makes the same clubs.
func (c *Catalogue) WithClubs(count int) (*Catalogue, error) {
	if count > MaxClubs {
		return nil, fmt.Errorf("at most %d clubs can be generated", MaxClubs)
	}
	file, lastClub, lastNode := c.CatalogueFile, 0, 0
	if file.Network == nil {
		file.Network = []*networkNode{{Name: "All clubs", Clubs: records(c.Clubs, func(at *club) int { return at.ID })}}
	}
	for _, at := range c.Clubs {
		lastClub = max(lastClub, at.ID)
	}
	for _, n := range c.network {
		lastNode = max(lastNode, n.ID)
	}
	chain := &networkNode{ID: lastNode + 1, Name: chainName, Alias: strings.ToLower(chainName)}
	nodes := make([]*networkNode, len(regions))
	for i, r := range regions {
		nodes[i] = &networkNode{Name: chainName + " " + r.name, Kind: "franchise", Parent: chain.ID}
	}
	file.Clubs = slices.Clone(c.Clubs)
	for i := range count - len(c.Clubs) {
		made := generatedClub(i)
		made.ID = lastClub + i + 1
		file.Clubs, nodes[i%len(nodes)].Clubs = append(file.Clubs, made), append(nodes[i%len(nodes)].Clubs, made.ID)
	}
	nodes = slices.DeleteFunc(nodes, func(n *networkNode) bool { return n.Clubs == nil })
	if len(nodes) > 0 {
		file.Network = append(append(slices.Clone(file.Network), chain), nodes...)
	}
	return ParseCatalogue(file.Encode())
}

// Encode writes a file that ParseCatalogue reads, with the description of its form.
func (f CatalogueFile) Encode() []byte {
	head, _, _ := bytes.Cut(demo, []byte("\nclubs:"))
	body, err := yaml.Marshal(f)
	if err != nil {
		panic(err) // it has only texts, numbers and lists
	}
	return append(append(slices.Clone(head), '\n'), body...)
}

const chainName = "Agora"

// regions of the generated chain, each with towns and the first digits of their postal codes.
var regions = []struct {
	name  string
	towns []string
}{
	{"Île-de-France", []string{"75 Paris", "92 Boulogne", "93 Montreuil", "78 Versailles", "94 Créteil", "95 Cergy"}},
	{"Rhône", []string{"69 Lyon", "38 Grenoble", "42 Saint-Étienne", "74 Annecy", "73 Chambéry", "26 Valence"}},
	{"Provence", []string{"13 Marseille", "06 Nice", "83 Toulon", "84 Avignon", "04 Manosque", "05 Gap"}},
	{"Occitanie", []string{"31 Toulouse", "34 Montpellier", "30 Nîmes", "66 Perpignan", "81 Albi", "65 Tarbes"}},
	{"Aquitaine", []string{"33 Bordeaux", "64 Pau", "87 Limoges", "86 Poitiers", "17 La Rochelle", "16 Angoulême"}},
	{"Bretagne", []string{"35 Rennes", "29 Brest", "56 Lorient", "22 Saint-Brieuc", "44 Nantes", "49 Angers"}},
	{"Nord", []string{"59 Lille", "62 Arras", "80 Amiens", "76 Rouen", "14 Caen", "60 Beauvais"}},
	{"Est", []string{"67 Strasbourg", "68 Mulhouse", "57 Metz", "54 Nancy", "51 Reims", "21 Dijon"}},
}

// quarters of a town, where a chain has its first, second, … club.
var quarters = []string{"Centre", "Gare", "Nord", "Sud", "Parc", "Halles", "Est", "Ouest", "Port", "Université", "Mairie", "Stade"}

// generatedClub is club number i of the generated chain, without an id.
func generatedClub(i int) *club {
	region := regions[i%len(regions)]
	i /= len(regions)
	code, town, _ := strings.Cut(region.towns[i%len(region.towns)], " ")
	i /= len(region.towns)
	quarter := quarters[i%len(quarters)]
	if again := i/len(quarters) + 1; again > 1 {
		quarter += fmt.Sprintf(" %d", again)
	}
	return &club{
		Name:      chainName + " " + town + " " + quarter,
		Address:   address{"FR", town, fmt.Sprintf("%s%03d", code, 10*i), fmt.Sprintf("%d rue du Stade", 2*i+1)},
		DebitDays: []int{5, 15, 25},
		Notice:    "P1M",
		DebtLimit: 5000,
	}
}
