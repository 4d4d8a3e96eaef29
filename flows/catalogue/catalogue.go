// Package catalogue reads clubs, products, offers and prices from the club system and
// caches them: in this process, and as a sealed copy in Redis for the other gateways.
// Catalogue is where to start reading; when an offer costs how much is package schedule's.
package catalogue

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// The figures of the catalogue. How old it may be stands in cache.go.
const (
	// offersFresh: everybody's catalogue of a club takes the offers of a product that
	// were read within this time. It is half of freshFor, so that a catalogue that is
	// read anew has new prices, and one that is fresh has none older than 90 s.
	offersFresh = freshFor / 2
	// offerEntries: the offers of a product are about 2 KB; a hundred clubs have about so many products.
	offerEntries = 5000
	// offerReads: the club system lists offers a product at a time; so many at once. It
	// is half of the lane (club.Limits.Concurrency), so that the other half is left to
	// the visitors who are past the catalogue.
	offerReads = 32
)

// Catalogue answers what the clubs are and what they offer, from memory where
// it was read a short time ago, by this gateway or another: see cache.go.
type Catalogue struct {
	cfg         Config
	networks    *cache[organisation, *club.Network]
	terms       *cache[clubKey, clubTerms]
	products    *cache[productsKey, []Product]
	days        *cache[daysKey, []DebitDay]
	offers      localCache[offersKey, []club.Offer]
	slots       chan struct{} // taken by readings of offers
	generations sync.Map      // by client token: how often it was forgotten
}

// Config is what a catalogue needs. Every field is required unless said.
type Config struct {
	Club   *club.Client
	Shared CacheStore // what the gateways remember together; nil: this one remembers by itself
	Now    func() time.Time
	After  func(time.Duration) <-chan time.Time
	Log    *slog.Logger
}

// organisation is whose clubs they are. Every key begins with it.
type organisation struct {
	token      string
	generation uint64 // counts how often everything was forgotten
}

// offersKey: offers depend on the product and the club, never on who asks (club
// system API, section Catalogue), so everybody's catalogue shares them.
type offersKey struct {
	of            organisation
	club, product club.IRI
}

type clubKey struct {
	of organisation
	id string
}

// clubTerms is what the network does not tell of a club.
type clubTerms struct{ Code, Currency string }

// productsKey is whose catalogue it is, and of which day: without a date it is today's,
// which is another one tomorrow. Days are those of UTC, as everywhere here; at a club's
// own midnight a catalogue is as old as it may be anyway.
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
	Scope    club.Scope
}

// ProductQuery says whose catalogue is asked for. It is part of the key of what is
// remembered, so everything that may change the answer is in it.
type ProductQuery struct {
	ClientToken string
	ClubID      string
	Channel     string      // web, terminal, club
	Type        string      // one category, or empty for all
	Date        string      // YYYY-MM-DD, or empty for today
	Buyer       flows.Buyer // who looks; the zero value is anybody
}

// Product is a product with its offers.
type Product struct {
	club.Product
	Offers []Offer
	listed []club.Offer // the same offers, as the club system has them
}

// productRecord is a product as it is remembered.
type productRecord struct {
	Product club.Product `json:"product"`
	Offers  []club.Offer `json:"offers"`
}

// MarshalJSON writes what the club system said of a product, for the other gateways.
func (p Product) MarshalJSON() ([]byte, error) {
	return json.Marshal(productRecord{p.Product, p.listed})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Product) UnmarshalJSON(data []byte) error {
	var record productRecord
	err := json.Unmarshal(data, &record)
	*p = newProduct(record.Product, record.Offers)
	return err
}

func newProduct(product club.Product, listed []club.Offer) Product {
	return Product{Product: product, Offers: offersOf(product, listed), listed: listed}
}

// New makes a catalogue.
func New(cfg Config) *Catalogue {
	c := &Catalogue{cfg: cfg, slots: make(chan struct{}, offerReads), offers: newLocalCache[offersKey, []club.Offer](offerEntries, offersFresh, cfg.Now)}
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

// Invalidate has everything of an organisation read anew. It is for a world that was made
// to begin again, where whoever did so wants to see it.
func (c *Catalogue) Invalidate(clientToken string) {
	c.generations.Store(clientToken, generation{c.generation(clientToken).number + 1, c.cfg.Now()})
}

// Current tells whether a version of what an organisation sells may be shown without
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
	network, err := c.network(ctx, clientToken)
	if err != nil {
		return nil, nil, err
	}
	var clubs []Club
	for _, node := range network.value.Clubs() {
		found := clubOf(clientToken, node)
		for _, parent := range network.value.Path(node.Club) {
			if parent.IRI != node.IRI {
				found.Path = append(found.Path, parent.Name)
			}
		}
		clubs = append(clubs, found)
	}
	return clubs, &network.Version, nil
}

// Club finds a club by its public id. NotFound when the chain has none.
func (c *Catalogue) Club(ctx context.Context, clientToken, id string) (Club, error) {
	found, err := c.Locate(ctx, clientToken, id)
	if err != nil {
		return Club{}, err
	}
	terms, err := c.terms.get(ctx, clubKey{c.organisation(clientToken), id}, func(ctx context.Context) (clubTerms, error) {
		read, err := c.cfg.Club.GetClub(ctx, found.Scope, found.IRI)
		return clubTerms{read.Code, read.Currency}, flows.ClubFailed(err, "The club could not be read.")
	})
	if err != nil {
		return Club{}, err
	}
	found.Code, found.Currency = terms.value.Code, terms.value.Currency
	return found, nil
}

// locate is Club without what only the club itself tells.
func (c *Catalogue) Locate(ctx context.Context, clientToken, id string) (Club, error) {
	network, err := c.network(ctx, clientToken)
	if err != nil {
		return Club{}, err
	}
	node, ok := network.value.NodeOf(club.NewIRI(clientToken, "clubs", id))
	if !ok {
		return Club{}, &flows.Error{Code: flows.NotFound, Detail: "There is no such club."}
	}
	return clubOf(clientToken, node), nil
}

func (c *Catalogue) network(ctx context.Context, clientToken string) (*entry[*club.Network], error) {
	return c.networks.get(ctx, c.organisation(clientToken), func(ctx context.Context) (*club.Network, error) {
		network, err := c.cfg.Club.NetworkNodes(ctx, club.Scope{ClientToken: clientToken})
		return network, flows.ClubFailed(err, "The clubs of the chain could not be read.")
	})
}

func clubOf(clientToken string, node club.NetworkNode) Club {
	return Club{IRI: node.Club, Name: node.Name, Alias: node.Alias,
		Scope: club.Scope{ClientToken: clientToken, Club: node.Club, Node: node.IRI}}
}

// Products reads a club's catalogue with all offers. It is for everybody who asks with
// the same query, so nobody may change it.
func (c *Catalogue) Products(ctx context.Context, query ProductQuery) ([]Product, *Version, error) {
	at, err := c.Locate(ctx, query.ClientToken, query.ClubID)
	if err != nil {
		return nil, nil, err
	}
	key := productsKey{of: c.organisation(query.ClientToken), ProductQuery: query}
	if query.Date == "" {
		key.today = dayOf(c.cfg.Now().UTC()).Format(time.DateOnly)
	}
	products, err := c.products.get(ctx, key, func(ctx context.Context) ([]Product, error) {
		return c.readProducts(ctx, at, query)
	})
	if err != nil {
		return nil, nil, err
	}
	return products.value, &products.Version, nil
}

// readProducts reads a catalogue. The offers of a page are read while the next one is
// on its way, and so is the club, without which nobody can buy what the catalogue has.
func (c *Catalogue) readProducts(ctx context.Context, at Club, query ProductQuery) ([]Product, error) {
	scope, asked, err := c.saleQuery(ctx, at, query)
	if err != nil {
		return nil, err
	}
	var ahead sync.WaitGroup
	defer ahead.Wait()
	ahead.Go(func() { _, _ = c.Club(ctx, query.ClientToken, query.ClubID) }) // who needs it is told when it fails
	var begun sync.Map
	offers := func(product club.Product) ([]club.Offer, error) {
		once, _ := begun.LoadOrStore(product.IRI, sync.OnceValues(func() ([]club.Offer, error) { return c.offersOf(ctx, at, product.IRI) }))
		return once.(func() ([]club.Offer, error))()
	}
	listed, err := c.cfg.Club.ListProductsConcurrently(ctx, scope, asked, func(page []club.Product) {
		for _, product := range page {
			ahead.Go(func() { _, _ = offers(product) }) // what became of it is seen below
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

// offersOf gives the offers of a product, which are read once for all catalogues.
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

// saleQuery says for which sale the catalogue is read, and from where: a contact of
// another club of the chain is seen from the node above both. In a club of
// another chain a contact is a visitor like anybody.
func (c *Catalogue) saleQuery(ctx context.Context, at Club, query ProductQuery) (club.Scope, club.ProductQuery, error) {
	scope := at.Scope
	asked := club.ProductQuery{Channel: query.Channel, Club: at.IRI, Date: query.Date, Type: query.Type}
	buyer := query.Buyer
	if buyer.Contact == "" {
		return scope, asked, nil
	}
	if buyer.Club != at.IRI {
		network, err := c.network(ctx, query.ClientToken)
		if err != nil {
			return scope, asked, err
		}
		node, sameChain := network.value.CommonAncestor(at.IRI, buyer.Club)
		if !sameChain {
			return scope, asked, nil
		}
		scope.Node = node
	}
	asked.Contact, asked.Debt, asked.ContactTags = buyer.Contact, &buyer.Debt, strings.Fields(buyer.Tags)
	return scope, asked, nil
}

// Offer finds an offer in a catalogue. OfferNotAvailable when it is not there:
// what the catalogue does not show to this channel cannot be bought through it.
func (c *Catalogue) Offer(ctx context.Context, query ProductQuery, id string) (Offer, error) {
	products, _, err := c.Products(ctx, query)
	if err != nil {
		return Offer{}, err
	}
	for _, product := range products {
		for _, offer := range product.Offers {
			if offer.IRI.ID() == id {
				return offer, nil
			}
		}
	}
	return Offer{}, &flows.Error{Code: flows.OfferNotAvailable, Detail: fmt.Sprintf("The club does not offer %q.", id)}
}

// scopeAbove is the scope of a call that touches a club and another one: the
// club's own, from the nearest node above both. MigrationClub when there is none.
func (c *Catalogue) ScopeAbove(ctx context.Context, at Club, other club.IRI) (club.Scope, error) {
	network, err := c.network(ctx, at.Scope.ClientToken)
	if err != nil {
		return club.Scope{}, err
	}
	scope, found := at.Scope, false
	if scope.Node, found = network.value.CommonAncestor(at.IRI, other); !found {
		return club.Scope{}, flows.MigrationFailed(club.ErrMigrationClub)
	}
	return scope, nil
}
