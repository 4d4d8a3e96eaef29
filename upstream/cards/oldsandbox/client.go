package oldsandbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"frontdesk/upstream/cards"
)

const (
	// listPage is the page size of a list. With the largest metadata a page stays well
	// below maxResponse.
	listPage = 500

	// maxResponse limits what is read of a response.
	maxResponse = 32 << 20

	// maxWebhook limits the body that is hashed and decoded. The largest event, a payment
	// with all its metadata, is a fraction of it.
	maxWebhook = 512 << 10

	// keyInUsePause is how long to wait for the first request of a key, which runs in memory.
	keyInUsePause = 50 * time.Millisecond
)

// Config is the configuration of a Client.
type Config struct {
	URL string           // where the sandbox is mounted, such as http://127.0.0.1:8081/sandbox
	Now func() time.Time // required: for the age of webhooks
	// HTTPClient sends the calls; zero: cards.NewHTTPClient. Each call takes at most 10 s,
	// a capture 25 s, whatever the client allows.
	HTTPClient *http.Client
}

// Client implements cards.Processor by speaking HTTP to a Server.
type Client struct {
	cfg Config
}

// New returns a client.
func New(cfg Config) *Client {
	cfg.URL = strings.TrimRight(cfg.URL, "/")
	cfg.HTTPClient = cmp.Or(cfg.HTTPClient, cards.NewHTTPClient())
	return &Client{cfg: cfg}
}

var _ cards.Processor = (*Client)(nil)

// Name returns "sandbox".
func (c *Client) Name() string { return "sandbox" }

// AccountID returns the sandbox's own public address: a sandbox at another address holds other payments.
func (c *Client) AccountID(ctx context.Context) (string, error) {
	var held account
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/account"}, &held)
	if err == nil && held.ID == "" {
		err = errors.New("sandbox: the account has no id")
	}
	return held.ID, err
}

// Create makes a payment; its RedirectURL is the hosted page.
func (c *Client) Create(ctx context.Context, key string, in cards.NewPayment) (cards.Payment, error) {
	return c.payment(ctx, "", call{method: http.MethodPost, path: "/payments", key: key, in: createRequest(in)})
}

// Get reads a payment.
func (c *Client) Get(ctx context.Context, id string) (cards.Payment, error) {
	return c.onPayment(ctx, id, call{method: http.MethodGet})
}

// Capture takes the authorised money; amount must be all of it.
func (c *Client) Capture(ctx context.Context, key, id string, amount int64) (cards.Payment, error) {
	return c.onPayment(ctx, id, call{method: http.MethodPost, path: "/capture", key: key, in: amountRequest{amount}, timeout: cards.CaptureTimeout})
}

// Cancel cancels a payment that is not captured. A payment that was cancelled before is a
// cards.ErrState.
func (c *Client) Cancel(ctx context.Context, key, id string) (cards.Payment, error) {
	return c.onPayment(ctx, id, call{method: http.MethodPost, path: "/cancel", key: key, in: struct{}{}})
}

// Refund returns captured money, at once or in parts.
func (c *Client) Refund(ctx context.Context, key, id string, amount int64) (cards.Payment, error) {
	return c.onPayment(ctx, id, call{method: http.MethodPost, path: "/refund", key: key, in: amountRequest{amount}})
}

// UpdateMetadata merges metadata. An empty value removes its key.
func (c *Client) UpdateMetadata(ctx context.Context, key, id string, metadata map[string]string) (cards.Payment, error) {
	return c.onPayment(ctx, id, call{method: http.MethodPost, path: "/metadata", key: key, in: metadataRequest{metadata}})
}

// List returns a page of the payments created since an instant, newest first.
func (c *Client) List(ctx context.Context, since time.Time, before string) (cards.Page, error) {
	query := url.Values{"limit": {strconv.Itoa(listPage)}, "since": {since.UTC().Format(time.RFC3339Nano)}}
	if before != "" {
		query.Set("before", before)
	}
	var page struct {
		Items []jsontext.Value `json:"items"`
		Next  string           `json:"next"`
	}
	if _, err := c.do(ctx, call{method: http.MethodGet, path: "/payments?" + query.Encode()}, &page); err != nil {
		return cards.Page{}, err
	}
	list := cards.Page{Next: page.Next}
	for _, item := range page.Items {
		var p Payment
		held := cards.Payment{}
		if err := jsonv2.Unmarshal(item, &p); err == nil && p.ID != "" && p.State != "" {
			held = p.toCards()
		} else { // another program's payment must not end the list
			held.ID, held.Metadata, held.CreatedAt = p.ID, p.Metadata, p.CreatedAt
			held.Unreadable = errors.Join(errors.New("sandbox: a payment of the list cannot be read"), err)
		}
		list.Payments = append(list.Payments, held)
	}
	return list, nil
}

func (c *Client) onPayment(ctx context.Context, id string, rq call) (cards.Payment, error) {
	if id == "" {
		return cards.Payment{}, cards.ErrNotFound
	}
	rq.path = "/payments/" + url.PathEscape(id) + rq.path
	return c.payment(ctx, id, rq)
}

// payment makes a call whose response is the payment id; empty: any.
func (c *Client) payment(ctx context.Context, id string, rq call) (cards.Payment, error) {
	var p Payment
	header, err := c.do(ctx, rq, &p)
	if err != nil {
		return cards.Payment{}, err
	}
	if p.ID == "" || p.State == "" || id != "" && p.ID != id {
		return cards.Payment{}, fmt.Errorf("sandbox: %s %s returned another payment, or none", rq.method, rq.path)
	}
	held := p.toCards()
	held.Replayed = isReplay(header)
	return held, nil
}

func (p Payment) toCards() cards.Payment {
	out := cards.Payment{
		ID: p.ID, State: p.State, Amount: p.Amount, Currency: p.Currency, Captured: p.Captured, Refunded: p.Refunded,
		Refunding: p.Refunding, FailedRefunds: p.FailedRefunds, Disputed: p.Disputed,
		DeclineCode: p.DeclineCode, Declines: p.Declines, Metadata: p.Metadata, RedirectURL: p.RedirectURL, CreatedAt: p.CreatedAt,
	}
	if p.State == cards.Declined {
		out.Decline = strconv.Itoa(p.Declines)
	}
	return out
}

// call is one request to the sandbox.
type call struct {
	method, path string
	key          string        // Idempotency-Key, empty for reads
	in           any           // the body, nil for none
	timeout      time.Duration // zero: cards.CallTimeout
}

// do makes a call and decodes its response. While the key's first request is still running,
// it waits for that response. Go's transport may send a request with a key again after a
// broken connection; the server then replays its response.
func (c *Client) do(ctx context.Context, rq call, out any) (http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(rq.timeout, cards.CallTimeout))
	defer cancel()
	for {
		header, err := c.roundTrip(ctx, rq, out)
		if known, ok := errors.AsType[*apiError](err); !ok || known.Code != codeKeyInUse {
			return header, err
		}
		select {
		case <-ctx.Done():
			return header, err
		case <-time.After(keyInUsePause):
		}
	}
}

func (c *Client) roundTrip(ctx context.Context, rq call, out any) (http.Header, error) {
	req, err := c.request(ctx, rq)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	resp, err := c.cfg.HTTPClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	defer resp.Body.Close()
	answer := io.LimitReader(resp.Body, maxResponse)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, fmt.Errorf("sandbox: %s %s: %w", rq.method, req.URL.Path, readError(resp.StatusCode, isReplay(resp.Header), answer))
	}
	if err := jsonv2.UnmarshalRead(answer, out); err != nil {
		return nil, fmt.Errorf("sandbox: %s %s: reading the response: %w", rq.method, req.URL.Path, err)
	}
	return resp.Header, nil
}

func (c *Client) request(ctx context.Context, rq call) (*http.Request, error) {
	var body []byte
	if rq.in != nil {
		body, _ = json.Marshal(rq.in) // every request of this package can be encoded
	}
	req, err := http.NewRequestWithContext(ctx, rq.method, c.cfg.URL+rq.path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", "Bearer "+DemoSecretKey)
	if rq.in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if rq.key != "" {
		req.Header.Set("Idempotency-Key", rq.key)
	}
	return req, nil
}

func isReplay(header http.Header) bool { return header.Get("Idempotent-Replayed") == "true" }

// readError turns a response other than 2xx into the outcome that it proves. An error that
// is not the sandbox's own, such as a proxy's 404, proves nothing.
func readError(status int, replayed bool, answer io.Reader) error {
	var in errorBody
	if err := jsonv2.UnmarshalRead(answer, &in); err != nil || in.Error == nil {
		return fmt.Errorf("status %d without an error that can be read", status)
	}
	in.Error.status, in.Error.replayed = status, replayed
	if outcome := in.Error.outcome(); outcome != nil {
		return fmt.Errorf("%w: %w", outcome, in.Error)
	}
	return in.Error
}

// outcome returns the error of package cards; nil when the effect is unknown, as with a key
// whose first request is still running.
func (e *apiError) outcome() error {
	switch {
	case e.status == http.StatusNotFound && e.Type == typeNotFound:
		return cards.ErrNotFound
	case e.status == http.StatusBadRequest && e.Type == typeIdempotency:
		return cards.ErrKeyReused
	case e.status == http.StatusConflict && e.Type == typeState:
		return cards.ErrState
	case e.status < http.StatusInternalServerError && (e.Type == typeInvalid || e.Type == typeAuthentication):
		return cards.ErrRefused
	case e.status >= http.StatusInternalServerError && e.replayed:
		return cards.ErrKeyUsedUp
	}
	return nil
}

// Webhook verifies a delivery of the sandbox and returns its event.
func (c *Client) Webhook(header http.Header, body []byte) (cards.Event, error) {
	if len(body) > maxWebhook {
		return cards.Event{}, fmt.Errorf("%w: the body is too large", cards.ErrSignature)
	}
	signature := func(at time.Time) []byte { return sign(at, body) }
	if err := cards.CheckSignature(header.Get(SignatureHeader), c.cfg.Now(), signature); err != nil {
		return cards.Event{}, err
	}
	var in event
	if err := jsonv2.Unmarshal(body, &in); err != nil || in.ID == "" || in.Data.Payment.ID == "" {
		return cards.Event{}, fmt.Errorf("%w: the body is not an event", cards.ErrSignature)
	}
	p := in.Data.Payment
	reversal := slices.Contains([]string{EventRefunded, EventRefundPending, EventRefundFailed, EventDisputed}, in.Type)
	return cards.Event{ID: in.ID, Type: in.Type, PaymentID: p.ID, Metadata: p.Metadata, Reversal: reversal}, nil
}
