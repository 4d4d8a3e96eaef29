// Package catalogue reads clubs, products, offers and prices from the club system and caches
// them: in this process, and as a sealed copy in Redis for the other gateways. Start reading
// at Catalogue. Package schedule computes when an offer costs how much.
package catalogue

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

const (
	// offersFreshFor is how long all catalogues of a club share the offers of a product: half
	// of freshFor, so that no fresh catalogue has prices older than 90 s.
	offersFreshFor = freshFor / 2
	// maxOfferEntries: the offers of a product are about 2 KB, and a hundred clubs have
	// about 5,000 products.
	maxOfferEntries = 5000
	// maxOfferReads bounds concurrent reads, each of one product's offers: half of
	// club.Limits.Concurrency. The other half is for visitors who have chosen.
	maxOfferReads = 32
)

// Catalogue returns the clubs and what they sell. Its cache is in cache.go.
type Catalogue struct {
	cfg         Config
	networks    *cache[organisation, *club.Network]
	terms       *cache[clubKey, clubTerms]
	products    *cache[productsKey, []Product]
	days        *cache[daysKey, []DebitDay]
	offers      localCache[offersKey, []club.Offer]
	slots       chan struct{} // one for each read of offers in progress
	generations sync.Map      // generation by client token
}

// Config is what a catalogue needs. Every field is required except Shared.
type Config struct {
	Club   *club.Client
	Shared CacheStore // nil: gateways share no copies
	Now    func() time.Time
	After  func(time.Duration) <-chan time.Time
	Log    *slog.Logger
}

// organisation identifies the owner of the clubs. Every key begins with it.
type organisation struct {
	token      string
	generation uint64 // how often everything was invalidated
}

// offersKey has no buyer: offers depend on the product and the club only (club system API,
// section Catalogue).
type offersKey struct {
	of            organisation
	club, product club.IRI
}

type clubKey struct {
	of organisation
	id string
}

// clubTerms is the part of a club that the network does not contain.
type clubTerms struct{ Code, Currency, Country string }

// productsKey has the day, since today's catalogue is not tomorrow's. Days are in UTC:
// at a club's own midnight a catalogue may be as old as any other.
type productsKey struct {
	of    organisation
	today string // YYYY-MM-DD; empty when the query has a date
	ProductQuery
}

// Club is a club of the chain.
type Club struct {
	IRI      club.IRI
	Name     string
	Alias    string
	Path     []string // names of the parent nodes, outermost first; only from Catalogue.Clubs
	Code     string   // the club system's code, needed for sales; only from Catalogue.Club
	Currency string   // ISO 4217; only from Catalogue.Club
	Country  string   // ISO 3166-1 alpha-2, may be empty; only from Catalogue.Club
	Scope    club.Scope
}

// ProductQuery selects a catalogue. It is part of the cache key, so it has everything
// that the catalogue depends on.
type ProductQuery struct {
	ClientToken string
	ClubID      string
	Channel     string      // web, terminal, club
	Type        string      // one category, or empty for all
	Date        string      // YYYY-MM-DD, or empty for today
	Buyer       flows.Buyer // the zero value is an anonymous visitor
}

// Product is a product with its offers.
type Product struct {
	club.Product
	Offers []Offer
}

// productRecord is a product as the shared copy has it.
type productRecord struct {
	Product club.Product `json:"product"`
	Offers  []club.Offer `json:"offers"`
}

// MarshalJSON writes a product as the club system has it, for the shared copy.
func (p Product) MarshalJSON() ([]byte, error) {
	record := productRecord{Product: p.Product}
	for _, offer := range p.Offers {
		record.Offers = append(record.Offers, offer.Listed)
	}
	return json.Marshal(record)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Product) UnmarshalJSON(data []byte) error {
	var record productRecord
	err := json.Unmarshal(data, &record)
	*p = newProduct(record.Product, record.Offers)
	return err
}

func newProduct(product club.Product, listed []club.Offer) Product {
	p := Product{Product: product, Offers: make([]Offer, len(listed))}
	for i, offer := range listed {
		p.Offers[i] = offerOf(product, offer)
	}
	return p
}

// New returns a catalogue with an empty cache.
func New(cfg Config) *Catalogue {
	c := &Catalogue{cfg: cfg, slots: make(chan struct{}, maxOfferReads)}
	c.offers = newLocalCache[offersKey, []club.Offer](maxOfferEntries, offersFreshFor, cfg.Now)
	c.networks = newCache[organisation, *club.Network]("network", &c.cfg)
	c.terms = newCache[clubKey, clubTerms]("club", &c.cfg)
	c.products = newCache[productsKey, []Product]("products", &c.cfg)
	c.days = newCache[daysKey, []DebitDay]("days", &c.cfg)
	return c
}

// Counts returns how often each kind of value was looked up.
func (c *Catalogue) Counts() map[string]CacheCount {
	return map[string]CacheCount{
		"networks": c.networks.local.count(), "clubs": c.terms.local.count(), "products": c.products.local.count(),
		"debit_days": c.days.local.count(), "offers": c.offers.count(),
	}
}

// Invalidate makes this gateway read everything of an organisation again, for a simulated
// world that a developer has changed.
func (c *Catalogue) Invalidate(clientToken string) {
	c.generations.Store(clientToken, generation{c.generation(clientToken).number + 1, c.cfg.Now()})
}

// Current reports whether a version of an organisation's values may be shown without
// asking this catalogue again.
func (c *Catalogue) Current(clientToken string, version *Version, now time.Time) bool {
	return version.Fresh(now) && version.At.After(c.generation(clientToken).began)
}

// generation counts how often an organisation was invalidated.
type generation struct {
	number uint64
	began  time.Time
}

func (c *Catalogue) generation(clientToken string) generation {
	loaded, _ := c.generations.Load(clientToken)
	current, _ := loaded.(generation)
	return current
}

func (c *Catalogue) organisation(clientToken string) organisation {
	return organisation{clientToken, c.generation(clientToken).number}
}

// Clubs lists the clubs of the chain.
func (c *Catalogue) Clubs(ctx context.Context, clientToken string) ([]Club, *Version, error) {
	network, version, err := c.network(ctx, clientToken)
	if err != nil {
		return nil, nil, err
	}
	var clubs []Club
	for _, node := range network.Clubs() {
		found := clubOf(clientToken, node)
		for _, parent := range network.Path(node.Club) {
			if parent.IRI != node.IRI {
				found.Path = append(found.Path, parent.Name)
			}
		}
		clubs = append(clubs, found)
	}
	return clubs, version, nil
}

// Club finds a club by its public id. NotFound when the chain has none.
func (c *Catalogue) Club(ctx context.Context, clientToken, id string) (Club, error) {
	found, err := c.Locate(ctx, clientToken, id)
	if err != nil {
		return Club{}, err
	}
	terms, _, err := c.terms.get(ctx, clubKey{c.organisation(clientToken), id}, func(ctx context.Context) (clubTerms, error) {
		read, err := c.cfg.Club.GetClub(ctx, found.Scope, found.IRI)
		return clubTerms{read.Code, read.Currency, read.Country}, flows.ClubFailed(err, "The club could not be read.")
	})
	if err != nil {
		return Club{}, err
	}
	found.Code, found.Currency, found.Country = terms.Code, terms.Currency, terms.Country
	return found, nil
}

// Locate is Club without Code and Currency, for which the club itself must be read.
func (c *Catalogue) Locate(ctx context.Context, clientToken, id string) (Club, error) {
	network, _, err := c.network(ctx, clientToken)
	if err != nil {
		return Club{}, err
	}
	node, ok := network.NodeOf(club.NewIRI(clientToken, "clubs", id))
	if !ok {
		return Club{}, &flows.Error{Code: flows.NotFound, Detail: "There is no such club."}
	}
	return clubOf(clientToken, node), nil
}

func (c *Catalogue) network(ctx context.Context, clientToken string) (*club.Network, *Version, error) {
	return c.networks.get(ctx, c.organisation(clientToken), func(ctx context.Context) (*club.Network, error) {
		network, err := c.cfg.Club.NetworkNodes(ctx, club.Scope{ClientToken: clientToken})
		return network, flows.ClubFailed(err, "The clubs of the chain could not be read.")
	})
}

func clubOf(clientToken string, node club.NetworkNode) Club {
	return Club{IRI: node.Club, Name: node.Name, Alias: node.Alias,
		Scope: club.Scope{ClientToken: clientToken, Club: node.Club, Node: node.IRI}}
}

// Products returns a club's catalogue with all offers. Callers share it, so they must not
// change it.
func (c *Catalogue) Products(ctx context.Context, query ProductQuery) ([]Product, *Version, error) {
	at, err := c.Locate(ctx, query.ClientToken, query.ClubID)
	if err != nil {
		return nil, nil, err
	}
	key := productsKey{of: c.organisation(query.ClientToken), ProductQuery: query}
	if query.Date == "" {
		key.today = dayOf(c.cfg.Now().UTC()).Format(time.DateOnly)
	}
	return c.products.get(ctx, key, func(ctx context.Context) ([]Product, error) { return c.readProducts(ctx, at, query) })
}

// readProducts reads a catalogue from the club system. The offers of one page are read
// concurrently with the next page, and so is the club, which every buyer needs next.
func (c *Catalogue) readProducts(ctx context.Context, at Club, query ProductQuery) ([]Product, error) {
	scope, sale, err := c.saleQuery(ctx, at, query)
	if err != nil {
		return nil, err
	}
	var ahead sync.WaitGroup
	defer ahead.Wait()
	ahead.Go(func() { _, _ = c.Club(ctx, query.ClientToken, query.ClubID) }) // callers that need it see its error
	var begun sync.Map
	offers := func(product club.Product) ([]club.Offer, error) {
		once, _ := begun.LoadOrStore(product.IRI, sync.OnceValues(func() ([]club.Offer, error) { return c.offersOf(ctx, at, product.IRI) }))
		return once.(func() ([]club.Offer, error))()
	}
	listed, err := c.cfg.Club.ListProductsConcurrently(ctx, scope, sale, func(page []club.Product) {
		for _, product := range page {
			ahead.Go(func() { _, _ = offers(product) }) // the loop below sees its error
		}
	})
	if err != nil {
		return nil, flows.ClubFailed(err, "The catalogue could not be read.")
	}
	products := make([]Product, len(listed))
	for i, product := range listed {
		read, err := offers(product)
		if err != nil {
			return nil, flows.ClubFailed(err, "The offers of the catalogue could not be read.")
		}
		products[i] = newProduct(product, read)
	}
	return products, nil
}

// offersOf returns the offers of a product, read once for all catalogues of the club.
func (c *Catalogue) offersOf(ctx context.Context, at Club, product club.IRI) ([]club.Offer, error) {
	key := offersKey{c.organisation(at.Scope.ClientToken), at.IRI, product}
	return c.offers.get(ctx, key, func(ctx context.Context) ([]club.Offer, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout) // another catalogue may wait for them
		defer cancel()
		select {
		case c.slots <- struct{}{}:
			defer func() { <-c.slots }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return c.cfg.Club.ListOffers(ctx, at.Scope, product)
	})
}

// saleQuery returns the query of the club system, and the scope to send it from. A contact
// of another club of the chain sees the catalogue from the node above both clubs. A contact
// of another chain sees what an anonymous visitor sees.
func (c *Catalogue) saleQuery(ctx context.Context, at Club, query ProductQuery) (club.Scope, club.ProductQuery, error) {
	scope := at.Scope
	sale := club.ProductQuery{Channel: query.Channel, Club: at.IRI, Date: query.Date, Type: query.Type}
	buyer := query.Buyer
	if buyer.Contact == "" {
		return scope, sale, nil
	}
	if buyer.Club != at.IRI {
		network, _, err := c.network(ctx, query.ClientToken)
		if err != nil {
			return scope, sale, err
		}
		node, sameChain := network.CommonAncestor(at.IRI, buyer.Club)
		if !sameChain {
			return scope, sale, nil
		}
		scope.Node = node
	}
	sale.Contact, sale.Debt, sale.ContactTags = buyer.Contact, &buyer.Debt, strings.Fields(buyer.Tags)
	return scope, sale, nil
}

// Offer finds an offer in a catalogue. OfferNotAvailable when it is not there: a channel
// sells only what its catalogue shows.
func (c *Catalogue) Offer(ctx context.Context, query ProductQuery, id string) (Offer, error) {
	offer, found, err := c.findOffer(ctx, query, id)
	if err == nil && !found {
		err = &flows.Error{Code: flows.OfferNotAvailable, Detail: "The club does not offer this."}
	}
	return offer, err
}

func (c *Catalogue) findOffer(ctx context.Context, query ProductQuery, id string) (offer Offer, found bool, err error) {
	products, _, err := c.Products(ctx, query)
	for _, product := range products {
		for _, offer := range product.Offers {
			if offer.IRI.ID() == id {
				return offer, true, nil
			}
		}
	}
	return Offer{}, false, err
}

// ScopeAbove returns the scope of a call that involves another club too: the club's own
// scope, sent from the nearest node above both. MigrationClub without one.
func (c *Catalogue) ScopeAbove(ctx context.Context, at Club, other club.IRI) (club.Scope, error) {
	network, _, err := c.network(ctx, at.Scope.ClientToken)
	if err != nil {
		return club.Scope{}, err
	}
	scope, found := at.Scope, false
	if scope.Node, found = network.CommonAncestor(at.IRI, other); !found {
		return club.Scope{}, flows.MigrationFailed(club.ErrMigrationClub)
	}
	return scope, nil
}
