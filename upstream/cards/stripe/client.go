// Package stripe is the adapter to the card processor Stripe: PaymentIntents with manual
// capture, over the company's own Go library. Package flows decides when money moves. The
// adapter never sees a card: the buyer's browser sends it to the processor with the
// payment's client secret.
//
// The claim is an update of the payment's metadata under an idempotency key. For 24 hours, a
// key replays its first response to the same parameters and refuses others. So a release
// that sends other parameters for the same call must use other keys, or it is refused while
// the previous release is still running.
//
// Start reading at Client.
package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	stripego "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/form"

	"frontdesk/upstream/cards"
)

const (
	// maxKeyLength is the longest idempotency key that the processor accepts.
	maxKeyLength = 255

	// card is the one type of payment method: the payment is recorded as a card payment.
	card = "card"

	// listPage is the largest page that the processor serves.
	listPage = 100
)

// Config is the configuration of a Client.
type Config struct {
	// SecretKey is required: a secret key (sk_test_…, sk_live_…) or a restricted one (rk_…) that may
	// write payment intents, charges and refunds. Its prefix distinguishes test from live.
	SecretKey string
	// WebhookSecret is the signing secret of the webhook endpoint (whsec_…); empty: every
	// delivery is refused.
	WebhookSecret string

	// URL is another address of the API, for tests, such as http://127.0.0.1:12111; empty: the
	// processor's own. The library does not allow a path.
	URL string

	Now func() time.Time // required: for the age of webhooks
	// HTTPClient sends the calls; zero: cards.NewHTTPClient. Each call takes at most 10 s,
	// a capture 25 s, whatever the client allows.
	HTTPClient *http.Client
}

// Client implements cards.Processor with the processor's API. It is safe for concurrent use.
type Client struct {
	api           services
	live          bool
	webhookSecret string
	now           func() time.Time
}

var _ cards.Processor = (*Client)(nil)

// services are the parts of the library that are used. A reference to its whole client would
// link the code for every object of the processor, a third of the binary.
type services struct {
	payments interface {
		Create(context.Context, *stripego.PaymentIntentCreateParams) (*stripego.PaymentIntent, error)
		Retrieve(context.Context, string, *stripego.PaymentIntentRetrieveParams) (*stripego.PaymentIntent, error)
		Capture(context.Context, string, *stripego.PaymentIntentCaptureParams) (*stripego.PaymentIntent, error)
		Cancel(context.Context, string, *stripego.PaymentIntentCancelParams) (*stripego.PaymentIntent, error)
		Update(context.Context, string, *stripego.PaymentIntentUpdateParams) (*stripego.PaymentIntent, error)
	}
	listPayments func(*stripego.PaymentIntentListParams, *rawPage) error
	charges      interface {
		List(context.Context, *stripego.ChargeListParams) *stripego.V1List[*stripego.Charge]
	}
	refunds interface {
		Create(context.Context, *stripego.RefundCreateParams) (*stripego.Refund, error)
	}
	accounts interface {
		Retrieve(context.Context, *stripego.AccountRetrieveParams) (*stripego.Account, error)
	}
	endpoints interface {
		List(context.Context, *stripego.WebhookEndpointListParams) *stripego.V1List[*stripego.WebhookEndpoint]
	}
}

// New returns a client. It makes no call. It fails when the key is not a server's key, or
// when the address is not one of an API; the error never shows the key.
func New(cfg Config) (*Client, error) {
	kind, rest, _ := strings.Cut(cfg.SecretKey, "_")
	live := strings.HasPrefix(rest, "live_")
	if kind != "sk" && kind != "rk" || !live && !strings.HasPrefix(rest, "test_") {
		return nil, errors.New("stripe: the secret key must begin with sk_test_, sk_live_, rk_test_ or rk_live_")
	}
	backend := &stripego.BackendConfig{
		HTTPClient: cmp.Or(cfg.HTTPClient, cards.NewHTTPClient()),
		// The payment machine retries with the same key where that is useful.
		MaxNetworkRetries: stripego.Int64(0),
		EnableTelemetry:   stripego.Bool(false),
		// The library would write parts of responses to standard error.
		LeveledLogger: &stripego.LeveledLogger{Level: stripego.LevelNull},
	}
	if cfg.URL != "" {
		if at, err := url.Parse(cfg.URL); err != nil || at.Host == "" || strings.Trim(at.Path, "/") != "" {
			return nil, errors.New("stripe: the address of the API has no host, or has a path")
		}
		backend.URL = stripego.String(cfg.URL)
	}
	backends := stripego.NewBackendsWithConfig(backend)
	listPayments := func(params *stripego.PaymentIntentListParams, page *rawPage) error {
		values := &form.Values{} // as the library's own list does
		form.AppendTo(values, params)
		return backends.API.CallRaw(http.MethodGet, "/v1/payment_intents", cfg.SecretKey, []byte(values.Encode()), params.GetParams(), page)
	}
	api := stripego.NewClient(cfg.SecretKey, stripego.WithBackends(backends))
	return &Client{
		api: services{payments: api.V1PaymentIntents, listPayments: listPayments, charges: api.V1Charges, refunds: api.V1Refunds,
			accounts: api.V1Accounts, endpoints: api.V1WebhookEndpoints},
		live: live, webhookSecret: cfg.WebhookSecret, now: cfg.Now,
	}, nil
}

// Name returns "stripe".
func (c *Client) Name() string { return "stripe" }

// Live reports whether the key moves real money.
func (c *Client) Live() bool { return c.live }

// Create makes a payment. It has a ClientSecret for the processor's own element in the
// browser, and no RedirectURL. ReturnURL and WebhookURL are not sent: the first belongs to
// the browser's confirmation, the second is configured at the processor.
func (c *Client) Create(ctx context.Context, key string, in cards.NewPayment) (cards.Payment, error) {
	params := &stripego.PaymentIntentCreateParams{
		Amount:             stripego.Int64(in.Amount),
		Currency:           stripego.String(strings.ToLower(in.Currency)),
		CaptureMethod:      stripego.String(stripego.PaymentIntentCaptureMethodManual),
		PaymentMethodTypes: []*string{stripego.String(card)}, // not what the dashboard has switched on
		Metadata:           in.Metadata,
		Expand:             expand(), // a key that may not read what follows is refused before the buyer pays
	}
	if in.Description != "" {
		params.Description = stripego.String(in.Description)
	}
	pi, err := send(ctx, "create", key, params, c.api.payments.Create)
	return toPayment("create", "", pi, err)
}

// Get reads a payment.
func (c *Client) Get(ctx context.Context, id string) (cards.Payment, error) {
	if id == "" {
		return cards.Payment{}, cards.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, cards.CallTimeout)
	defer cancel()
	pi, err := c.api.payments.Retrieve(ctx, id, &stripego.PaymentIntentRetrieveParams{Expand: expand()})
	p, err := toPayment("get", id, pi, toCardsError("get", err))
	// A decline can precede an attempt that waits for the bank's challenge.
	failed := err == nil && pi.LatestCharge != nil && pi.LatestCharge.Status == stripego.ChargeStatusFailed
	if err == nil && (p.State == cards.Declined || p.State == cards.RequiresAction && failed) {
		p.Declines, _ = c.declines(ctx, id) // the caller counts, too: a failing list must not stop the payment
	}
	return p, err
}

// declines counts the attempts that the bank declined: the payment itself only has the latest. An attempt
// that failed the bank's challenge makes no charge, and does not count.
func (c *Client) declines(ctx context.Context, id string) (count int, err error) {
	params := &stripego.ChargeListParams{PaymentIntent: stripego.String(id)}
	params.Single, params.Limit = true, stripego.Int64(listPage)
	list := c.api.charges.List(ctx, params)
	if err := list.Err(); err != nil {
		return 0, toCardsError("list charges", err)
	}
	for _, charge := range list.Data() {
		if charge.Status == stripego.ChargeStatusFailed {
			count++
		}
	}
	return count, nil
}

// Capture takes the authorised money. It sends the amount, so that no more is taken than
// was agreed. It must be all of it, because the processor releases the rest.
func (c *Client) Capture(ctx context.Context, key, id string, amount int64) (cards.Payment, error) {
	params := &stripego.PaymentIntentCaptureParams{AmountToCapture: stripego.Int64(amount), Expand: expand()}
	return write(ctx, "capture", key, id, params, c.api.payments.Capture)
}

// Cancel cancels a payment that is not captured. A payment that was cancelled before is a
// cards.ErrState.
func (c *Client) Cancel(ctx context.Context, key, id string) (cards.Payment, error) {
	params := &stripego.PaymentIntentCancelParams{
		CancellationReason: stripego.String(stripego.PaymentIntentCancellationReasonRequestedByCustomer),
		Expand:             expand(),
	}
	return write(ctx, "cancel", key, id, params, c.api.payments.Cancel)
}

// UpdateMetadata merges metadata. An empty value removes its key. Claims are made with it.
func (c *Client) UpdateMetadata(ctx context.Context, key, id string, metadata map[string]string) (cards.Payment, error) {
	params := &stripego.PaymentIntentUpdateParams{Metadata: metadata, Expand: expand()}
	return write(ctx, "update metadata", key, id, params, c.api.payments.Update)
}

// Refund returns captured money, at once or in parts. It reads the payment afterwards,
// because a refund is a separate object. When that read fails, the outcome is unknown to the
// caller, and a retry with the key is harmless.
func (c *Client) Refund(ctx context.Context, key, id string, amount int64) (cards.Payment, error) {
	if id == "" {
		return cards.Payment{}, cards.ErrNotFound
	}
	params := &stripego.RefundCreateParams{PaymentIntent: stripego.String(id), Amount: stripego.Int64(amount)}
	refund, err := send(ctx, "refund", key, params, c.api.refunds.Create)
	if err != nil {
		return cards.Payment{}, err
	}
	if refund.Status == stripego.RefundStatusFailed || refund.Status == stripego.RefundStatusCanceled {
		return cards.Payment{}, fmt.Errorf("stripe: refund %s is %s: %w", refund.ID, refund.Status, cards.ErrRefused)
	}
	return c.Get(ctx, id)
}

// List returns a page of the payments created since an instant, newest first. It includes payments
// of other programs on the same account, and of the second before, because the processor keeps
// whole seconds. It does not use the processor's search, which lags behind.
func (c *Client) List(ctx context.Context, since time.Time, before string) (cards.Page, error) {
	params := &stripego.PaymentIntentListParams{Expand: []*string{stripego.String("data.latest_charge.refunds")}}
	params.Single, params.Limit = true, stripego.Int64(listPage)
	if second := since.Unix(); second > 0 {
		params.CreatedRange = &stripego.RangeQueryParams{GreaterThanOrEqual: second}
	}
	if before != "" {
		params.StartingAfter = stripego.String(before)
	}
	ctx, cancel := context.WithTimeout(ctx, cards.CallTimeout)
	defer cancel()
	params.Context = ctx
	var list rawPage
	if err := c.api.listPayments(params, &list); err != nil {
		return cards.Page{}, toCardsError("list", err)
	}
	if list.Object != "list" || list.Data == nil {
		return cards.Page{}, errors.New("stripe: list: the response is not a list of the processor's API")
	}
	var page cards.Page
	for _, record := range list.Data {
		p := fromList(record)
		page.Payments = append(page.Payments, p)
		if list.HasMore && p.ID != "" {
			page.Next = p.ID
		}
	}
	if list.HasMore && page.Next == "" {
		return cards.Page{}, errors.New("stripe: list: no record of a page has an id, so the next page cannot be read")
	}
	return page, nil
}

// write makes a writing call on an existing payment, which is the response.
func write[P stripego.ParamsContainer](ctx context.Context, verb, key, id string, params P,
	call func(context.Context, string, P) (*stripego.PaymentIntent, error)) (cards.Payment, error) {
	if id == "" {
		return cards.Payment{}, cards.ErrNotFound
	}
	pi, err := send(ctx, verb, key, params, func(ctx context.Context, params P) (*stripego.PaymentIntent, error) { return call(ctx, id, params) })
	return toPayment(verb, id, pi, err)
}

// send makes a writing call once, with its key and within its time. Without a usable key
// nothing is sent: the library would make one up, and a retry would then do it twice.
func send[P stripego.ParamsContainer, T any](ctx context.Context, verb, key string, params P,
	call func(context.Context, P) (T, error)) (response T, err error) {
	if key == "" || key != strings.TrimSpace(key) || len(key) > maxKeyLength {
		return response, fmt.Errorf("stripe: %s: the idempotency key is empty, too long or has spaces around it: %w", verb, cards.ErrRefused)
	}
	timeout := cards.CallTimeout
	if verb == "capture" {
		timeout = cards.CaptureTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	params.GetParams().SetIdempotencyKey(key)
	response, err = call(ctx, params)
	return response, toCardsError(verb, err)
}

// expand asks for the charge of a payment and its refunds. Their state must be known before money moves.
func expand() []*string { return []*string{stripego.String("latest_charge.refunds")} }
