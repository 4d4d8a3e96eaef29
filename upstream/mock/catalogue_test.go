package mock_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mock"
)

// TestClubsOf: what the operator of the demo clubs says about a club, a product or an offer applies to those of another catalogue only
// under the same id and name; the defaults apply to all of them.
func TestClubsOf(t *testing.T) {
	t.Parallel()
	if mock.ClubsOf(clubsim.Demo()) != mock.Clubs {
		t.Error("the demo has another file than its own")
	}
	file := strings.NewReplacer("Lumen Bastille", "Other", "name: Flex\n", "name: Other\n", "Flex, monthly", "Other, monthly").
		Replace(string(clubsim.Demo().Source()))
	own, err := clubsim.ParseCatalogue([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	var told struct {
		Defaults struct {
			Products, Offers, Creditor, Documents map[string]any
		}
		Clubs map[string]any
	}
	if err := json.Unmarshal([]byte(mock.ClubsOf(own)), &told); err != nil {
		t.Fatal(err)
	}
	for name, entry := range map[string]bool{
		"club 11": told.Clubs["11"] == nil, "club 12": told.Clubs["12"] != nil,
		"product 9": told.Defaults.Products["9"] == nil, "product 10": told.Defaults.Products["10"] != nil,
		"offer 901": told.Defaults.Offers["901"] == nil, "offer 902": told.Defaults.Offers["902"] != nil,
		"creditor": told.Defaults.Creditor != nil, "documents": told.Defaults.Documents["terms"] != nil,
	} {
		if !entry {
			t.Errorf("%s is there and should not be, or the other way round", name)
		}
	}
}

// TestWatchCatalogue: a changed file reaches the simulator, and the worlds that it changed are reported. A wrong one does not.
func TestWatchCatalogue(t *testing.T) {
	t.Parallel()
	file := mock.CatalogueFile{Path: filepath.Join(t.TempDir(), "own.yaml")}
	at := time.Date(2030, 1, 15, 9, 0, 0, 0, time.UTC)
	write := func(content string) {
		t.Helper()
		at = at.Add(time.Minute)
		frontdesktest.Must(t, os.WriteFile(file.Path, []byte(content), 0o600))
		frontdesktest.Must(t, os.Chtimes(file.Path, at, at))
	}
	write("clubs: [{name: First}]")
	catalogue, err := file.Read()
	if err != nil {
		t.Fatal(err)
	}
	looks := make(chan time.Time)
	world, forgotten := newServer(t, func(cfg *mock.Config) {
		cfg.Catalogue, cfg.After = catalogue, func(time.Duration) <-chan time.Time { return looks }
	})
	get(world, "demo-a")
	has := func(text string) bool {
		recorder := httptest.NewRecorder()
		world.ServeHTTP(recorder, httptest.NewRequest("GET", "/sim/demo-a/_control/catalogue", nil))
		return strings.Contains(recorder.Body.String(), text)
	}
	if !has("First") {
		t.Error("the world does not begin with the file")
	}
	go world.WatchCatalogue(t.Context(), file)
	look := func() {
		t.Helper()
		select {
		case looks <- at:
		case <-time.After(frontdesktest.Patience):
			t.Fatal("nobody looks at the file")
		}
	}
	look() // it watches
	write("clubs: [{name: Second}]")
	look()
	frontdesktest.Eventually(t, "the world changes", func() bool { return forgotten() == "demo-a" })
	if !has("Second") {
		t.Error("the world has the former catalogue")
	}
	write("clubs: []")
	look()
	look() // the file was read before this
	if !has("Second") || forgotten() != "demo-a" {
		t.Error("a file with a mistake has changed the world")
	}
}
