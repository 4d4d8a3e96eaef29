// Package mock is the outside world of mock mode in one process: the simulator of the club
// system, the sandbox card processor, a mail server, and for each demo world a gateway with an embedded Redis. The gateway speaks HTTP,
// SMTP and the Redis protocol to them, as to the real ones.
//
// Start reading at New; worlds.go has what a world is, and state.go what is kept of it.
package mock

import (
	"cmp"
	"embed"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mail/sink"
)

// Clubs is what the operator of the demo clubs would tell about them: FRONTDESK_CLUBS of mock and test mode.
//
//go:embed clubs.yaml
var Clubs string

// Documents is the folder of Clubs, with the documents that it names.
//
//go:embed documents
var Documents embed.FS

// Config is what a Server is made from.
type Config struct {
	Now        func() time.Time                       // required
	After      func(d time.Duration) <-chan time.Time // required
	PublicURL  string                                 // where browsers reach this process, such as http://localhost:8080
	WebhookURL string                                 // where the club system sends its events; empty: nowhere
	Settings   *clubsim.Settings                      // of the club system's worlds; nil: its defaults
	Catalogue  *clubsim.Catalogue                     // of the club system's worlds; nil: the demo's
	Operations func() []clubsim.GatewayOperation      // of the gateways, at which faults can be set; nil: none
	Account    sandbox.Account                        // at the card processor; zero: its demo account
	Seed       uint64                                 // of the card processor's ids; zero: a random one, which is logged
	OnChange   func()                                 // called after a mail has arrived, or a gateway has called; nil: nothing is
	// Gateway makes the gateway of a world; nil: worlds have none, and those who call the club system have the real clock.
	Gateway func(Place) (*Gateway, error)
	Default string       // the world of requests that name none; empty: demo
	State   string       // the folder that keeps the worlds; empty: they end with the process
	Log     *slog.Logger // nil: nothing is logged
}

// Server is the simulator of the club system and the sandbox card processor, and the worlds with their gateways.
type Server struct {
	cfg    Config
	club   *clubsim.Server
	cards  *sandbox.Server
	mails  *sink.Server // nil: not started
	worlds worlds
	lock   *flock.Flock // on the folder State; nil: not loaded
}

// New makes a server. Close it. What changes a world of the simulator as a whole also changes its payments and its gateway.
func New(cfg Config) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.OnChange == nil {
		cfg.OnChange = func() {}
	}
	cfg.Default = cmp.Or(cfg.Default, clubsim.DemoClientToken)
	server := &Server{cfg: cfg, worlds: worlds{byName: map[string]*world{}}}
	server.cards = sandbox.New(sandbox.Config{
		Now:      cfg.Now,
		WorldNow: server.processorNow(),
		BaseURL:  cfg.PublicURL + "/sandbox",
		Accounts: []sandbox.Account{cfg.Account},
		Seed:     cfg.Seed,
		Logger:   cfg.Log,
		Changed:  server.cardsChanged,
	})
	server.club = clubsim.New(clubsim.Config{
		Now:        cfg.Now,
		Logger:     cfg.Log,
		WebhookURL: cfg.WebhookURL,
		Settings:   cfg.Settings,
		Catalogue:  cfg.Catalogue,
		Gateway:    cfg.Operations,
		Rest: clubsim.Rest{
			Reset:    server.reset,
			Move:     server.move,
			Snapshot: server.snapshot,
			Restore:  server.restore,
			Delete:   server.remove,
			Follows:  cfg.Gateway != nil,
		},
	})
	return server
}

// processorNow is the processor's clock in a world. It is that of those who call it.
func (s *Server) processorNow() func(world string) time.Time {
	if s.cfg.Gateway == nil {
		return nil
	}
	return func(world string) time.Time { return s.club.World(world).Now() }
}

// ServeHTTP serves the simulator below /sim/, the sandbox below /sandbox/, and all other paths by the gateway of the world that the
// request names. It is not a ServeMux, which would redirect unclean paths before a gateway sees them.
func (s *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/sim/"):
		s.serveClub(rw, r)
	case strings.HasPrefix(r.URL.Path, "/sandbox/"):
		http.StripPrefix("/sandbox", s.cards).ServeHTTP(rw, r)
	default:
		s.serveGateway(rw, r, func(g *Gateway) http.Handler { return g.Public })
	}
}

// serveClub serves the simulator. What a control request changes must not be hidden by the caches of the world's gateway.
func (s *Server) serveClub(rw http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/")
	if name := parts[2]; clubsim.IsWorld(name) {
		defer s.enter(name).leave(r)
		if r.Method != http.MethodGet && len(parts) > 3 && parts[3] == "_control" {
			defer s.forgetCaches(name)
		}
	}
	http.StripPrefix("/sim", s.club).ServeHTTP(rw, r)
}

// cardsChanged is sandbox.Config's Changed.
func (s *Server) cardsChanged(name string) {
	for _, w := range s.worlds.list() {
		if name == "" || w.name == name {
			w.wrote.Store(s.cfg.Now().UnixNano())
		}
	}
}

// AsksRepeats reports whether a demo world asks for the question before a repeated purchase.
func (s *Server) AsksRepeats(clientToken string) bool {
	world := s.club.World(clientToken)
	return world != nil && world.Settings().AskRepeats
}

// TakeGatewayFault is clubsim.Server.TakeGatewayFault.
func (s *Server) TakeGatewayFault(world, method, path, requestPath string) clubsim.Fault {
	return s.club.TakeGatewayFault(world, method, path, requestPath)
}

// Release ends the requests that a fault of the simulator keeps waiting.
func (s *Server) Release() { s.club.Release() }

// Close ends the gateways, waits for the club events that are being sent, and stops the processor's webhooks.
func (s *Server) Close() {
	s.closeWorlds()
	s.club.Close()
	s.cards.Close()
	if s.mails != nil {
		s.mails.Close()
	}
	if s.lock != nil {
		_ = s.lock.Unlock() // the end of the process does it otherwise
	}
}

// StartMail starts a mail server on an address, such as 127.0.0.1:0, and returns its URL. A mail arrives in the mailbox of the
// demo world that it names, else in that of the world demo.
func (s *Server) StartMail(address string) (url string, err error) {
	s.mails, err = sink.Listen(address, sink.Config{Now: s.cfg.Now, OnMail: s.receiveMail})
	if err != nil {
		return "", err
	}
	return "smtp://" + s.mails.Addr, nil
}

func (s *Server) receiveMail(received sink.Mail) {
	world := s.club.World(received.World)
	if world == nil {
		world = s.club.World(clubsim.DemoClientToken)
	}
	mail := clubsim.Mail{
		To:        received.To,
		From:      received.From,
		Subject:   received.Subject,
		MessageID: received.MessageID,
		Text:      received.Text,
		HTML:      received.HTML,
	}
	for _, document := range received.Attachments {
		mail.Attachments = append(mail.Attachments, clubsim.MailAttachment{
			Name: document.Name, Type: document.Type, Size: len(document.Content), Content: document.Content,
		})
	}
	world.ReceiveMail(mail)
	s.cfg.OnChange()
}
