package mock

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"frontdesk/upstream/clubsim"
)

// CatalogueFile is where the catalogue of the simulator's worlds comes from.
type CatalogueFile struct {
	Path  string // empty: the demo
	Clubs int    // how many clubs it has at least: the missing ones are generated
}

// Read reads the catalogue. Its error has a line for each mistake.
func (f CatalogueFile) Read() (*clubsim.Catalogue, error) {
	catalogue := clubsim.Demo()
	if f.Path != "" {
		content, err := os.ReadFile(f.Path)
		if err != nil {
			return nil, err
		}
		if catalogue, err = clubsim.ParseCatalogue(content); err != nil {
			return nil, err
		}
	}
	if f.Clubs > 0 {
		return catalogue.WithClubs(f.Clubs)
	}
	return catalogue, nil
}

// catalogueLook is how often the file of a catalogue is looked at.
const catalogueLook = time.Second

// WatchCatalogue reads the file of the catalogue again when it has changed, until ctx ends. The worlds keep what they have when the
// new one has mistakes, which are logged.
func (s *Server) WatchCatalogue(ctx context.Context, file CatalogueFile) {
	last := stamp(file.Path)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.cfg.After(catalogueLook):
		}
		if now := stamp(file.Path); now != last && now != (time.Time{}) {
			last = now
			s.reload(file)
		}
	}
}

// stamp is when a file was changed; zero if it cannot be found, as while an editor replaces it.
func stamp(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (s *Server) reload(file CatalogueFile) {
	catalogue, err := file.Read()
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			s.cfg.Log.Error("the former catalogue stays: " + file.Path + ": " + strings.TrimSpace(line))
		}
		return
	}
	worlds := s.club.SetCatalogue(catalogue)
	s.cfg.Log.Info("the catalogue was read again: " + file.Path)
	for _, world := range worlds {
		s.forgetCaches(world)
	}
}

// ClubsOf is what the operator of a catalogue's clubs tells about them: Clubs, without its entries for clubs, products and offers
// that the catalogue does not have under the demo's name.
func ClubsOf(catalogue *clubsim.Catalogue) string {
	if catalogue == clubsim.Demo() {
		return Clubs
	}
	var told struct {
		Defaults map[string]any `yaml:"defaults" json:"defaults"`
		Clubs    map[string]any `yaml:"clubs"    json:"clubs"`
	}
	if err := yaml.Unmarshal([]byte(Clubs), &told); err != nil {
		panic(err) // it is part of the program
	}
	for kind, entries := range map[string]any{"clubs": told.Clubs, "products": told.Defaults["products"], "offers": told.Defaults["offers"]} {
		own, demo := catalogue.Names(kind), clubsim.Demo().Names(kind)
		entries, _ := entries.(map[string]any)
		for id := range entries {
			if own[id] != demo[id] {
				delete(entries, id)
			}
		}
	}
	encoded, err := json.Marshal(told)
	if err != nil {
		panic(err) // it has only texts, numbers, lists and maps
	}
	return string(encoded)
}
