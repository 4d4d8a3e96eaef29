package catalogue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

const (
	// termsLanguage is that of terms that do not name theirs: the installations are French.
	termsLanguage = "fr"
	// hashVersion is how many digits of their hash are the version of terms, so that each change has another one.
	hashVersion = 12
)

// DetailsWithTerms is Details with the club's own terms of sale from the club system, if the operator's file has none and the installation
// has them.
func (c *Catalogue) DetailsWithTerms(ctx context.Context, clientToken, id string) (Details, error) {
	if details := c.Details(id); details.Documents.Terms != nil {
		return details, nil
	}
	at, _, err := c.DescribeWithTerms(ctx, clientToken, id)
	return at.Details, err
}

// DescribeWithTerms is Describe for DetailsWithTerms. The version is that of the documents.
func (c *Catalogue) DescribeWithTerms(ctx context.Context, clientToken, id string) (Club, *Version, error) {
	at, version, err := c.Describe(ctx, clientToken, id)
	if err != nil || !at.SaleTerms || at.Documents.Terms != nil {
		return at, version, err
	}
	terms, version, err := c.saleTerms.get(ctx, clubKey{c.organisation(clientToken), id}, func(ctx context.Context) (flows.Document, error) {
		read, err := c.cfg.Club.CurrentSaleTerms(ctx, at.Scope)
		if club.Declines(err) { // a firewall's refusal would sell without terms
			return flows.Document{}, nil // the club's record names them, but they cannot be had
		}
		if err != nil {
			return flows.Document{}, flows.ClubFailed(err, flows.DetailClubUnread)
		}
		return documentOf(read)
	})
	if err == nil && terms.SHA256 != "" {
		at.Documents.Terms = &DocumentFiles{read: []flows.Document{terms}}
	}
	return at, version, err
}

// documentOf returns terms as a document, whose bytes are exactly what the club system has.
func documentOf(terms club.SaleTerms) (flows.Document, error) {
	if len(terms.Content) > maxDocument {
		return flows.Document{}, &flows.Error{Code: flows.ClubSystemFailed, Detail: flows.DetailClubUnread,
			Err: fmt.Errorf("the terms of sale have more than %d bytes", maxDocument)}
	}
	kind, language := contentTypes[".txt"], termsLanguage
	if strings.HasPrefix(strings.TrimSpace(terms.Content), "<") {
		kind = contentTypes[".html"]
	}
	if tag, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(terms.Language), "_", "-"), "-"); languages.MatchString(tag) {
		language = tag
	}
	hash := sha256.Sum256([]byte(terms.Content))
	digits := hex.EncodeToString(hash[:])
	return flows.Document{
		Name:        flows.DocumentTerms,
		Version:     digits[:hashVersion],
		Language:    language,
		ContentType: kind,
		SHA256:      digits,
		Body:        []byte(terms.Content),
	}, nil
}
