// Package mock is the outside world of mock mode in one process: the simulator of the club
// system, the sandbox card processor, a mail server and an embedded Redis. The gateway speaks HTTP, SMTP
// and the Redis protocol to them, as to the real ones.
//
// Start reading at New.
package mock

import (
	"context"
	"embed"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"
	"golang.org/x/sync/errgroup"

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

// Config is what a World is made from.
type Config struct {
	Now        func() time.Time                       // required
	After      func(d time.Duration) <-chan time.Time // required by StartRedis
	PublicURL  string                                 // where browsers reach this process, such as http://localhost:8080
	WebhookURL string                                 // where the club system sends its events; empty: nowhere
	Settings   *clubsim.Settings                      // of the club system's worlds; nil: its defaults
	Catalogue  *clubsim.Catalogue                     // of the club system's worlds; nil: the demo's
	Gateway    func() []clubsim.GatewayOperation      // at which faults can be set; nil: none
	Account    sandbox.Account                        // at the card processor; zero: its demo account
	Seed       uint64                                 // of the card processor's ids; zero: a random one, which is logged
	OnMail     func()                                 // called after a mail has arrived; nil: nothing is
	Log        *slog.Logger                           // nil: nothing is logged
}

// World is the simulator of the club system and the sandbox card processor.
type World struct {
	cfg   Config
	club  *clubsim.Server
	cards *sandbox.Server
	mails *sink.Server // nil: not started

	changed atomic.Pointer[func(clientToken string)] // called with worlds that have another catalogue; nil: nothing is
}

// New makes a world without Redis. Close it. A reset of one of the simulator's demo worlds also resets its payments.
func New(cfg Config) *World {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	processor := sandbox.New(sandbox.Config{
		Now:      cfg.Now,
		BaseURL:  cfg.PublicURL + "/sandbox",
		Accounts: []sandbox.Account{cfg.Account},
		Seed:     cfg.Seed,
		Logger:   cfg.Log,
	})
	club := clubsim.New(clubsim.Config{
		Now:        cfg.Now,
		Logger:     cfg.Log,
		WebhookURL: cfg.WebhookURL,
		Settings:   cfg.Settings,
		Catalogue:  cfg.Catalogue,
		Gateway:    cfg.Gateway,
		OnReset:    processor.Reset,
	})
	return &World{cfg: cfg, club: club, cards: processor}
}

// Handler serves the simulator below /sim/ and the sandbox below /sandbox/.
func (w *World) Handler() http.Handler { return w.before(http.NotFoundHandler(), func(string) {}) }

// Wrap is Handler with next for all other paths. It calls changed with a demo world's client
// token after a request, or a new file of the catalogue, that changed its settings, faults, clock, state or catalogue.
func (w *World) Wrap(next http.Handler, changed func(clientToken string)) http.Handler {
	w.changed.Store(&changed)
	return w.before(next, changed)
}

// before is not a ServeMux, which would redirect unclean paths before next sees them.
func (w *World) before(next http.Handler, changed func(clientToken string)) http.Handler {
	club, cards := http.StripPrefix("/sim", w.club), http.StripPrefix("/sandbox", w.cards)
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/sim/"):
			club.ServeHTTP(rw, r)
			if token := changedWorld(r); token != "" {
				changed(token)
			}
		case strings.HasPrefix(r.URL.Path, "/sandbox/"):
			cards.ServeHTTP(rw, r)
		default:
			next.ServeHTTP(rw, r)
		}
	})
}

// changedWorld returns the client token of the demo world that a request changed, or "".
func changedWorld(r *http.Request) string {
	parts := strings.Split(r.URL.Path, "/")
	changing := []string{"settings", "faults", "clock", "state", "reset", "catalogue", ""} // "" is the inspector's forms
	if r.Method == http.MethodGet || len(parts) != 5 || parts[3] != "_control" || !slices.Contains(changing, parts[4]) {
		return ""
	}
	return parts[2]
}

// AsksRepeats reports whether a demo world asks for the question before a repeated purchase.
func (w *World) AsksRepeats(clientToken string) bool {
	world := w.club.World(clientToken)
	return world != nil && world.Settings().AskRepeats
}

// TakeGatewayFault is clubsim.Server.TakeGatewayFault.
func (w *World) TakeGatewayFault(world, method, path, requestPath string) clubsim.Fault {
	return w.club.TakeGatewayFault(world, method, path, requestPath)
}

// Release ends the requests that a fault of the simulator keeps waiting.
func (w *World) Release() { w.club.Release() }

// Close waits for the club events that are being sent, and stops the processor's webhooks.
func (w *World) Close() {
	w.club.Close()
	w.cards.Close()
	if w.mails != nil {
		w.mails.Close()
	}
}

// StartMail starts a mail server on an address, such as 127.0.0.1:0, and returns its URL. A mail arrives in the mailbox of the
// demo world that it names, else in that of the world demo.
func (w *World) StartMail(address string) (url string, err error) {
	w.mails, err = sink.Listen(address, sink.Config{Now: w.cfg.Now, OnMail: w.receiveMail})
	if err != nil {
		return "", err
	}
	return "smtp://" + w.mails.Addr, nil
}

func (w *World) receiveMail(received sink.Mail) {
	world := w.club.World(received.World)
	if world == nil {
		world = w.club.World(clubsim.DemoClientToken)
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
	if w.cfg.OnMail != nil {
		w.cfg.OnMail()
	}
}

// redisTick is the finest expiry that the gateway relies on.
const redisTick = time.Second

// StartRedis starts the embedded Redis and returns its URL. The group advances its clock, by
// which keys expire, until ctx ends. Redis ends with the process: the gateway writes to it
// while it shuts down.
func (w *World) StartRedis(ctx context.Context, group *errgroup.Group) (url string, err error) {
	redis := miniredis.NewMiniRedis()
	if err := redis.Start(); err != nil {
		return "", err
	}
	group.Go(func() error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-w.cfg.After(redisTick):
				redis.FastForward(redisTick)
			}
		}
	})
	return "redis://" + redis.Addr(), nil
}
