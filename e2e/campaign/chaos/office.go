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
	belated   = "delivery late"
	overtaken = "delivery overtaken by a later one"
	replayed  = "delivery replayed"
)

// What the gateways are sent that the processor never said.
const (
	forged    = "forged delivery"
	unsigned  = "unsigned delivery"
	stale     = "delivery signed ten minutes ago"
	lying     = "signed delivery that is not true"
	strange   = "delivery of a foreign payment"
	oversized = "oversized delivery"
)

var (
	postal  = []string{dropped, doubled, belated, overtaken, replayed}
	attacks = []string{forged, unsigned, stale, lying, strange, oversized}
)

// late is how long a late delivery takes at most; longer than a payment does, and
// shorter than the patience of a test.
const late = 3 * time.Second

// office stands between the processor and the gateways, and is the worst of posts.
type office struct {
	rig    *rig.Rig
	record *campaign.Recorder
	server *http.Server
	where  net.Listener
	client http.Client

	mu     sync.Mutex
	random *rand.Rand
	held   *letter // waits to be overtaken
	group  sync.WaitGroup
	ctx    context.Context
	stop   context.CancelFunc
}

// letter is a delivery as the processor sent it.
type letter struct {
	signature string
	body      []byte
}

func openOffice(r *rig.Rig, record *campaign.Recorder, seed uint64) (*office, error) {
	where, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	const deliveryTime = 10 * time.Second // a gateway answers in milliseconds
	o := &office{rig: r, record: record, where: where, client: http.Client{Timeout: deliveryTime}, random: rand.New(rand.NewPCG(seed, 4))}
	o.ctx, o.stop = context.WithCancel(context.Background())
	o.server = &http.Server{Handler: http.HandlerFunc(o.take), ReadHeaderTimeout: deliveryTime}
	go o.server.Serve(where) // ends with close
	return o, nil
}

func (o *office) url() string { return "http://" + o.where.Addr().String() + "/" }

func (o *office) close() {
	o.stop()
	o.server.Close()
	o.group.Wait()
	o.client.CloseIdleConnections()
}

// roll throws a dice.
func (o *office) roll(n int) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.random.IntN(n)
}

// take accepts a letter, whatever becomes of it.
func (o *office) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.WriteHeader(http.StatusNoContent)
	l := &letter{r.Header.Get(sandbox.SignatureHeader), body}
	if !bytes.Contains(body, []byte(`"fd_environment":"test"`)) {
		o.deliver(strange, l)
		return
	}
	switch o.roll(8) {
	case 0, 1:
		o.record.Fault(dropped)
	case 2:
		o.deliver(doubled, l)
		o.deliver("", l)
	case 3:
		o.later(belated, l)
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
func (o *office) deliver(kind string, l *letter) {
	o.group.Go(func() {
		if status := o.post(l); kind != "" && status != 0 {
			o.record.Fault(kind)
		}
	})
}

func (o *office) later(kind string, l *letter) {
	after := time.Duration(o.roll(int(late)))
	o.group.Go(func() {
		wait(o.ctx, after)
		if o.post(l) != 0 {
			o.record.Fault(kind)
		}
	})
}

// overtake keeps a letter until the next one was delivered before it.
func (o *office) overtake(l *letter) {
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
		o.record.Fault(overtaken)
	})
}

// attack makes something false of a true letter. None of it may be taken.
func (o *office) attack(l *letter) {
	now := time.Now()
	for kind, false_ := range map[string]*letter{
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
			o.record.Fault(kind)
			if status >= 200 && status < 300 {
				o.record.Violated(campaign.Violation{Invariant: forgeryTaken, Detail: fmt.Sprintf("%s: %d", kind, status)})
			}
		})
	}
}

// lie tells the gateways, with the processor's own signature, that a payment is taken, given
// up and given back before the buyer has done anything.
func (o *office) lie(ctx context.Context, j *rig.Journey) {
	if o.roll(4) != 0 {
		return
	}
	p, err := o.rig.Outside.Payment(ctx, j.ProcessorID())
	if err != nil {
		return
	}
	for _, what := range []string{sandbox.EventCaptured, sandbox.EventCancelled, sandbox.EventRefunded} {
		body, err := json.Marshal(map[string]any{"id": "evt_" + uuid.NewString(), "type": what, "createdAt": time.Now(), "data": map[string]any{"payment": p}})
		if err != nil {
			return
		}
		if o.post(&letter{signed(sandbox.DemoWebhookSecret, time.Now(), body), body}) != 0 {
			o.record.Fault(lying)
		}
	}
}

// post brings a letter to some gateway, and gives the status of its answer; 0 for none.
func (o *office) post(l *letter) int {
	return deliver(o.ctx, &o.client, o.rig.Gateways[o.roll(len(o.rig.Gateways))], l.signature, l.body)
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
