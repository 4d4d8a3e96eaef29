package chaos

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/rig"
	"frontdesk/upstream/cards/sandbox"
)

// What the post does to a delivery.
const (
	dropped   = "delivery dropped"
	doubled   = "delivery doubled"
	delayed   = "delivery late"
	reordered = "delivery overtaken by a later one"
	replayed  = "delivery replayed"
)

// What the gateways are sent that the processor never said.
const (
	forged       = "forged delivery"
	unsigned     = "unsigned delivery"
	stale        = "delivery signed ten minutes ago"
	falseEvent   = "signed delivery that is not true"
	foreignEvent = "delivery of a foreign payment"
	oversized    = "oversized delivery"
)

var (
	deliveryFaults = []string{dropped, doubled, delayed, reordered, replayed}
	attacks        = []string{forged, unsigned, stale, falseEvent, foreignEvent, oversized}
)

// maxDelay is how long a late delivery takes at most; longer than a payment does, and
// shorter than the patience of a test.
const maxDelay = 3 * time.Second

// webhookFaults stands between the processor and the gateways, and is the worst of posts.
type webhookFaults struct {
	rig    *rig.Harness
	record *campaign.Recorder
	server *http.Server
	where  net.Listener
	client http.Client

	mu    sync.Mutex
	rng   *rand.Rand
	held  *delivery // waits to be overtaken
	group sync.WaitGroup
	ctx   context.Context
	stop  context.CancelFunc
}

// delivery is a delivery as the processor sent it.
type delivery struct {
	signature string
	body      []byte
}

func startWebhookFaults(r *rig.Harness, record *campaign.Recorder, seed uint64) (*webhookFaults, error) {
	where, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	const deliveryTime = 10 * time.Second // a gateway answers in milliseconds
	o := &webhookFaults{rig: r, record: record, where: where, client: http.Client{Timeout: deliveryTime}, rng: rand.New(rand.NewPCG(seed, 4))}
	o.ctx, o.stop = context.WithCancel(context.Background())
	o.server = &http.Server{Handler: http.HandlerFunc(o.accept), ReadHeaderTimeout: deliveryTime}
	go o.server.Serve(where) // ends with close
	return o, nil
}

func (o *webhookFaults) url() string { return "http://" + o.where.Addr().String() + "/" }

func (o *webhookFaults) close() {
	o.stop()
	o.server.Close()
	o.group.Wait()
	o.client.CloseIdleConnections()
}

// intN throws a dice.
func (o *webhookFaults) intN(n int) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rng.IntN(n)
}

// accept accepts a letter, whatever becomes of it.
func (o *webhookFaults) accept(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.WriteHeader(http.StatusNoContent)
	l := &delivery{r.Header.Get(sandbox.SignatureHeader), body}
	if !bytes.Contains(body, []byte(`"fd_environment":"test"`)) {
		o.deliver(foreignEvent, l)
		return
	}
	switch o.intN(8) {
	case 0, 1:
		o.record.AddFault(dropped)
	case 2:
		o.deliver(doubled, l)
		o.deliver("", l)
	case 3:
		o.later(delayed, l)
	case 4:
		o.overtake(l)
	case 5:
		o.deliver("", l)
		o.later(replayed, l)
	case 6:
		o.deliver("", l)
		o.attack(l)
	default:
		o.deliver("", l)
	}
}

// deliver brings a letter to some gateway, in its own time, and counts what it is.
func (o *webhookFaults) deliver(kind string, l *delivery) {
	o.group.Go(func() {
		if status := o.post(l); kind != "" && status != 0 {
			o.record.AddFault(kind)
		}
	})
}

func (o *webhookFaults) later(kind string, l *delivery) {
	after := time.Duration(o.intN(int(maxDelay)))
	o.group.Go(func() {
		wait(o.ctx, after)
		if o.post(l) != 0 {
			o.record.AddFault(kind)
		}
	})
}

// overtake keeps a letter until the next one was delivered before it.
func (o *webhookFaults) overtake(l *delivery) {
	o.mu.Lock()
	first := o.held
	o.held = l
	o.mu.Unlock()
	if first == nil {
		return
	}
	o.group.Go(func() {
		o.mu.Lock()
		second := o.held
		o.held = nil
		o.mu.Unlock()
		if second != nil {
			o.post(second)
		}
		o.post(first)
		o.record.AddFault(reordered)
	})
}

// attack makes something false of a true letter. None of it may be taken.
func (o *webhookFaults) attack(l *delivery) {
	now := time.Now()
	for kind, false_ := range map[string]*delivery{
		forged:    {signed("whsec_guessed", now, l.body), l.body},
		unsigned:  {"", l.body},
		stale:     {signed(sandbox.DemoWebhookSecret, now.Add(-10*time.Minute), l.body), l.body},
		oversized: {signed(sandbox.DemoWebhookSecret, now, l.body), append(bytes.Clone(l.body), strings.Repeat(" ", 1<<20)...)},
	} {
		o.group.Go(func() {
			status := o.post(false_)
			if status == 0 && kind != oversized { // who reads no further than it wants to may hang up on it
				return
			}
			o.record.AddFault(kind)
			if status >= 200 && status < 300 {
				o.record.AddViolations(campaign.Violation{Invariant: forgeryAccepted, Detail: fmt.Sprintf("%s: %d", kind, status)})
			}
		})
	}
}

// sendFalseEvents tells the gateways, with the processor's own signature, that a payment is taken, given
// up and given back before the buyer has done anything.
func (o *webhookFaults) sendFalseEvents(ctx context.Context, j *rig.Journey) {
	if o.intN(4) != 0 {
		return
	}
	p, err := o.rig.Upstreams.Payment(ctx, j.ProcessorID())
	if err != nil {
		return
	}
	for _, what := range []string{sandbox.EventCaptured, sandbox.EventCancelled, sandbox.EventRefunded} {
		body, err := json.Marshal(map[string]any{"id": "evt_" + uuid.NewString(), "type": what, "createdAt": time.Now(), "data": map[string]any{"payment": p}})
		if err != nil {
			return
		}
		if o.post(&delivery{signed(sandbox.DemoWebhookSecret, time.Now(), body), body}) != 0 {
			o.record.AddFault(falseEvent)
		}
	}
}

// post brings a letter to some gateway, and gives the status of its answer; 0 for none.
func (o *webhookFaults) post(l *delivery) int {
	return deliver(o.ctx, &o.client, o.rig.Gateways[o.intN(len(o.rig.Gateways))], l.signature, l.body)
}

// deliver brings a webhook to a gateway, and gives the status of its answer; 0 for none.
func deliver(ctx context.Context, client *http.Client, g *rig.Gateway, signature string, body []byte) int {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.URL+"/v1/webhooks/card", bytes.NewReader(body))
	if err != nil {
		return 0
	}
	request.Header.Set("Content-Type", "application/json")
	if signature != "" {
		request.Header.Set(sandbox.SignatureHeader, signature)
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0
	}
	answer.Body.Close()
	return answer.StatusCode
}

// signed is a signature as the processor makes it.
func signed(secret string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.", at.Unix())
	mac.Write(body)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}
