package catalogue

// CacheCount is how often a part of the catalogue was asked for since the start.
type CacheCount struct {
	Hits   uint64 // it was in memory
	Misses uint64 // the other gateways or the club system were asked
}

// Counts tells how the catalogue's memory fared, by what is kept.
func (c *Catalogue) Counts() map[string]CacheCount {
	return map[string]CacheCount{
		"networks": c.networks.local.counts(), "clubs": c.terms.local.counts(), "products": c.products.local.counts(), "debit_days": c.days.local.counts(), "offers": c.offers.counts(),
	}
}
