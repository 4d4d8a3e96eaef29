// Package probe finds out how an installation of the club system differs from its description, with reads alone. It reads what
// a gateway reads, compares the shapes of the responses with those of the simulator, and returns the settings with which the
// simulator plays the installation. It keeps no value of a response.
//
// Start reading at Run, then at reads, which lists the calls, and at rows (row.go), which maps what they show to settings.
package probe

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// Config is what a probe needs.
type Config struct {
	Club      club.Config // of the installation; Run sets its Transport and its Limits
	Token     string      // the organisation's client token
	Calls     int         // the most calls that are made; 0: no limit
	Transport http.RoundTripper
	Now       func() time.Time
	After     func(time.Duration) <-chan time.Time
}

// callTimeout is how long a call may take: longer than the client waits, because a slow response shows as much.
const callTimeout = 20 * time.Second

// Run probes an installation. It returns an error if its club system shows no club.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	installation := cfg.source(cfg.Transport, cfg.Calls)
	if err := installation.read(ctx); err != nil {
		return nil, err
	}
	report := newReport(installation)
	settings, err := report.played()
	if err != nil {
		return nil, err
	}
	settings.CallLimits = clubsim.DefaultSettings().CallLimits // the comparison need not wait
	simulator := clubsim.New(clubsim.Config{Now: cfg.Now, Settings: &settings})
	defer simulator.Close()
	cfg.Token, cfg.Club = clubsim.DemoClientToken, club.Config{
		BaseURL:      "http://simulator",
		ClientID:     clubsim.DemoClientID,
		ClientSecret: clubsim.DemoClientSecret,
		GatewayKey:   clubsim.DemoGatewayKey,
	}
	played := cfg.source(handlerTransport{simulator}, 0)
	if err := played.read(ctx); err != nil {
		return nil, err
	}
	report.compare(installation, played)
	return report, nil
}

// source is a club system that is read: the installation, or the simulator that plays it.
type source struct {
	*recorder
	client *club.Client
	token  string
	failed []*club.Error // reads whose responses the client cannot use
}

func (cfg Config) source(transport http.RoundTripper, budget int) *source {
	recorder := &recorder{
		base:     transport,
		now:      cfg.Now,
		after:    cfg.After,
		budget:   budget,
		shapes:   map[string]shape{},
		statuses: map[string][]int{},
		words:    map[string][]string{},
		ids:      map[string][]club.IRI{},
	}
	config := cfg.Club
	base, _ := url.Parse(strings.TrimRight(config.BaseURL, "/"))
	recorder.prefix = cmp.Or(base, new(url.URL)).Path + strings.TrimRight(config.PathPrefix, "/") + "/" + cfg.Token + "/"
	config.Now, config.Transport, config.LimitHeaders = cfg.Now, recorder, true
	config.Limits = club.Limits{
		MaxAttempts:    1,
		ReadTimeout:    callTimeout,
		AttemptTimeout: callTimeout,
		QueueTimeout:   callTimeout,
		BreakerCalls:   1 << 20, // the recorder ends the probe
	}
	client := club.New(config)
	recorder.limits = func() club.CallLimits {
		seen, _, _ := client.CallLimits(cfg.Token)
		return seen
	}
	return &source{recorder: recorder, client: client, token: cfg.Token}
}

// sampled is how many records of a kind are read one by one, and how many clubs: enough to meet members that only some have.
const sampled = 5

// longPage is more records than a page may have.
const longPage = "1000"

// read makes the calls, the most telling ones first. It returns an error if it sees no club.
func (s *source) read(ctx context.Context) error {
	err := s.client.Authorise(ctx, s.token)
	if failure, ours := errors.AsType[*club.Error](err); ours && failure.Status == http.StatusTooManyRequests {
		return s.halted
	}
	if err != nil {
		return err
	}
	network, err := s.client.NetworkNodes(ctx, club.Scope{ClientToken: s.token})
	if err != nil {
		return cmp.Or(s.halted, err)
	}
	var scopes []club.Scope // of the clubs that the credentials may read
	for _, node := range network.Clubs() {
		scope := club.Scope{ClientToken: s.token, Club: node.Club, Node: node.IRI}
		_, err = s.client.GetClub(ctx, scope, node.Club)
		if s.keep(err); err == nil {
			scopes = append(scopes, scope)
		}
		if len(scopes) == sampled || s.halted != nil {
			break
		}
	}
	if len(scopes) == 0 {
		return cmp.Or(s.halted, err, errors.New("the installation shows no club to these credentials"))
	}
	for _, scope := range scopes {
		s.raw(ctx, scope, "contacts", nil)
	}
	s.readClub(ctx, scopes[0])
	return nil
}

// readClub reads a club's catalogue and the records of some of its contacts and sales.
func (s *source) readClub(ctx context.Context, scope club.Scope) {
	s.raw(ctx, scope, "contacts/"+club.NoID, nil)
	s.raw(ctx, scope, "clubs", nil)
	s.raw(ctx, scope, "checkouts", nil)
	s.raw(ctx, scope, "referentials/cancellation_motives", nil)
	s.raw(ctx, scope, "identify_sale_terms", url.Values{"club": {string(scope.Club)}})
	s.raw(ctx, scope, "network_nodes", url.Values{unknownFilter: {"1"}})
	s.raw(ctx, scope, "products", url.Values{"itemsPerPage": {longPage}})
	_, err := s.client.ListAllowedDebitDays(ctx, scope, s.now().Format(time.DateOnly))
	s.keep(err)
	for _, contact := range s.some("GET contacts") {
		_, err := s.client.GetContact(ctx, scope, contact)
		s.keep(err)
		_, err = s.client.GetAccountStatistics(ctx, scope, contact)
		s.keep(err)
		_, err = s.client.ListOptins(ctx, scope, contact)
		s.keep(err)
	}
	s.raw(ctx, scope, "sales", nil)
	s.raw(ctx, scope, "sales", url.Values{contactFilter: {string(club.NewIRI(s.token, "contacts", club.NoID))}})
	for _, sale := range s.some("GET sales") {
		_, err := s.client.GetSale(ctx, scope, sale)
		s.keep(err)
		_, err = s.client.CheckSale(ctx, scope, sale)
		s.keep(err)
	}
	s.raw(ctx, scope, "class_events", nil)
	s.raw(ctx, scope, "attendees", nil)
	products, err := s.client.ListProducts(ctx, scope, club.ProductQuery{Channel: club.ChannelWeb, Club: scope.Club})
	s.keep(err)
	for _, product := range products {
		_, err := s.client.ListOffers(ctx, scope, product.IRI)
		s.keep(err)
	}
}

// raw reads what no journey of the gateway does.
func (s *source) raw(ctx context.Context, scope club.Scope, path string, query url.Values) {
	_, _ = s.client.Read(ctx, scope, path, query) // the recorder has seen it
}

// some returns the identifiers of a few records of a list.
func (s *source) some(operation string) []club.IRI {
	return s.ids[operation][:min(sampled, len(s.ids[operation]))]
}

// keep keeps the error of a response that the client cannot read.
func (s *source) keep(err error) {
	failure, ours := errors.AsType[*club.Error](err)
	if _, unreadable := errors.AsType[*club.DecodeError](err); ours && (unreadable || errors.Is(err, club.ErrForeign)) {
		s.failed = append(s.failed, failure)
	}
}
