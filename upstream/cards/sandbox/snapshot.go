package sandbox

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
)

// savedWorld is what a snapshot holds of a demo world, as JSON. An address of this process is a path in it, because the process that
// restores it has another origin.
type savedWorld struct {
	Settings *Settings      `json:"settings,omitempty"` // nil: it has none of its own
	Payments []savedPayment `json:"payments"`           // oldest first
}

type savedPayment struct {
	ID                 string          `json:"id"`
	Secret             string          `json:"secret"`
	Amount             int64           `json:"amount"`
	Currency           string          `json:"currency"`
	Manual             bool            `json:"manual,omitempty"`
	Types              []string        `json:"types,omitempty"`
	Description        string          `json:"description,omitempty"`
	Created            time.Time       `json:"created"`
	WebhookURL         string          `json:"webhookUrl,omitempty"`
	Status             string          `json:"status"`
	Captured           int64           `json:"captured,omitempty"`
	CanceledAt         int64           `json:"canceledAt,omitempty"`
	CancellationReason string          `json:"cancellationReason,omitempty"`
	LastError          json.RawMessage `json:"lastError,omitempty"`
	Declines           int             `json:"declines,omitempty"`
	Method             string          `json:"method,omitempty"`
	Pending            *savedPending   `json:"pending,omitempty"`
	Capturing          int64           `json:"capturing,omitempty"`
	Charges            []savedCharge   `json:"charges,omitempty"`
	Refunds            []savedRefund   `json:"refunds,omitempty"`
	Metadata           []savedEntry    `json:"metadata,omitempty"`
	Keys               []savedKey      `json:"keys,omitempty"` // of the calls that were about it
}

type savedPending struct {
	Card      string `json:"card"`
	ReturnURL string `json:"returnUrl,omitempty"`
}

type savedCharge struct {
	ID            string          `json:"id"`
	Card          string          `json:"card"`
	Reversed      bool            `json:"reversed,omitempty"`
	Disputed      bool            `json:"disputed,omitempty"`
	Failed        json.RawMessage `json:"failed,omitempty"`
	Metadata      []savedEntry    `json:"metadata,omitempty"`
	Created       time.Time       `json:"created"`
	CaptureBefore time.Time       `json:"captureBefore,omitzero"`
}

type savedRefund struct {
	ID      string    `json:"id"`
	Amount  int64     `json:"amount"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason,omitempty"`
	Created time.Time `json:"created"`
}

type savedEntry struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type savedKey struct {
	Key     string          `json:"key"`
	Request string          `json:"request"`
	First   int64           `json:"first"`
	Bytes   int             `json:"bytes"`
	Status  int             `json:"status"`
	Body    json.RawMessage `json:"body"`
}

var errSaved = errors.New("sandbox: the payments cannot be read")

// Snapshot returns the payments, idempotency keys and settings of a demo world as JSON. It calls meanwhile, if it is not nil, before the
// double changes again.
func (s *Server) Snapshot(world string, meanwhile func()) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if meanwhile != nil {
		meanwhile()
	}
	saved := savedWorld{Payments: []savedPayment{}}
	if own, ok := s.store.settings[world]; ok {
		saved.Settings = &own
	}
	keys := map[*intent][]savedKey{}
	for key, use := range s.keys {
		if use.of == nil || use.of.gone || use.of.world != world || use.response.body == nil {
			continue
		}
		keys[use.of] = append(keys[use.of], savedKey{
			Key: hex.EncodeToString(key[:]), Request: hex.EncodeToString(use.request[:]), First: use.first, Bytes: use.bytes,
			Status: use.response.status, Body: encoded(use.response.body),
		})
	}
	for _, in := range s.store.all {
		if in.world == world {
			payment := s.saved(in)
			payment.Keys = keys[in]
			slices.SortFunc(payment.Keys, func(one, other savedKey) int { return bytes.Compare([]byte(one.Key), []byte(other.Key)) })
			saved.Payments = append(saved.Payments, payment)
		}
	}
	return encoded(saved)
}

func encoded(value any) json.RawMessage {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err) // of a value without JSON: see Distort
	}
	return body
}

// origin is where the process of the double is, such as http://localhost:8080.
func (s *Server) origin() string { return strings.TrimSuffix(s.URL, s.mount) }

// portable returns an address as a snapshot has it, and located such a one as this process has it.
func (s *Server) portable(address string) string {
	if path, own := strings.CutPrefix(address, s.origin()+"/"); own {
		return "/" + path
	}
	return address
}

func (s *Server) located(saved string) string {
	if strings.HasPrefix(saved, "/") {
		return s.origin() + saved
	}
	return saved
}

func (s *Server) saved(v *intent) savedPayment {
	payment := savedPayment{
		ID: v.id, Secret: v.secret, Amount: v.amount, Currency: v.currency, Manual: v.manual, Types: v.types, Description: v.description,
		Created: v.created, WebhookURL: s.portable(v.webhookURL), Status: v.status, Captured: v.captured, CanceledAt: v.canceledAt,
		CancellationReason: v.cancellationReason, LastError: v.lastError.saved(), Declines: v.declines, Method: v.method,
		Capturing: v.capturing, Metadata: v.metadata.saved(),
	}
	if v.pending != nil {
		payment.Pending = &savedPending{v.pending.card.method, s.portable(v.pending.returnURL)}
	}
	for _, c := range v.charges {
		payment.Charges = append(payment.Charges, savedCharge{
			ID: c.id, Card: c.card.method, Reversed: c.reversed, Disputed: c.disputed, Failed: c.failed.saved(), Metadata: c.metadata.saved(),
			Created: c.created, CaptureBefore: c.captureBefore,
		})
	}
	for _, r := range v.refunds {
		payment.Refunds = append(payment.Refunds, savedRefund{r.id, r.amount, r.status, r.reason, r.created})
	}
	return payment
}

// saved is the error as it is written; nil without one.
func (e *apiError) saved() json.RawMessage {
	if e == nil {
		return nil
	}
	return encoded(e)
}

func (m metadata) saved() (entries []savedEntry) {
	for _, e := range m {
		entries = append(entries, savedEntry{e.key, e.value})
	}
	return entries
}

// Restore replaces what the double holds of a demo world by a Snapshot; nil: by nothing. It reads the snapshot at once, and changes
// nothing before apply is called.
func (s *Server) Restore(world string, snapshot json.RawMessage) (apply func(), err error) {
	var saved savedWorld
	if len(snapshot) > 0 {
		if err := json.Unmarshal(snapshot, &saved); err != nil {
			return nil, errors.Join(errSaved, err)
		}
	}
	restored := make([]*intent, len(saved.Payments))
	keys := map[digest]*keyUse{}
	for i, payment := range saved.Payments {
		if restored[i], err = s.restored(payment, world); err != nil {
			return nil, err
		}
		for _, key := range payment.Keys {
			if err := key.addTo(keys, restored[i]); err != nil {
				return nil, err
			}
		}
	}
	if saved.Settings != nil {
		if err := saved.Settings.Check(); err != nil {
			return nil, errors.Join(errSaved, err)
		}
	}
	return func() { s.replace(world, saved.Settings, restored, keys) }, nil
}

func (s *Server) replace(world string, settings *Settings, payments []*intent, keys map[digest]*keyUse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset(world)
	if settings != nil {
		s.store.settings[world] = *settings
	}
	for _, in := range payments {
		if s.store.add(in) != nil { // the double is full: the oldest have their places
			break
		}
	}
	s.store.sort()
	for key, use := range keys {
		if s.store.byID[use.of.id] == use.of {
			s.keys[key] = use
			s.keyBytes += use.bytes
		}
	}
}

// sort puts the payments in the order of their creation: restored ones are older than some that were there.
func (st *store) sort() {
	slices.SortStableFunc(st.all, func(one, other *intent) int { return one.created.Compare(other.created) })
	for i, in := range st.all {
		in.seq = int64(i)
	}
}

func (s *Server) restored(p savedPayment, world string) (*intent, error) {
	if p.ID == "" || p.Amount <= 0 || p.Status == "" || p.Captured > 0 && len(p.Charges) == 0 {
		return nil, errSaved
	}
	lastError, err := readError(p.LastError)
	if err != nil {
		return nil, err
	}
	in := &intent{view: view{&made{
		id: p.ID, secret: p.Secret, account: s.accounts[0], world: intern(world), amount: p.Amount, currency: intern(p.Currency),
		manual: p.Manual, types: p.Types, description: intern(p.Description), created: p.Created, webhookURL: intern(s.located(p.WebhookURL)),
	}, &state{
		status: p.Status, captured: p.Captured, canceledAt: p.CanceledAt, cancellationReason: p.CancellationReason, lastError: lastError,
		declines: p.Declines, method: p.Method, capturing: p.Capturing, metadata: readMetadata(p.Metadata),
	}}}
	if p.Pending != nil {
		in.pending = &pending{card: cardOf(p.Pending.Card), returnURL: s.located(p.Pending.ReturnURL)}
		if in.pending.returnURL != "" {
			in.pending.bankURL = s.challengeURL(in)
		}
	}
	for _, c := range p.Charges {
		failed, err := readError(c.Failed)
		if err != nil {
			return nil, err
		}
		in.charges = append(in.charges, &charge{
			id: c.ID, card: cardOf(c.Card), reversed: c.Reversed, disputed: c.Disputed, failed: failed, metadata: readMetadata(c.Metadata),
			created: c.Created, captureBefore: c.CaptureBefore,
		})
	}
	for _, r := range p.Refunds {
		in.refunds = append(in.refunds, &refund{r.ID, r.Amount, r.Status, r.Reason, r.Created})
	}
	return in, nil
}

// cardOf returns the test card of a payment method; another one is a real card's, which is declined.
func cardOf(method string) *testCard {
	if at := slices.IndexFunc(testCards, func(card testCard) bool { return card.method == method }); at >= 0 {
		return &testCards[at]
	}
	return &otherCard
}

// readError reads an error as it was written.
func readError(saved json.RawMessage) (*apiError, error) {
	if len(saved) == 0 {
		return nil, nil
	}
	var read struct {
		apiError
		PaymentIntent json.RawMessage `json:"payment_intent"` // which the errors of a payment do not have
	}
	if err := json.Unmarshal(saved, &read); err != nil {
		return nil, errors.Join(errSaved, err)
	}
	return &read.apiError, nil
}

func readMetadata(entries []savedEntry) (m metadata) {
	for _, e := range entries {
		m = append(m, metadataEntry{intern(e.Key), e.Value})
	}
	return m
}

func (k savedKey) addTo(keys map[digest]*keyUse, of *intent) error {
	var key, request digest
	one, err := hex.Decode(key[:], []byte(k.Key[:min(len(k.Key), 2*len(key))]))
	other, wrong := hex.Decode(request[:], []byte(k.Request[:min(len(k.Request), 2*len(request))]))
	if err != nil || wrong != nil || one != len(key) || other != len(request) || len(k.Body) == 0 {
		return errSaved
	}
	keys[key] = &keyUse{request: request, first: k.First, bytes: k.Bytes, of: of, response: response{k.Status, k.Body}}
	return nil
}
