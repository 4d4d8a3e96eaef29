package flows

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"frontdesk/upstream/club"
)

// ChangedSinceAgreed says why a sale is not what the buyer agreed to pay; empty if it is.
func (p *Payment) ChangedSinceAgreed(sale club.Sale, check club.SaleCheck) string {
	switch {
	case !check.Valid:
		return "the sale no longer passes the check"
	case sale.State != p.SaleState: // the check accepts such a sale
		return "the sale was settled by something else"
	case !p.MatchesSale(sale):
		return "the sale changed after the buyer agreed to the price"
	}
	return ""
}

// MatchesSale reports whether a sale is what the buyer agreed to pay.
func (p *Payment) MatchesSale(sale club.Sale) bool {
	return sale.TotalTI == p.Amount && cartDigest(cartLines(sale)) == p.AgreedDigest()
}

// AgreedDigest returns the digest of the agreed cart for the processor's metadata.
func (p *Payment) AgreedDigest() string { return cmp.Or(p.CartDigest, cartDigest(p.Cart)) }

func cartDigest(lines []CartLine) string {
	var text []byte
	for _, line := range lines {
		text = strconv.AppendInt(append(append(text, line.Offer...), ' '), line.Price, 10)
		text = append(text, '\n')
	}
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}

func cartLines(sale club.Sale) []CartLine {
	lines := make([]CartLine, len(sale.Articles))
	for i, article := range sale.Articles {
		lines[i] = CartLine{Offer: article.Offer, Price: article.PriceTI}
	}
	return lines
}
