package flows

import "github.com/maypok86/otter/v2/stats"

// CacheCount is how often a part of the catalogue was asked for since the start.
type CacheCount struct {
	Hits   uint64 // it was in memory
	Misses uint64 // the club system was asked
}

// Counts tells how the catalogue's memory fared, by what is kept.
func (c *Catalogue) Counts() map[string]CacheCount {
	counts := map[string]CacheCount{}
	for kind, of := range map[string]func() stats.Stats{
		"networks": c.networks.Stats, "clubs": c.clubs.Stats, "products": c.products.Stats, "debit_days": c.days.Stats, "offers": c.offers.Stats,
	} {
		seen := of()
		counts[kind] = CacheCount{Hits: seen.Hits, Misses: seen.Misses}
	}
	return counts
}
