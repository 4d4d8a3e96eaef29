package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/contract"
)

// clubs reads the operator's data about the clubs, and the documents that it names: from the folder of FRONTDESK_CLUBS_FILE, which they
// cannot leave, or those of the demo clubs.
func (cfg Config) clubs() (*catalogue.Directory, error) {
	path := os.Getenv("FRONTDESK_CLUBS_FILE")
	switch {
	case cfg.documents != nil:
		return catalogue.ParseDirectory([]byte(cfg.Clubs), cfg.documents)
	case path == "":
		return catalogue.ParseDirectory([]byte(cfg.Clubs), nil)
	}
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return catalogue.ParseDirectory([]byte(cfg.Clubs), folder.FS())
}

// agreementsRequired reports whether a payment must say what the buyer agrees to.
func (cfg Config) agreementsRequired() bool {
	return cfg.Agreements == "required" || cfg.Agreements == "" && cfg.Mode == "live"
}

// documentRules refuses documents that no buyer can agree to, and clubs that lack one.
func (cfg Config) documentRules() (rules []rule) {
	clubs, err := cfg.clubs()
	if err != nil {
		return nil // clubsRules reports it
	}
	const variable = "FRONTDESK_CLUBS:"
	for _, file := range clubs.Placeholders() {
		rules = append(rules, rule{variable, true, file + " is a placeholder, which no buyer may agree to: " + replacePlaceholder})
	}
	ids := clubs.IDs()
	if len(ids) == 0 {
		ids = []string{""} // the defaults are for every club
	}
	for _, id := range ids {
		missing := clubs.Details(id).Without(contract.Needed()...)
		missing = slices.DeleteFunc(missing, isTerms) // the club system may have them, which doctor checks
		name := "club " + id
		if id == "" {
			name = "defaults"
		}
		rules = append(rules, rule{variable, cfg.agreementsRequired() && len(missing) > 0, fmt.Sprintf("%s: documents lacks %s: "+
			"name a version and a file for each language, or set FRONTDESK_AGREEMENTS=optional", name, joined(missing))})
	}
	return rules
}

func isTerms(name flows.DocumentName) bool { return name == flows.DocumentTerms }

const replacePlaceholder = `replace it with the text that the club's lawyer has approved, without the words "Frontdesk placeholder"`

func joined(names []flows.DocumentName) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ", ")
}
