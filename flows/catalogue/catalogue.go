// Package catalogue reads clubs, products, offers and prices from the club system and caches
// them: in this process, and as a sealed copy in Redis for the other gateways. Start reading
// at Catalogue. Package schedule computes what an offer costs, and when.
package catalogue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/upstream/club"
)

const (
	// offersFreshFor is how long all catalogues of a club share the offers of a product: half
	// of freshFor, so that no fresh catalogue has prices older than 90 s.
	offersFreshFor = freshFor / 2
	// maxOfferEntries: the offers of a product are about 2 KB, and a hundred clubs have about 5,000 products.
	maxOfferEntries = 5000
	// maxOfferReads bounds concurrent reads, each of one product's offers, to the permits of club.Browsers.
	maxOfferReads = 32
	// maxClubReads bounds the concurrent reads of clubs for their list, and termsTimeout the time for all of them.
	maxClubReads = 8
	termsTimeout = 4 * time.Second
)

// Catalogue returns the clubs and what they sell. Its cache is in cache.go.
type Catalogue struct {
	cfg         Config
	networks    *cache[organisation, *club.Network]
	terms       *cache[clubKey, clubTerms]
	allTerms    *cache[organisation, map[string]clubTerms] // by the clubs' public ids
	saleTerms   *cache[clubKey, flows.Document]
	products    *cache[productsKey, []Product]
	days        *cache[daysKey, []DebitDay]
	offers      localCache[offersKey, []club.Offer]
	olderOffers localCache[offersKey, []club.Offer]
	slots       chan struct{} // one for each read of offers in progress
	generations sync.Map      // generation by client token
}

// Config is what a catalogue needs. Every field is required except Shared and Clubs.
type Config struct {
	Club   *club.Client
	Shared *store.Store // nil: gateways share no copies
	Clubs  *Directory   // what the operator tells about the clubs; nil: nothing
	Now    func() time.Time
	Log    *slog.Logger
}

// organisation identifies the owner of the clubs. Every key begins with it.
type organisation struct {
	token      string
	generation uint64 // how often everything was invalidated
}

// offersKey has no buyer: offers depend on the product and the club only (club system API, section Catalogue).
type offersKey struct {
	of            organisation
	club, product club.IRI
}

type clubKey struct {
	of organisation
	id string
}

// clubTerms is the part of a club that the network does not contain.
type clubTerms struct {
	Code, Currency, Phone, Email string
	Address                      Address
	SaleTerms                    bool
}

// productsKey has the club's day, since today's catalogue is not tomorrow's.
type productsKey struct {
	of    organisation
	today string // YYYY-MM-DD; empty when the query has a date
	ProductQuery
}

// Club is a club of the chain. Its details come from the operator's file; Catalogue.Clubs and Catalogue.Club
// prefer the club system's values.
type Club struct {
	IRI   club.IRI
	Name  string
	Alias string
	Path  []string // names of the parent nodes, outermost first
	Code  string   // the club system's code, needed for sales; not from Locate
	Scope club.Scope
	Details

	SaleTerms bool // the club system has terms of sale of the club; not from Locate
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
	if cfg.Clubs == nil {
		cfg.Clubs = &Directory{}
	}
	catalogue := &Catalogue{cfg: cfg, slots: make(chan struct{}, maxOfferReads)}
	catalogue.offers = newLocalCache[offersKey, []club.Offer](maxOfferEntries, offersFreshFor, cfg.Now)
	catalogue.olderOffers = newLocalCache[offersKey, []club.Offer](maxOfferEntries, keptFor, cfg.Now)
	catalogue.networks = newCache[organisation, *club.Network]("network", &catalogue.cfg)
	catalogue.terms = newCache[clubKey, clubTerms]("club", &catalogue.cfg)
	catalogue.allTerms = newCache[organisation, map[string]clubTerms]("all clubs", &catalogue.cfg)
	catalogue.saleTerms = newCache[clubKey, flows.Document]("sale terms", &catalogue.cfg)
	catalogue.products = newCache[productsKey, []Product]("products", &catalogue.cfg)
	catalogue.days = newCache[daysKey, []DebitDay]("days", &catalogue.cfg)
	return catalogue
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

// Current reports whether a version of an organisation's values may be shown without asking this catalogue again.
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

// Clubs lists the clubs of the chain. A club that cannot be read has the operator's details alone.
func (c *Catalogue) Clubs(ctx context.Context, clientToken string) ([]Club, *Version, error) {
	network, err := c.network(ctx, clientToken)
	if err != nil {
		return nil, nil, err
	}
	terms, version, err := c.allTerms.get(ctx, c.organisation(clientToken), func(ctx context.Context) (map[string]clubTerms, error) {
		return c.readAllTerms(ctx, clientToken)
	})
	if err != nil {
		return nil, nil, err
	}
	var clubs []Club
	for _, node := range network.Clubs() {
		clubs = append(clubs, c.clubOf(clientToken, network, node).with(terms[node.Club.ID()]))
	}
	return clubs, version, nil
}

// readAllTerms reads every club, because the network has only names. Those that cannot be read in time are
// left out.
func (c *Catalogue) readAllTerms(ctx context.Context, clientToken string) (map[string]clubTerms, error) {
	network, err := c.network(ctx, clientToken)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, termsTimeout)
	defer cancel()
	var (
		reads errgroup.Group
		mu    sync.Mutex
		all   = map[string]clubTerms{}
	)
	reads.SetLimit(maxClubReads)
	for _, node := range network.Clubs() {
		reads.Go(func() error {
			terms, _, err := c.readTerms(ctx, c.clubOf(clientToken, network, node))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				all[node.Club.ID()] = terms
			}
			return nil
		})
	}
	if err := reads.Wait(); err == nil && len(all) < len(network.Clubs()) {
		c.cfg.Log.WarnContext(ctx, "clubs listed without their addresses", "found", len(all), "left", len(network.Clubs())-len(all))
	}
	return all, nil
}

// Club finds a club by its public id. NotFound when the chain has none.
func (c *Catalogue) Club(ctx context.Context, clientToken, id string) (Club, error) {
	found, _, err := c.Describe(ctx, clientToken, id)
	return found, err
}

// Describe is Club with the version of its details.
func (c *Catalogue) Describe(ctx context.Context, clientToken, id string) (Club, *Version, error) {
	found, err := c.Locate(ctx, clientToken, id)
	if err != nil {
		return Club{}, nil, err
	}
	terms, version, err := c.readTerms(ctx, found)
	if err != nil {
		return Club{}, nil, err
	}
	return found.with(terms), version, nil
}

func (c *Catalogue) readTerms(ctx context.Context, at Club) (clubTerms, *Version, error) {
	return c.terms.get(ctx, clubKey{c.organisation(at.Scope.ClientToken), at.IRI.ID()}, func(ctx context.Context) (clubTerms, error) {
		read, err := c.cfg.Club.GetClub(ctx, at.Scope, at.IRI)
		return clubTerms{
			Code:      read.Code,
			Currency:  read.Currency,
			Phone:     read.Telephone,
			Email:     read.Email,
			Address:   Address{Street: read.Street, PostalCode: read.PostalCode, City: read.Locality, Country: read.CountryCode()},
			SaleTerms: bool(read.SaleTerms),
		}, flows.ClubFailed(err, flows.DetailClubUnread)
	})
}

// with returns the club with what was read from the club system.
func (at Club) with(terms clubTerms) Club {
	at.Code, at.SaleTerms = terms.Code, terms.SaleTerms
	at.Details = Details{Currency: terms.Currency, Address: terms.Address, Phone: terms.Phone, Email: terms.Email}.or(at.Details)
	return at
}

// Locate finds a club in the network, without a read of the club itself. It lacks the code and the details that only that read
// has.
func (c *Catalogue) Locate(ctx context.Context, clientToken, id string) (Club, error) {
	network, err := c.network(ctx, clientToken)
	if err != nil {
		return Club{}, err
	}
	node, ok := network.NodeOf(club.NewIRI(clientToken, "clubs", id))
	if !ok {
		return Club{}, &flows.Error{Code: flows.ClubNotFound, Detail: flows.DetailNoClub}
	}
	return c.clubOf(clientToken, network, node), nil
}

func (c *Catalogue) network(ctx context.Context, clientToken string) (*club.Network, error) {
	network, _, err := c.networks.get(ctx, c.organisation(clientToken), func(ctx context.Context) (*club.Network, error) {
		network, err := c.cfg.Club.NetworkNodes(ctx, club.Scope{ClientToken: clientToken})
		return network, flows.ClubFailed(err, flows.DetailClubsUnread)
	})
	return network, err
}

func (c *Catalogue) clubOf(clientToken string, network *club.Network, node club.NetworkNode) Club {
	found := Club{
		IRI:     node.Club,
		Name:    node.Name,
		Alias:   node.Alias,
		Details: c.cfg.Clubs.Details(node.Club.ID()),
		Scope:   club.Scope{ClientToken: clientToken, Club: node.Club, Node: node.IRI},
	}
	for _, parent := range network.Path(node.Club) {
		if parent.IRI != node.IRI {
			found.Path = append(found.Path, parent.Name)
		}
	}
	return found
}

// ImageOrigins lists the origins of the operator's images.
func (c *Catalogue) ImageOrigins() []string { return c.cfg.Clubs.ImageOrigins() }

// Details returns what the operator's file says about a club.
func (c *Catalogue) Details(clubID string) Details { return c.cfg.Clubs.Details(clubID) }

// Products returns a club's catalogue with all offers. Callers share it, so they must not change it.
func (c *Catalogue) Products(ctx context.Context, query ProductQuery) ([]Product, *Version, error) {
	at, err := c.Locate(ctx, query.ClientToken, query.ClubID)
	if err != nil {
		return nil, nil, err
	}
	if query.Type != "" && at.hasExtras() { // extras may be of another type than their offer
		return c.productsOfType(ctx, query)
	}
	key := productsKey{of: c.organisation(query.ClientToken), ProductQuery: query}
	if query.Date == "" {
		key.today = at.Today(c.cfg.Now()).Format(time.DateOnly)
	} else if problem := at.StartDateProblem(flows.InQuery+"date", query.Date, c.cfg.Now(), ""); problem != nil {
		return nil, nil, flows.Invalid(*problem)
	}
	products, version, err := c.products.get(ctx, key, func(ctx context.Context) ([]Product, error) {
		return c.readProducts(club.WithLane(ctx, club.Browsers), at, query)
	})
	return at.withExtras(products), version, err
}

// productsOfType selects the products of a type from the whole catalogue.
func (c *Catalogue) productsOfType(ctx context.Context, query ProductQuery) ([]Product, *Version, error) {
	wanted := query.Type
	query.Type = ""
	products, version, err := c.Products(ctx, query)
	return slices.DeleteFunc(slices.Clone(products), func(product Product) bool { return product.Type != wanted }), version, err
}

func (d Details) hasExtras() bool {
	for _, offer := range d.Offers {
		if len(offer.Extras) > 0 {
			return true
		}
	}
	return false
}

// withExtras returns products whose offers have their extras, as far as they are in the same catalogue.
func (d Details) withExtras(products []Product) []Product {
	if !d.hasExtras() {
		return products
	}
	byID := map[string]*Offer{}
	for _, product := range products {
		for k := range product.Offers {
			byID[product.Offers[k].IRI.ID()] = &product.Offers[k]
		}
	}
	products = slices.Clone(products) // the cache's
	for i, product := range products {
		for k, offer := range product.Offers {
			var extras []Offer
			for _, id := range d.Offers[offer.IRI.ID()].Extras {
				if extra, ok := byID[id]; ok {
					extras = append(extras, *extra)
				}
			}
			if extras != nil {
				products[i].Offers = slices.Clone(products[i].Offers)
				products[i].Offers[k].Extras = extras
			}
		}
	}
	return products
}

// readProducts reads a catalogue from the club system, without the products none of whose offers can be read. The offers of one
// page, unless its products have them, are read concurrently with the next page, and so is the club, which every buyer needs next.
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
		if len(product.Offers) > 0 {
			return product.Offers, nil
		}
		once, _ := begun.LoadOrStore(product.IRI, sync.OnceValues(func() ([]club.Offer, error) { return c.offersOf(ctx, at, product.IRI) }))
		return once.(func() ([]club.Offer, error))()
	}
	listed, err := c.cfg.Club.ListProductsConcurrently(ctx, scope, sale, func(page []club.Product) {
		unknownFirst := slices.SortedStableFunc(slices.Values(page), func(a, b club.Product) int {
			return cmp.Compare(c.rememberedOffers(at, a.IRI), c.rememberedOffers(at, b.IRI))
		})
		for _, product := range unknownFirst {
			ahead.Go(func() { _, _ = offers(product) }) // the loop below sees its error
		}
	})
	if err != nil {
		return nil, flows.ClubFailed(err, flows.DetailCatalogueUnread)
	}
	products := make([]Product, 0, len(listed))
	var unreadable error
	for _, product := range listed {
		read, err := offers(product)
		switch {
		case errors.Is(err, club.ErrUnreadable): // the client has counted its offers
			unreadable = err
		case err != nil:
			return nil, flows.ClubFailed(err, flows.DetailOffersUnread)
		default:
			products = append(products, newProduct(product, read))
		}
	}
	if len(products) == 0 && unreadable != nil {
		return nil, flows.ClubFailed(unreadable, flows.DetailOffersUnread)
	}
	return products, nil
}

// offersOf returns the offers of a product; older ones if they cannot be read now. So a catalogue with more products than the
// API gateway's limits allow calls at a time is complete after a few readings.
func (c *Catalogue) offersOf(ctx context.Context, at Club, product club.IRI) ([]club.Offer, error) {
	key := c.keyOfOffers(at, product)
	offers, err := c.offers.get(ctx, key, func(ctx context.Context) ([]club.Offer, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout) // another catalogue may wait for them
		defer cancel()
		select {
		case c.slots <- struct{}{}:
			defer func() { <-c.slots }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		offers, err := c.cfg.Club.ListOffers(ctx, at.Scope, product)
		if err == nil {
			c.olderOffers.set(key, offers)
		}
		return offers, err
	})
	if err != nil && !errors.Is(err, club.ErrUnreadable) {
		if older, ok := c.olderOffers.lookup(key); ok {
			return older, nil
		}
	}
	return offers, err
}

// rememberedOffers returns 1 for a product whose offers need not be read, because there are older ones, otherwise 0.
func (c *Catalogue) rememberedOffers(at Club, product club.IRI) int {
	if _, ok := c.olderOffers.lookup(c.keyOfOffers(at, product)); ok {
		return 1
	}
	return 0
}

func (c *Catalogue) keyOfOffers(at Club, product club.IRI) offersKey {
	return offersKey{c.organisation(at.Scope.ClientToken), at.IRI, product}
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
		network, err := c.network(ctx, query.ClientToken)
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
	product, _, err := c.ProductOf(ctx, query, id)
	if errors.Is(err, errNoOffer) {
		return Offer{}, &flows.Error{Code: flows.OfferNotAvailable, Detail: flows.DetailOfferNotOffered}
	}
	if err != nil {
		return Offer{}, err
	}
	return product.Offers[0], nil
}

// ProductOf finds an offer in a catalogue and returns its product with this offer alone. NotFound when the
// offer is not there.
func (c *Catalogue) ProductOf(ctx context.Context, query ProductQuery, id string) (Product, *Version, error) {
	products, version, err := c.Products(ctx, query)
	if err != nil {
		return Product{}, nil, err
	}
	for _, product := range products {
		for i, offer := range product.Offers {
			if offer.IRI.ID() == id {
				return Product{product.Product, product.Offers[i : i+1 : i+1]}, version, nil
			}
		}
	}
	return Product{}, nil, errNoOffer
}

var errNoOffer = &flows.Error{Code: flows.OfferNotFound, Detail: flows.DetailNoOffer}

// ScopeAbove returns the scope of a call that involves another club too: the club's own
// scope, sent from the nearest node above both. MigrationClub without one.
func (c *Catalogue) ScopeAbove(ctx context.Context, at Club, other club.IRI) (club.Scope, error) {
	network, err := c.network(ctx, at.Scope.ClientToken)
	if err != nil {
		return club.Scope{}, err
	}
	scope, found := at.Scope, false
	if scope.Node, found = network.CommonAncestor(at.IRI, other); !found {
		return club.Scope{}, flows.MigrationFailed(club.ErrMigrationClub)
	}
	return scope, nil
}
