// Package sink is an SMTP server that delivers nothing and hands every mail on: the mail server of mock mode and of tests. It can
// also fail, as mail servers do.
//
// Start reading at Listen.
package sink

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-message/mail"
	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	upstream "frontdesk/upstream/mail"
)

// Config is what a server is made from. The zero value takes every mail in plain, and drops it.
type Config struct {
	OnMail         func(Mail)       // called with each mail that was taken; nil: it is dropped
	Now            func() time.Time // of SentAt
	TLS            *tls.Config      // has the certificate; nil: no encryption
	FromFirstByte  bool             // with TLS: no STARTTLS, the connection begins encrypted
	User, Password string           // that a sender must have, once the connection is encrypted; empty: no authentication
}

// Mail is a mail as its reader sees it.
type Mail struct {
	World       string // of the simulator; empty: the sender named none
	To          string
	From        string // with the name
	Subject     string
	MessageID   string
	Header      map[string]string // the fields with one value, by their canonical name
	Text, HTML  string
	Attachments []Attachment
	SentAt      time.Time // when it was taken
}

// Attachment is a document that came with a mail.
type Attachment struct {
	Name    string
	Type    string // without parameters
	Content []byte
}

// Fault is what happens to a mail instead of its acceptance. The zero value accepts it.
type Fault struct {
	Status int  // the recipient is refused with this status, such as 450 or 550
	Hang   bool // the content gets no response until the sender leaves
	Die    bool // the mail is taken, and the connection ends instead of a response
}

// Server is a running server.
type Server struct {
	Addr string // host and port

	cfg      Config
	smtp     *smtp.Server
	listener net.Listener
	served   sync.WaitGroup
	mu       sync.Mutex
	fault    Fault
	times    int // that it still happens; negative: always
	attempts int
}

// maxMessage bounds a mail. A confirmation with its documents is below a megabyte.
const maxMessage = 25 << 20

// Listen starts a server on an address, such as 127.0.0.1:0. Close it.
func Listen(address string, cfg Config) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	server := &Server{Addr: listener.Addr().String(), cfg: cfg}
	server.smtp = smtp.NewServer(smtp.BackendFunc(func(connection *smtp.Conn) (smtp.Session, error) {
		return &session{server: server, connection: connection}, nil
	}))
	server.smtp.Domain, server.smtp.MaxMessageBytes, server.smtp.ErrorLog = "localhost", maxMessage, log.New(io.Discard, "", 0)
	if cfg.FromFirstByte {
		listener = tls.NewListener(listener, cfg.TLS)
	} else {
		server.smtp.TLSConfig = cfg.TLS
	}
	server.listener = listener
	server.served.Go(func() { _ = server.smtp.Serve(listener) }) // it ends with Close
	return server, nil
}

// Close ends the server and its connections.
func (s *Server) Close() {
	_ = s.smtp.Close()
	_ = s.listener.Close() // smtp does not know it before it serves it
	s.served.Wait()
}

// Fail makes a fault happen to the next mails; a negative number: to all. It replaces the previous one.
func (s *Server) Fail(times int, fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.times = fault, times
}

// Attempts counts the mails that senders have begun, whatever happened to them.
func (s *Server) Attempts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attempts
}

// next returns what happens to the mail that begins.
func (s *Server) next() Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts++
	if s.times == 0 {
		return Fault{}
	}
	s.times--
	return s.fault
}

// session is one connection.
type session struct {
	server        *Server
	connection    *smtp.Conn
	authenticated bool
	fault         Fault // of the mail that is being sent
}

// AuthMechanisms implements smtp.AuthSession.
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth implements smtp.AuthSession.
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != s.server.cfg.User || password != s.server.cfg.Password {
			return smtp.ErrAuthFailed
		}
		s.authenticated = true
		return nil
	}), nil
}

// Mail implements smtp.Session.
func (s *session) Mail(string, *smtp.MailOptions) error {
	if s.server.cfg.User != "" && !s.authenticated {
		return smtp.ErrAuthRequired
	}
	s.fault = s.server.next()
	return nil
}

// Rcpt implements smtp.Session. Like many servers, it repeats the address in a refusal.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if status := s.fault.Status; status != 0 {
		return &smtp.SMTPError{Code: status, EnhancedCode: smtp.EnhancedCode{status / 100, 1, 1}, Message: "<" + to + "> is refused"}
	}
	return nil
}

// Data implements smtp.Session.
func (s *session) Data(content io.Reader) error {
	received, err := read(content)
	if err != nil {
		return &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 6, 0}, Message: err.Error()}
	}
	received.SentAt = s.server.cfg.Now()
	if s.fault.Hang {
		_, _ = s.connection.Conn().Read(make([]byte, 1)) // returns when the sender leaves
		return s.connection.Conn().Close()
	}
	if s.server.cfg.OnMail != nil {
		s.server.cfg.OnMail(received)
	}
	if s.fault.Die {
		return s.connection.Conn().Close()
	}
	return nil
}

// Reset implements smtp.Session.
func (*session) Reset() {}

// Logout implements smtp.Session.
func (*session) Logout() error { return nil }

// read reads a mail of any structure.
func read(content io.Reader) (received Mail, err error) {
	reader, err := mail.CreateReader(content)
	if err != nil {
		return received, err
	}
	header := reader.Header
	received.World = header.Get(upstream.WorldHeader)
	received.From = header.Get("From")
	if to, err := header.AddressList("To"); err == nil && len(to) > 0 {
		received.To = to[0].Address
	}
	received.Subject, _ = header.Subject()
	received.MessageID, _ = header.MessageID()
	received.Header = map[string]string{}
	for fields := header.Fields(); fields.Next(); {
		received.Header[fields.Key()] = fields.Value()
	}
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return received, nil
		}
		if err != nil {
			return received, err
		}
		if err := received.add(part); err != nil {
			return received, err
		}
	}
}

func (m *Mail) add(part *mail.Part) error {
	body, err := io.ReadAll(part.Body)
	if err != nil {
		return err
	}
	switch header := part.Header.(type) {
	case *mail.InlineHeader:
		kind, _, _ := header.ContentType()
		text := strings.ReplaceAll(string(body), "\r\n", "\n") // lines end with both on the way
		if kind == "text/html" {
			m.HTML += text
		} else {
			m.Text += text
		}
	case *mail.AttachmentHeader:
		name, _ := header.Filename()
		kind, _, _ := header.ContentType()
		m.Attachments = append(m.Attachments, Attachment{Name: name, Type: kind, Content: body})
	}
	return nil
}
