package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/contract"
	"frontdesk/upstream/club"
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

// checkDocuments reports clubs of the chain that cannot sell, or whose buyers agree to placeholders.
func (cfg Config) checkDocuments(
	ctx context.Context, client *club.Client, file *catalogue.Directory, clubs []club.NetworkNode,
) []flows.Check {
	const part = "documents"
	var without, uncollected []string
	for _, node := range clubs {
		id := node.Club.ID()
		missing := file.Details(id).Without(contract.Needed()...)
		if slices.ContainsFunc(missing, isTerms) && cfg.hasSaleTerms(ctx, client, node) {
			missing = slices.DeleteFunc(missing, isTerms)
		}
		if len(missing) > 0 {
			without = append(without, "club "+id+" lacks "+joined(missing))
		}
		if file.Details(id).Creditor == nil {
			uncollected = append(uncollected, id)
		}
	}
	switch placeholders := file.Placeholders(); {
	case len(without) > 0 && cfg.agreementsRequired():
		return finding(partClub, part, flows.Failed, strings.Join(without, "; ")+": no order can be placed there",
			"add them in FRONTDESK_CLUBS_FILE")
	case len(without) > 0:
		return finding(partClub, part, flows.Degraded, strings.Join(without, "; "), "add them in FRONTDESK_CLUBS_FILE")
	case len(placeholders) > 0:
		return finding(partClub, part, flows.Degraded, "placeholders, which live mode refuses: "+strings.Join(placeholders, ", "),
			replacePlaceholder)
	case len(uncollected) > 0:
		return finding(partClub, part, flows.Degraded, "no creditor is named for the direct debits of the clubs "+strings.Join(uncollected, ", "),
			"set creditor in FRONTDESK_CLUBS_FILE, with its SEPA identifier")
	}
	return finding(partClub, part, flows.OK, "every club has its documents and its creditor", "")
}

// hasSaleTerms reports whether a club's own terms of sale can be read.
func (cfg Config) hasSaleTerms(ctx context.Context, client *club.Client, node club.NetworkNode) bool {
	scope := club.Scope{ClientToken: cfg.ClubToken, Club: node.Club, Node: node.IRI}
	read, err := client.GetClub(ctx, scope, node.Club)
	if err == nil && bool(read.SaleTerms) {
		_, err = client.CurrentSaleTerms(ctx, scope)
	}
	return err == nil && bool(read.SaleTerms)
}
