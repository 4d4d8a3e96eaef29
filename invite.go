package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/flows/store"
)

// inviteCommand makes an invitation link for a contact. It needs what a gateway
// of the same configuration needs, above all its Redis and its seal keys.
type inviteCommand struct {
	Config
	Contact string        `help:"The contact's id at the club system, such as 1001." required:""`
	Club    string        `help:"The id of the contact's own club, such as 11." required:""`
	TTL     time.Duration `help:"How long the link is good." name:"ttl" default:"72h"`
}

// Run prints the link, and nothing else. The club in it is for the page that it
// leads to: what the invitation is good for, the gateway knows by itself.
func (c *inviteCommand) Run(ctx context.Context) error {
	if c.Mode == "mock" {
		return errors.New("in mock mode everything is kept inside the gateway's own process, where no other command can reach it: use FRONTDESK_MODE=test (see the README), or an identityToken of the simulator's personas")
	}
	redis.SetLogger(redisLog{slog.New(slog.DiscardHandler)}) // its errors come back as such
	if err := c.prepare(); err != nil {
		return err
	}
	keys, err := keyring(c.SealKeys)
	if err != nil {
		return fmt.Errorf("FRONTDESK_SEAL_KEYS: %w", err)
	}
	connection, err := store.Connect(c.RedisURL)
	if err != nil {
		return fmt.Errorf("FRONTDESK_REDIS_URL: %w", err)
	}
	defer connection.Close()
	clubSystem := c.clubSystem(slog.New(slog.DiscardHandler))
	contacts := flows.NewContacts(flows.ContactsConfig{
		Store: store.New(store.Config{Redis: connection, Keys: keys}), Club: clubSystem, Catalogue: flows.NewCatalogue(clubSystem), Now: time.Now,
	})
	token, err := contacts.Invite(ctx, flows.Identified{ClientToken: c.ClubToken, ContactID: c.Contact, ClubID: c.Club}, c.TTL)
	if err != nil {
		return err
	}
	fmt.Println(c.PublicURL + "/?invitation=" + token + "&club=" + url.QueryEscape(c.Club))
	return nil
}

// prepare checks the configuration and fills in the defaults. The link leads to
// where a gateway of this configuration listens, unless a public address is given.
func (c *inviteCommand) prepare() error {
	if err := c.check(); err != nil {
		return err
	}
	if c.PublicURL == "" {
		_, port, err := net.SplitHostPort(c.Addr)
		if err != nil {
			return fmt.Errorf("FRONTDESK_ADDR: %w", err)
		}
		c.PublicURL = "http://localhost:" + port
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") // the defaults ask for its port, which nothing here depends on
	if err != nil {
		return err
	}
	c.setDefaults(listener)
	return listener.Close()
}
