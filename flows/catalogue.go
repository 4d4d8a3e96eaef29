package flows

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/maypok86/otter/v2/stats"
	"golang.org/x/sync/errgroup"

	"frontdesk/upstream/club"
)

// The figures of the catalogue.
const (
	// catalogueFresh: how old a catalogue may be that a visitor browses. Prices
	// are always read again before money moves.
	catalogueFresh = 60 * time.Second
	// catalogueEntries bounds the memory: a club's catalogue is about 100 KB.
	catalogueEntries = 500
	// offerEntries: the offers of a product are about 2 KB; a hundred clubs have about so many products.
	offerEntries = 5000
	// catalogueTimeout bounds one reading of a whole catalogue, which goes on
	// when the visitor who caused it has left, for others wait for it too.
	catalogueTimeout = 30 * time.Second
	// offerReads: the club system lists offers a product at a time; so many at once.
	offerReads = 8
)

// Catalogue answers what the clubs are and what they offer, from memory where
// it was read within a minute.
type Catalogue struct {
	club     *club.Client
	networks *otter.Cache[string, *club.Network]
	clubs    *otter.Cache[clubKey, Club]
	products *otter.Cache[ProductQuery, []Product]
	days     *otter.Cache[daysKey, []DebitDay]
	offers   *otter.Cache[offersKey, []club.Offer]
}

// offersKey: offers depend on the product and the club, never on who asks (club
// system API, section Catalogue), so everybody's catalogue shares them.
type offersKey struct{ club, product club.IRI }

type clubKey struct{ clientToken, id string }

// Club is a club of the chain.
type Club struct {
	IRI      club.IRI
	Name     string
	Alias    string
	Path     []string // names of the parent nodes, outermost first
	Code     string   // the club system's code, needed for sales; only from Catalogue.Club
	Currency string   // ISO 4217; only from Catalogue.Club
	Scope    club.Scope
}

// ProductQuery says whose catalogue is asked for. It is the cache's key, so
// everything that may change the answer is in it.
type ProductQuery struct {
	ClientToken string
	ClubID      string
	Channel     string // web, terminal, club
	Type        string // one category, or empty for all
	Date        string // YYYY-MM-DD, or empty for today
	Buyer       Buyer  // who looks; the zero value is anybody
}

// Product is a product with its offers.
type Product struct {
	club.Product
	Offers []Offer
	listed []club.Offer // the same offers, as the club system has them
}

// NewCatalogue makes a catalogue over a client.
func NewCatalogue(client *club.Client) *Catalogue {
	return &Catalogue{
		club:     client,
		networks: otter.Must(cacheOptions[string, *club.Network]()),
		clubs:    otter.Must(cacheOptions[clubKey, Club]()),
		products: otter.Must(cacheOptions[ProductQuery, []Product]()),
		days:     otter.Must(cacheOptions[daysKey, []DebitDay]()),
		offers: otter.Must(&otter.Options[offersKey, []club.Offer]{
			MaximumSize: offerEntries, ExpiryCalculator: otter.ExpiryWriting[offersKey, []club.Offer](catalogueFresh), StatsRecorder: stats.NewCounter(),
		}),
	}
}

func cacheOptions[K comparable, V any]() *otter.Options[K, V] {
	return &otter.Options[K, V]{MaximumSize: catalogueEntries, ExpiryCalculator: otter.ExpiryWriting[K, V](catalogueFresh), StatsRecorder: stats.NewCounter()}
}

// cached answers from the cache, or loads once for all who wait.
func cached[K comparable, V any](ctx context.Context, cache *otter.Cache[K, V], key K, load func(context.Context) (V, error)) (V, error) {
	return cache.Get(ctx, key, otter.LoaderFunc[K, V](func(ctx context.Context, _ K) (V, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), catalogueTimeout)
		defer cancel()
		return load(ctx)
	}))
}

// Clubs lists the clubs of the chain.
func (c *Catalogue) Clubs(ctx context.Context, clientToken string) ([]Club, error) {
	network, err := c.network(ctx, clientToken)
	if err != nil {
		return nil, err
	}
	var clubs []Club
	for _, node := range network.Clubs() {
		clubs = append(clubs, clubOf(clientToken, network, node))
	}
	return clubs, nil
}

// Club finds a club by its public id. NotFound when the chain has none.
func (c *Catalogue) Club(ctx context.Context, clientToken, id string) (Club, error) {
	return cached(ctx, c.clubs, clubKey{clientToken, id}, func(ctx context.Context) (Club, error) {
		network, err := c.network(ctx, clientToken)
		if err != nil {
			return Club{}, err
		}
		node, ok := network.NodeOf(club.NewIRI(clientToken, "clubs", id))
		if !ok {
			return Club{}, &Error{Code: NotFound, Detail: "There is no such club."}
		}
		found := clubOf(clientToken, network, node)
		read, err := c.club.GetClub(ctx, found.Scope, found.IRI)
		if err != nil {
			return Club{}, clubFailed(err, "The club could not be read.")
		}
		found.Code, found.Currency = read.Code, read.Currency
		return found, nil
	})
}

func (c *Catalogue) network(ctx context.Context, clientToken string) (*club.Network, error) {
	return cached(ctx, c.networks, clientToken, func(ctx context.Context) (*club.Network, error) {
		network, err := c.club.NetworkNodes(ctx, club.Scope{ClientToken: clientToken})
		return network, clubFailed(err, "The clubs of the chain could not be read.")
	})
}

func clubOf(clientToken string, network *club.Network, node club.NetworkNode) Club {
	found := Club{IRI: node.Club, Name: node.Name, Alias: node.Alias,
		Scope: club.Scope{ClientToken: clientToken, Club: node.Club, Node: node.IRI}}
	for _, parent := range network.Path(node.Club) {
		if parent.IRI != node.IRI {
			found.Path = append(found.Path, parent.Name)
		}
	}
	return found
}

// Products reads a club's catalogue with all offers.
func (c *Catalogue) Products(ctx context.Context, query ProductQuery) ([]Product, error) {
	at, err := c.Club(ctx, query.ClientToken, query.ClubID)
	if err != nil {
		return nil, err
	}
	return cached(ctx, c.products, query, func(ctx context.Context) ([]Product, error) {
		scope, asked, err := c.sale(ctx, at, query)
		if err != nil {
			return nil, err
		}
		listed, err := c.club.ListProducts(ctx, scope, asked)
		if err != nil {
			return nil, clubFailed(err, "The catalogue could not be read.")
		}
		products := make([]Product, len(listed))
		reads, ctx := errgroup.WithContext(ctx)
		reads.SetLimit(offerReads)
		for i, product := range listed {
			reads.Go(func() error {
				offers, err := cached(ctx, c.offers, offersKey{at.IRI, product.IRI}, func(ctx context.Context) ([]club.Offer, error) {
					return c.club.ListOffers(ctx, at.Scope, product.IRI)
				})
				products[i] = Product{Product: product, Offers: offersOf(product, offers), listed: offers}
				return clubFailed(err, "The offers of the catalogue could not be read.")
			})
		}
		return products, reads.Wait()
	})
}

// sale says for which sale the catalogue is read, and from where: a contact of
// another club of the chain is seen from the node above both. In a club of
// another chain a contact is a visitor like anybody.
func (c *Catalogue) sale(ctx context.Context, at Club, query ProductQuery) (club.Scope, club.ProductQuery, error) {
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
		node, sameChain := network.CommonAncestor(at.IRI, buyer.Club)
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
	products, err := c.Products(ctx, query)
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
	return Offer{}, &Error{Code: OfferNotAvailable, Detail: fmt.Sprintf("The club does not offer %q.", id)}
}
