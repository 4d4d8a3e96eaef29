package probe_test

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/probe"
)

// catalogueFile is the part of a catalogue that reads show.
type catalogueFile struct {
	Clubs    []map[string]any
	Network  []map[string]any
	Products []product
}

type product struct {
	ID                   int
	Name, Type, Validity string
	Description          string
	Restrictions         map[string]any
	Offers               []map[string]any
	Includes             []map[string]any
	TaxRate              int `yaml:"taxRate"`
}

func (i *installation) catalogue(calls int) (string, probe.CatalogueSeen, error) {
	file, seen, err := probe.Catalogue(i.t.Context(), i.config(calls))
	return string(file), seen, err
}

// TestCatalogueOfAnInstallation: the file that is read from a simulator with the demo is the demo's, as far as someone whom the clubs do
// not know can see it, and it reads the same again from a simulator with that file.
func TestCatalogueOfAnInstallation(t *testing.T) {
	demo := install(t, nil)
	file, seen, err := demo.catalogue(0)
	if err != nil {
		t.Fatalf("%v in %s", err, file)
	}
	if seen.Clubs != 5 || seen.Left != 0 || seen.Halted != nil { // one club is in no chain
		t.Errorf("seen: %s", seen)
	}
	read, was := parse(t, file), parse(t, string(clubsim.Demo().Source()))
	for i, at := range read.Clubs {
		for _, name := range []string{"id", "code", "name", "phone"} {
			if at[name] != was.Clubs[i][name] {
				t.Errorf("%s of club %d is %v, want %v", name, i, at[name], was.Clubs[i][name])
			}
		}
		if !equal(at["debitDays"], was.Clubs[i]["debitDays"]) || !equal(at["address"], was.Clubs[i]["address"]) {
			t.Errorf("club %v, want %v", at, was.Clubs[i])
		}
	}
	if len(read.Network) != 8 || read.Network[1]["alias"] != "lumen-paris" || read.Network[2]["parent"] != 2 {
		t.Errorf("the network is %v", read.Network)
	}
	for _, known := range was.Products {
		at := slices.IndexFunc(read.Products, func(p product) bool { return p.ID == known.ID })
		_, tagged := known.Restrictions["tags"]
		_, seasonal := known.Restrictions["months"]
		if at < 0 {
			if !tagged && !seasonal {
				t.Errorf("%s is missing", known.Name)
			}
			continue
		}
		found := read.Products[at]
		for _, restriction := range []string{"clubs", "channels"} {
			if !equal(found.Restrictions[restriction], known.Restrictions[restriction]) {
				t.Errorf("%s is restricted to the %s %v", known.Name, restriction, found.Restrictions[restriction])
			}
		}
		if found.Name != known.Name || found.Type != known.Type || found.Validity != known.Validity || found.Description != known.Description ||
			len(found.Includes) != len(known.Includes) || len(found.Offers) != len(known.Offers) {
			t.Errorf("%+v\nis read as\n%+v", known, found)
		}
		if _, debited := found.Offers[0]["debits"]; debited != (found.TaxRate == 20) {
			t.Errorf("%s has a tax of %d %%", known.Name, found.TaxRate)
		}
	}
	own, err := clubsim.ParseCatalogue([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	demo.world.SetCatalogue(own)
	if again, _, err := demo.catalogue(0); err != nil || again != file {
		t.Errorf("it is read as another file: %v", err)
	}
	if strings.Contains(file, "\npersons:") {
		t.Error("the file has persons")
	}
}

// TestCatalogueInPart: a catalogue that needs more calls than are allowed has what was read, and says so.
func TestCatalogueInPart(t *testing.T) {
	file, seen, err := install(t, nil).catalogue(12)
	if err != nil || seen.Halted == nil || seen.Clubs == 0 || seen.Left == 0 || len(parse(t, file).Clubs) != seen.Clubs {
		t.Errorf("%s, %v", seen, err)
	}
}

func parse(t *testing.T, file string) (read catalogueFile) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(file), &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// equal compares two values of a file.
func equal(a, b any) bool {
	one, _ := yaml.Marshal(a)
	other, _ := yaml.Marshal(b)
	return string(one) == string(other)
}
