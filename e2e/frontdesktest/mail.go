package frontdesktest

import (
	"context"
	"encoding/base64"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/keyring"
	"frontdesk/flows/store"
	"frontdesk/upstream/mail/sink"
)

// DemoSealKey is the seal key of gateways without one of their own.
const DemoSealKey = "ZnJvbnRkZXNrLWRlbW8tc2VhbC1rZXktMDEyMzQ1Njc=" // #nosec G101 -- public on purpose

// MailServer is a mail server with what it took.
type MailServer struct {
	*sink.Server
	mu    sync.Mutex
	mails []sink.Mail
}

// NewMailServer starts a mail server for one test.
func NewMailServer(t TB, cfg sink.Config) *MailServer {
	t.Helper()
	s := &MailServer{}
	cfg.OnMail = func(mail sink.Mail) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.mails = append(s.mails, mail)
	}
	cfg.Now = time.Now
	started, err := sink.Listen("127.0.0.1:0", cfg)
	Must(t, err)
	t.Cleanup(started.Close)
	s.Server = started
	return s
}

// Taken returns the mails that the server took, oldest first.
func (s *MailServer) Taken() []sink.Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

// Environment has a gateway send its mails to the server.
func (s *MailServer) Environment() []string {
	return []string{"FRONTDESK_SMTP_URL=smtp://" + s.Addr, "FRONTDESK_MAIL_FROM=Gym <signup@gym-4711.fr>"}
}

// SendMail queues a mail in a Redis, as the services of a gateway do.
func SendMail(t TB, redisURL, sealKey string, message flows.Mail) {
	t.Helper()
	records, connection, keys := openStore(t, redisURL, sealKey)
	defer connection.Close()
	queue := background.NewQueue(background.QueueConfig{Redis: connection, Store: records, Keys: keys, Mails: true, Now: time.Now})
	Must(t, queue.SendMail(context.Background(), message))
}

// openStore opens the records of gateways. The caller closes the connection.
func openStore(t TB, redisURL, sealKey string) (*store.Store, redis.UniversalClient, *keyring.Keyring) {
	t.Helper()
	connection, err := store.Connect(redisURL)
	Must(t, err)
	secret, err := base64.StdEncoding.DecodeString(sealKey)
	Must(t, err)
	keys, err := keyring.New(secret)
	Must(t, err)
	return store.New(store.Config{Redis: connection, Keys: keys}), connection, keys
}

// AgeCancellation moves the claim of an online cancellation into the past, as if its gateway had been silent for so long.
func AgeCancellation(t TB, redisURL, secret string, by time.Duration) {
	t.Helper()
	records, connection, _ := openStore(t, redisURL, DemoSealKey)
	defer connection.Close()
	statement, err := records.Statement(t.Context(), flows.StatementID(secret))
	Must(t, err)
	statement.Online.ClaimedAt = statement.Online.ClaimedAt.Add(-by)
	now := time.Now()
	Must(t, records.SaveStatement(t.Context(), statement, now, now, keepAged))
}

// keepAged is how long such a statement is kept: longer than any test.
const keepAged = time.Hour
