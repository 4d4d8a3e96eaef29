package mail

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/mail"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

const (
	// stepTimeout bounds the greeting, and then the whole transfer of a mail: attachments may cross a slow line.
	stepTimeout = 30 * time.Second
	// startTLSPort and tlsPort are the usual ports of mail submission (RFC 6409, RFC 8314).
	startTLSPort = 587
	tlsPort      = 465
)

// Config names the SMTP server.
type Config struct {
	// URL is smtp:// (STARTTLS) or smtps:// (TLS from the first byte), with user and password where the server needs them:
	// smtps://user:password@mail.example. Without a port it is 587, or 465 for smtps.
	URL  string
	From string // the sender: an address, or a name and an address, such as Club <signup@club.example>
	// RequireTLS refuses a server without STARTTLS (live mode). Without it, such a server is used in plain, but never gets
	// a password unless it is on this machine.
	RequireTLS bool
	NameWorld  bool          // mails have WorldHeader (mock and test mode)
	Timeout    time.Duration // of the greeting, and of the transfer; 0: 30 s
}

// Client sends mails. Each has a connection of its own.
type Client struct {
	cfg                  Config
	host, user, password string
	port                 int
	isTLS                bool // from the first byte
	from                 *mail.Address
}

// New returns a client. It fails if URL or From cannot be used; the error does not repeat them, because URL may hold a password.
func New(cfg Config) (*Client, error) {
	address, err := url.Parse(cfg.URL)
	if err != nil || address.Hostname() == "" || address.Scheme != "smtp" && address.Scheme != "smtps" ||
		strings.Trim(address.Path, "/")+address.RawQuery != "" {
		return nil, errors.New("the address must be smtp:// or smtps://, with a host and nothing after it, " +
			"such as smtps://user:password@mail.example")
	}
	client := &Client{cfg: cfg, host: address.Hostname(), port: startTLSPort, isTLS: address.Scheme == "smtps"}
	if client.isTLS {
		client.port = tlsPort
	}
	if port := address.Port(); port != "" {
		if client.port, err = strconv.Atoi(port); err != nil || client.port < 1 || client.port > 65535 {
			return nil, errors.New("the port must be from 1 to 65535")
		}
	}
	client.user = address.User.Username()
	client.password, _ = address.User.Password()
	if (client.user == "") != (client.password == "") {
		return nil, errors.New("the address must have both a user and a password, or neither; " +
			"characters such as @ and / in them are written as %40 and %2F")
	}
	if client.from, err = mail.ParseAddress(cfg.From); err != nil {
		return nil, errors.New("the sender must be an address, such as Club <signup@club.example>")
	}
	return client, nil
}

// Server is the host and port, for operators.
func (c *Client) Server() string { return net.JoinHostPort(c.host, strconv.Itoa(c.port)) }

// Error says why a mail was not sent, without its recipient and its content. A Permanent one concerns this mail alone, and
// another attempt would end in the same way: the server refused the recipient or the content with a 5xx. Any other may pass.
type Error struct {
	Permanent bool
	Reason    string
}

// Error implements error.
func (e *Error) Error() string { return e.Reason }

// Send delivers a mail to the server, which accepts it at most once as far as the client knows: if the connection ends before
// the response, the server may still have it, and a repetition has the same Message-ID. at is the mail's date. It
// fails with an *Error.
func (c *Client) Send(ctx context.Context, message Message, at time.Time) error {
	written, err := c.write(message, at)
	if err != nil {
		return &Error{Permanent: true, Reason: "the recipient's address or the sender's is not valid"}
	}
	err = c.connect(ctx, func(client *gomail.Client) error { return client.DialAndSendWithContext(ctx, written) })
	if err == nil || written.IsDelivered() { // what follows the server's acceptance does not matter
		return nil
	}
	return explain(err)
}

// Check connects to the server and authenticates, as Send does, and sends nothing. It fails with an *Error.
func (c *Client) Check(ctx context.Context) error {
	return explain(c.connect(ctx, func(client *gomail.Client) error {
		session, err := client.DialToSMTPClientWithContext(ctx)
		if err == nil {
			_ = client.CloseWithSMTPClient(session) // connect closes the connection
		}
		return err
	}))
}

// connect lets use have a connection, which ends with it or with the context.
func (c *Client) connect(ctx context.Context, use func(*gomail.Client) error) error {
	encryption := &tls.Config{ServerName: c.host, MinVersion: tls.VersionTLS12}
	end := func() {}
	dial := func(dialling context.Context, network, address string) (connection net.Conn, err error) {
		if c.isTLS {
			connection, err = (&tls.Dialer{Config: encryption}).DialContext(dialling, network, address)
		} else {
			connection, err = (&net.Dialer{}).DialContext(dialling, network, address)
		}
		if err == nil {
			stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
			end = func() { stop(); _ = connection.Close() } // the library leaves it open after an error
		}
		return connection, err
	}
	policy := gomail.TLSOpportunistic
	if c.cfg.RequireTLS {
		policy = gomail.TLSMandatory
	}
	if c.isTLS {
		policy = gomail.NoTLS // not again
	}
	options := []gomail.Option{
		gomail.WithPort(c.port), gomail.WithTimeout(cmp.Or(c.cfg.Timeout, stepTimeout)),
		gomail.WithTLSPolicy(policy), gomail.WithTLSConfig(encryption), gomail.WithDialContextFunc(dial),
		gomail.WithoutNoop(), gomail.WithoutRset(),
	}
	if c.user != "" {
		options = append(options, gomail.WithUsername(c.user), gomail.WithPassword(c.password),
			gomail.WithOpportunisticSMTPAuth(
				gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin, gomail.SMTPAuthCramMD5,
			))
	}
	client, err := gomail.NewClient(c.host, options...)
	if err != nil {
		return err
	}
	defer func() { end() }()
	return use(client)
}

// write composes a mail: text, HTML as its alternative, and attachments. Nothing in it tracks the reader.
func (c *Client) write(message Message, at time.Time) (*gomail.Msg, error) {
	written := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := written.From(c.from.String()); err != nil {
		return nil, err
	}
	if err := written.To(message.To); err != nil {
		return nil, err
	}
	written.Subject(message.Subject)
	written.SetDateWithValue(at)
	written.SetMessageIDWithValue(messageID(message.ID, c.from.Address))
	written.SetGenHeader("Auto-Submitted", "auto-generated")   // so that no absence notice answers it (RFC 3834)
	written.SetGenHeader("X-Auto-Response-Suppress", "All")    // the same for Exchange
	written.SetGenHeader("Content-Language", message.Language) // for screen readers
	if c.cfg.NameWorld {
		written.SetGenHeader(WorldHeader, message.Organisation)
	}
	written.SetBodyString(gomail.TypeTextPlain, message.Text)
	written.AddAlternativeString(gomail.TypeTextHTML, message.HTML)
	for _, document := range message.Attachments {
		written.AttachReadSeeker(document.Name, bytes.NewReader(document.Content),
			gomail.WithFileContentType(gomail.ContentType(document.Type)), gomail.WithFileEncoding(gomail.EncodingB64))
	}
	return written, nil
}

// stages are the commands at which a server may refuse a mail.
var stages = map[gomail.SendErrReason]string{
	gomail.ErrSMTPMailFrom:  "the sender",
	gomail.ErrSMTPRcptTo:    "the recipient",
	gomail.ErrSMTPData:      "the mail",
	gomail.ErrSMTPDataClose: "the mail",
}

// explain describes an error of the library without its texts, which repeat the recipient and what the server said.
func explain(err error) error {
	if err == nil {
		return nil
	}
	refused, isRefused := errors.AsType[*gomail.SendError](err)
	response, isResponse := errors.AsType[*textproto.Error](err)
	_, isUntrusted := errors.AsType[*tls.CertificateVerificationError](err)
	network, isNetwork := errors.AsType[net.Error](err)
	switch {
	case isRefused && refused.ErrorCode() >= 400:
		// The sender is the same for all mails: an operator can correct it, and the mail is not lost until then.
		permanent := refused.ErrorCode() >= 500 && refused.Reason != gomail.ErrSMTPMailFrom
		status := fmt.Sprintf("%d %s", refused.ErrorCode(), refused.EnhancedStatusCode())
		return &Error{permanent, fmt.Sprintf("the server refused %s: %s", stages[refused.Reason], strings.TrimSpace(status))}
	case isRefused && refused.Reason == gomail.ErrSMTPDataClose:
		return &Error{Reason: "the connection ended before the server's response; the server may have accepted the mail"}
	case isRefused, errors.Is(err, io.EOF):
		return &Error{Reason: "the connection to the server ended"}
	case isUntrusted:
		return &Error{Reason: "the server's certificate is not trusted, or is for another host"}
	case isResponse:
		return &Error{Reason: fmt.Sprintf("the server refused the connection, or user and password: %d", response.Code)}
	case isNetwork && network.Timeout():
		return &Error{Reason: "the server did not respond in time"}
	case isNetwork:
		return &Error{Reason: "the server cannot be reached"}
	}
	return &Error{Reason: "the server offers neither the required encryption nor a known way to authenticate, or speaks no SMTP"}
}
