package cmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/contract"
	"frontdesk/upstream/club"
)

const partContracts = "contracts"

// gap is what the contracts of a club lack, and what to do about it.
type gap struct {
	verdict    flows.Verdict
	found, fix string
}

// checkContracts reports what the contracts of the chain's clubs lack: a line for each gap, with the clubs that have it.
func (cfg Config) checkContracts(
	ctx context.Context, client *club.Client, file *catalogue.Directory, clubs []club.NetworkNode,
) (checks []flows.Check) {
	terms := cfg.readSaleTerms(ctx, client, file, clubs)
	lacking, rules, whole := map[gap][]string{}, map[int][]string{}, []string{}
	var gaps []gap // in the order in which they are found
	for i, node := range clubs {
		id, details := node.Club.ID(), file.Details(node.Club.ID())
		rules[details.GuardianBelow()] = append(rules[details.GuardianBelow()], id)
		found := cfg.gaps(details, terms[i])
		if len(found) == 0 {
			whole = append(whole, id)
		}
		for _, one := range found {
			if lacking[one] == nil {
				gaps = append(gaps, one)
			}
			lacking[one] = append(lacking[one], id)
		}
	}
	add := func(verdict flows.Verdict, found, fix string) {
		checks = append(checks, finding(partClub, partContracts, verdict, found, fix)...)
	}
	for _, one := range gaps {
		add(one.verdict, named(lacking[one], len(clubs))+" "+one.found, one.fix)
	}
	if len(whole) > 0 {
		add(flows.OK, named(whole, len(clubs))+
			": time zone, documents, seller, creditor, mediator, address for proofs, effects of a cancellation", "")
	}
	if placeholders := file.Placeholders(); len(placeholders) > 0 {
		add(flows.Degraded, "placeholders, which live mode refuses: "+strings.Join(placeholders, ", "), replacePlaceholder)
	}
	for _, below := range slices.Sorted(maps.Keys(rules)) {
		rule := fmt.Sprintf("buyers below %d need a guardian", below)
		if below == 0 {
			rule = "no buyer needs a guardian"
		}
		add(flows.OK, named(rules[below], len(clubs))+": "+rule, "")
	}
	return append(checks, cfg.checkAgreements()...)
}

// checkAgreements reports what a payment must agree to.
func (cfg Config) checkAgreements() []flows.Check {
	const part = "agreements"
	switch {
	case cfg.agreementsRequired():
		return finding(part, "", flows.OK, "required: every payment must agree to its club's documents", "")
	case cfg.Mode == "live":
		return finding(part, "", flows.Degraded, "optional: a payment may leave out its agreements, and a missing document is not asked for",
			"set FRONTDESK_AGREEMENTS=required once every front end sends them")
	}
	return finding(part, "", flows.OK, "optional: a payment may leave out its agreements, and a missing document is not asked for; "+
		"live mode requires them by default", "")
}

// gaps lists what the contracts of a club lack. The reader of the file has checked what it has, such as a creditor's identifier and
// address. terms are the club's own in the club system.
func (cfg Config) gaps(details catalogue.Details, terms saleTerms) (gaps []gap) {
	add := func(isMissing bool, severe bool, found, key string) {
		verdict := flows.Degraded
		if severe {
			verdict = flows.Failed
		}
		if isMissing {
			gaps = append(gaps, gap{verdict, found, "set " + key + " in FRONTDESK_CLUBS_FILE"})
		}
	}
	add(details.TimeZone == "", cfg.Mode == "live", "without a time zone: withdrawal periods begin by the UTC day", "timeZone")
	effect := "no payment asks for it while agreements are optional"
	if cfg.agreementsRequired() {
		effect = "no order can be placed"
	}
	for _, name := range details.Without(contract.Needed()...) {
		switch {
		case isTerms(name) && terms.unknown:
			gaps = append(gaps, gap{flows.Degraded, "whose terms cannot be read from the club system now",
				"run doctor again before you write any into FRONTDESK_CLUBS_FILE"})
		case !isTerms(name) || !terms.exist:
			add(true, cfg.agreementsRequired(), fmt.Sprintf("without %s: %s", name, effect), "documents."+string(name))
		}
	}
	for _, file := range details.Untranslated() {
		add(true, false, fmt.Sprintf("without %s in %s, a language of other documents", file.Name, file.Language), "documents."+string(file.Name))
	}
	add(details.Trader == nil, false, "without a seller: the order does not say who sells", "trader")
	add(details.Creditor == nil, false, "without a creditor: mandates do not name its SEPA identifier", "creditor")
	add(details.Creditor != nil && details.Documents.MandateText == nil, false,
		"without a mandate text: a direct debit is authorised in the usual words, which the club has not approved", "documents.mandate_text")
	add(details.Documents.GuaranteeNotice == nil, false,
		"without the EU's notice on the legal guarantee: orders of goods have a short text in its place", "documents.guarantee_notice")
	add(details.Mediator == nil, false, "without a mediator: confirmations do not name one", "mediator")
	add(details.Proofs.Email == "", false, "without an address for proofs of a cancellation's reason", "proofs.email")
	add(details.Cancellation.Effects == nil, false, "without the effects of a cancellation: acknowledgements do not say them",
		"cancellation.effects")
	return gaps
}

// maxNamed is how many clubs a line names, so that those of a large chain can be read.
const maxNamed = 20

// named says which clubs a finding is about.
func named(ids []string, all int) string {
	switch {
	case len(ids) == all && all > 1:
		return fmt.Sprintf("all %d clubs", all)
	case len(ids) == 1:
		return "club " + ids[0]
	case len(ids) > maxNamed:
		return fmt.Sprintf("%d clubs (%s and others)", len(ids), strings.Join(ids[:maxNamed], ", "))
	}
	return "clubs " + strings.Join(ids, ", ")
}

// readSaleTerms reads of each club that lacks terms in the file whether the club system has its own.
func (cfg Config) readSaleTerms(
	ctx context.Context, client *club.Client, file *catalogue.Directory, clubs []club.NetworkNode,
) []saleTerms {
	terms := make([]saleTerms, len(clubs))
	var reads errgroup.Group
	reads.SetLimit(concurrentReads)
	for i, node := range clubs {
		if file.Details(node.Club.ID()).Documents.Terms == nil {
			reads.Go(func() error {
				terms[i] = cfg.findSaleTerms(ctx, client, node)
				return nil
			})
		}
	}
	_ = reads.Wait() // none returns an error
	return terms
}

// saleTerms is whether a club's own terms of sale can be read; unknown, where the club system could not be asked.
type saleTerms struct{ exist, unknown bool }

func (cfg Config) findSaleTerms(ctx context.Context, client *club.Client, node club.NetworkNode) saleTerms {
	scope := club.Scope{ClientToken: cfg.ClubToken, Club: node.Club, Node: node.IRI}
	read, err := client.GetClub(ctx, scope, node.Club)
	if err == nil && bool(read.SaleTerms) {
		_, err = client.CurrentSaleTerms(ctx, scope)
	}
	return saleTerms{exist: err == nil && bool(read.SaleTerms), unknown: err != nil && !club.Declines(err)}
}
