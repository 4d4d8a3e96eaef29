package cards

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/form"
)

const (
	// maxKeyLength is the longest idempotency key that the processor accepts.
	maxKeyLength = 255

	// card is the one type of payment method: the payment is recorded as a card payment.
	card = "card"

	// listPage is the largest page that the processor serves.
	listPage = 100

	// conflictPause is the first pause before a call is repeated that met another one, which takes a fraction of a second. Each
	// further one is twice as long, up to the longest: a bank that takes its time must not use up the account's rate limit.
	conflictPause    = 50 * time.Millisecond
	maxConflictPause = time.Second
)

// Config is the configuration of a Client.
type Config struct {
	// SecretKey is required: a secret key (sk_test_…, sk_live_…) or a restricted one (rk_…) that may
	// write payment intents, charges and refunds. Its prefix distinguishes test from live.
	SecretKey string
	// WebhookSecrets are the signing secrets of the webhook endpoints (whsec_…). A delivery that is signed with any of
	// them is accepted, so a second endpoint can replace the first. None: every delivery is refused.
	WebhookSecrets []string

	// URL is another address of the API, such as http://127.0.0.1:8081/sandbox of a double; empty: the processor's own.
	URL string
	// WebhookURL is where a double sends the events of the payments that this client creates, such as
	// https://club.example/v1/webhooks/card. Empty, as for the processor itself: to the account's endpoints.
	WebhookURL string

	Now    func() time.Time                     // required: for the age of webhooks, and the duration of calls
	After  func(time.Duration) <-chan time.Time // for the pause before a call is repeated; zero: time.After
	OnCall func(Call)                           // receives each call once it is over; nil: not called
	// HTTPClient sends the calls; zero: NewHTTPClient. Each call takes at most 10 s,
	// a capture 25 s, whatever the client allows.
	HTTPClient *http.Client
}

// Client makes the calls of the processor's API. It is safe for concurrent use.
type Client struct {
	api            services
	live           bool
	webhookSecrets []string
	now            func() time.Time
	after          func(time.Duration) <-chan time.Time
	onCall         func(Call)
}

// services are the calls of the library that are used. A reference to its whole client would
// link the code for every object of the processor, a third of the binary.
type services struct {
	payments      func(ctx context.Context, method, path string, params stripe.ParamsContainer) (*intent, error)
	listPayments  func(*stripe.PaymentIntentListParams, *rawPage) error
	listCharges   func(context.Context, *stripe.ChargeListParams) *stripe.V1List[*stripe.Charge]
	refund        func(context.Context, *stripe.RefundCreateParams) (*stripe.Refund, error)
	account       func(context.Context, *stripe.AccountRetrieveParams) (*stripe.Account, error)
	listEndpoints func(context.Context, *stripe.WebhookEndpointListParams) *stripe.V1List[*stripe.WebhookEndpoint]
}

// New returns a client. It makes no call. It fails when the key is not a server's key, or
// when the address is not one of an API; the error never shows the key.
func New(cfg Config) (*Client, error) {
	kind, rest, _ := strings.Cut(cfg.SecretKey, "_")
	live := strings.HasPrefix(rest, "live_")
	if kind != "sk" && kind != "rk" || !live && !strings.HasPrefix(rest, "test_") {
		return nil, errors.New("stripe: the secret key must begin with sk_test_, sk_live_, rk_test_ or rk_live_")
	}
	if slices.Contains(cfg.WebhookSecrets, "") {
		return nil, errors.New("stripe: a webhook secret is empty, so anybody could sign with it")
	}
	at, err := url.Parse(cfg.URL)
	if err != nil || cfg.URL != "" && (at.Scheme == "" || at.Host == "" || at.RawQuery != "" || at.Fragment != "") {
		return nil, errors.New("stripe: the address of the API must have a scheme and a host, and end with its path")
	}
	if cfg.After == nil {
		cfg.After = time.After
	}
	backend := &stripe.BackendConfig{
		HTTPClient: cfg.httpClient(strings.TrimRight(at.Path, "/")),
		// See send. The payment machine retries with the same key where that is useful.
		MaxNetworkRetries: stripe.Int64(0),
		EnableTelemetry:   stripe.Bool(false),
		// The library would write parts of responses to standard error.
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	}
	if cfg.URL != "" {
		backend.URL = stripe.String(at.Scheme + "://" + at.Host)
	}
	backends := stripe.NewBackendsWithConfig(backend)
	listPayments := func(params *stripe.PaymentIntentListParams, page *rawPage) error {
		values := &form.Values{} // as the library's own list does
		form.AppendTo(values, params)
		return backends.API.CallRaw(http.MethodGet, "/v1/payment_intents", cfg.SecretKey, []byte(values.Encode()), params.GetParams(), page)
	}
	payments := func(ctx context.Context, method, path string, params stripe.ParamsContainer) (*intent, error) {
		pi := &intent{}
		params.GetParams().Context = ctx
		err := backends.API.Call(method, "/v1/payment_intents"+path, cfg.SecretKey, params, pi)
		return pi, err
	}
	api := stripe.NewClient(cfg.SecretKey, stripe.WithBackends(backends))
	return &Client{
		api: services{
			payments:      payments,
			listPayments:  listPayments,
			listCharges:   api.V1Charges.List,
			refund:        api.V1Refunds.Create,
			account:       api.V1Accounts.Retrieve,
			listEndpoints: api.V1WebhookEndpoints.List,
		},
		live:           live,
		webhookSecrets: cfg.WebhookSecrets,
		now:            cfg.Now,
		after:          cfg.After,
		onCall:         cfg.OnCall,
	}, nil
}

// Name returns "stripe", the processor's name in the public API and in the payment's record.
func (c *Client) Name() string { return "stripe" }

// Live reports whether the key moves real money.
func (c *Client) Live() bool { return c.live }

// Create makes a payment for the buyer to authorise. It has a ClientSecret for the processor's own element in the browser.
// Where the buyer returns to belongs to the browser's confirmation, and where events go is configured at the processor.
func (c *Client) Create(ctx context.Context, key string, in NewPayment) (Payment, error) {
	params := &stripe.PaymentIntentCreateParams{
		Amount:             stripe.Int64(in.Amount),
		Currency:           stripe.String(strings.ToLower(in.Currency)),
		CaptureMethod:      stripe.String(stripe.PaymentIntentCaptureMethodManual),
		PaymentMethodTypes: []*string{stripe.String(card)}, // not what the dashboard has switched on
		Metadata:           in.Metadata,
		Expand:             expand(), // a key that may not read what follows is refused before the buyer pays
	}
	if in.Description != "" {
		params.Description = stripe.String(in.Description)
	}
	return observe(ctx, c, "create", func(ctx context.Context) (Payment, error) {
		pi, err := send(ctx, c, "create", key, params, func(ctx context.Context, params *stripe.PaymentIntentCreateParams) (*intent, error) {
			return c.api.payments(ctx, http.MethodPost, "", params)
		})
		return toPayment("create", "", pi, err)
	})
}

// Get reads a payment. ErrNotFound when it does not exist.
func (c *Client) Get(ctx context.Context, id string) (Payment, error) {
	return observe(ctx, c, "get", func(ctx context.Context) (Payment, error) { return c.get(ctx, id) })
}

func (c *Client) get(ctx context.Context, id string) (Payment, error) {
	if id == "" {
		return Payment{}, ErrNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	pi, err := c.api.payments(ctx, http.MethodGet, "/"+url.PathEscape(id), &stripe.PaymentIntentRetrieveParams{Expand: expand()})
	payment, err := toPayment("get", id, pi, toCardsError("get", err))
	// A decline can precede an attempt that waits for the bank's challenge.
	failed := err == nil && pi.LatestCharge != nil && pi.LatestCharge.Status == stripe.ChargeStatusFailed
	if err == nil && (payment.State == Declined || payment.State == RequiresAction && failed) {
		payment.Declines, _ = c.declines(ctx, id) // the caller counts, too: a failing list must not stop the payment
	}
	return payment, err
}

// declines counts the attempts that the bank declined: the payment itself only has the latest. An attempt
// that failed the bank's challenge makes no charge, and does not count.
func (c *Client) declines(ctx context.Context, id string) (count int, err error) {
	params := &stripe.ChargeListParams{PaymentIntent: stripe.String(id)}
	params.Single, params.Limit = true, stripe.Int64(listPage)
	list := c.api.listCharges(ctx, params)
	if err := list.Err(); err != nil {
		return 0, toCardsError("list charges", err)
	}
	for _, charge := range list.Data() {
		if charge.Status == stripe.ChargeStatusFailed {
			count++
		}
	}
	return count, nil
}

// Capture takes the authorised money, amount in minor units. It sends the amount, so that no more is taken than
// was agreed. It must be all of it, because the processor releases the rest. The payment is Captured, or Processing while its
// bank decides: then the key replays that, so read it. ErrState when the payment is not authorised.
func (c *Client) Capture(ctx context.Context, key, id string, amount int64) (Payment, error) {
	params := &stripe.PaymentIntentCaptureParams{AmountToCapture: stripe.Int64(amount), Expand: expand()}
	return write(ctx, c, "capture", key, id, params, "/capture")
}

// Cancel gives up a payment that is not captured. ErrState when it cannot be cancelled any more, as when it was
// cancelled before.
func (c *Client) Cancel(ctx context.Context, key, id string) (Payment, error) {
	params := &stripe.PaymentIntentCancelParams{
		CancellationReason: stripe.String(stripe.PaymentIntentCancellationReasonRequestedByCustomer),
		Expand:             expand(),
	}
	return write(ctx, c, "cancel", key, id, params, "/cancel")
}

// UpdateMetadata merges metadata into the payment. An empty value removes its key. Claims are made with it: with a
// claim's key, one caller wins and all others get ErrKeyReused.
func (c *Client) UpdateMetadata(ctx context.Context, key, id string, metadata map[string]string) (Payment, error) {
	params := &stripe.PaymentIntentUpdateParams{Metadata: metadata, Expand: expand()}
	return write(ctx, c, "update metadata", key, id, params, "")
}

// Refund asks for captured money to go back, at once or in parts, amount in minor units. The refund may be pending
// afterwards, and may fail later. ErrState when nothing is captured. It reads the payment afterwards, because a refund is a
// separate object. When that read fails, the outcome is unknown to the caller, and a retry with the key is harmless.
func (c *Client) Refund(ctx context.Context, key, id string, amount int64) (Payment, error) {
	return observe(ctx, c, "refund", func(ctx context.Context) (Payment, error) { return c.refund(ctx, key, id, amount) })
}

func (c *Client) refund(ctx context.Context, key, id string, amount int64) (Payment, error) {
	if id == "" {
		return Payment{}, ErrNotFound
	}
	params := &stripe.RefundCreateParams{PaymentIntent: stripe.String(id), Amount: stripe.Int64(amount)}
	refund, err := send(ctx, c, "refund", key, params, c.api.refund)
	if err != nil {
		return Payment{}, err
	}
	if refund.Status == stripe.RefundStatusFailed || refund.Status == stripe.RefundStatusCanceled {
		return Payment{}, fmt.Errorf("stripe: refund %s is %s: %w", refund.ID, refund.Status, ErrRefused)
	}
	return c.get(ctx, id)
}

// List returns a page of the payments created since an instant, newest first. The zero instant means all. before is the
// Next of the previous page; empty for the first one. The list includes payments of other programs on the same account, and of
// the second before, because the processor keeps whole seconds. It does not use the processor's search, which lags behind.
func (c *Client) List(ctx context.Context, since time.Time, before string) (Page, error) {
	return observe(ctx, c, "list", func(ctx context.Context) (Page, error) { return c.list(ctx, since, before) })
}

func (c *Client) list(ctx context.Context, since time.Time, before string) (Page, error) {
	params := &stripe.PaymentIntentListParams{Expand: expandList()}
	params.Single, params.Limit = true, stripe.Int64(listPage)
	if second := since.Unix(); second > 0 {
		params.CreatedRange = &stripe.RangeQueryParams{GreaterThanOrEqual: second}
	}
	if before != "" {
		params.StartingAfter = stripe.String(before)
	}
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	params.Context = ctx
	var list rawPage
	if err := c.api.listPayments(params, &list); err != nil {
		return Page{}, toCardsError("list", err)
	}
	if list.Object != "list" || list.Data == nil {
		return Page{}, errors.New("stripe: list: the response is not a list of the processor's API")
	}
	var page Page
	for _, record := range list.Data {
		p := fromList(record)
		page.Payments = append(page.Payments, p)
		if list.HasMore && p.ID != "" {
			page.Next = p.ID
		}
	}
	if list.HasMore && page.Next == "" {
		return Page{}, errors.New("stripe: list: no record of a page has an id, so the next page cannot be read")
	}
	return page, nil
}

// All lists the payments created since an instant page by page, newest first. An error ends it.
func (c *Client) All(ctx context.Context, since time.Time) iter.Seq2[Payment, error] {
	return func(yield func(Payment, error) bool) {
		for next := ""; ; {
			page, err := c.List(ctx, since, next)
			if err != nil {
				yield(Payment{}, err)
				return
			}
			for _, each := range page.Payments {
				if !yield(each, nil) {
					return
				}
			}
			switch page.Next {
			case "":
				return
			case next:
				yield(Payment{}, errors.New("cards: the list ends unexpectedly after "+next))
				return
			}
			next = page.Next
		}
	}
}

// write makes a writing call on an existing payment, which is the response. path follows the payment's own.
func write[P stripe.ParamsContainer](ctx context.Context, client *Client, verb, key, id string, params P, path string) (Payment, error) {
	return observe(ctx, client, verb, func(ctx context.Context) (Payment, error) {
		if id == "" {
			return Payment{}, ErrNotFound
		}
		pi, err := send(ctx, client, verb, key, params, func(ctx context.Context, params P) (*intent, error) {
			return client.api.payments(ctx, http.MethodPost, "/"+url.PathEscape(id)+path, params)
		})
		return toPayment(verb, id, pi, err)
	})
}

// send makes a writing call with its key and within its time. It repeats the call only while another one is in progress with
// the same key or on the same object: the processor then does nothing and stores nothing (https://docs.stripe.com/error-low-level).
// Without a usable key nothing is sent: the library would make one up, and a retry would then do it twice.
func send[P stripe.ParamsContainer, T any](ctx context.Context, client *Client, verb, key string, params P,
	call func(context.Context, P) (T, error)) (response T, err error) {
	if key == "" || key != strings.TrimSpace(key) || len(key) > maxKeyLength {
		return response, fmt.Errorf("stripe: %s: the idempotency key is empty, too long or has spaces around it: %w", verb, ErrRefused)
	}
	timeout := CallTimeout
	if verb == "capture" {
		timeout = CaptureTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	params.GetParams().SetIdempotencyKey(key)
	for pause := conflictPause; ; pause = min(2*pause, maxConflictPause) {
		response, err = call(ctx, params)
		if !isConflict(err) {
			return response, toCardsError(verb, err)
		}
		select {
		case <-ctx.Done():
			return response, toCardsError(verb, err)
		case <-client.after(pause):
		}
	}
}

// expand asks for the charge of a payment and its refunds, expandList for those of a list. Their state must be known before money moves.
func expand() []*string     { return []*string{stripe.String("latest_charge.refunds")} }
func expandList() []*string { return []*string{stripe.String("data.latest_charge.refunds")} }
