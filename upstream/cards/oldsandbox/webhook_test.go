package oldsandbox_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/oldsandbox"
)

const hooks = "http://club.test/v1/webhooks/card"

func (b *webhookEnv) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		b.Errorf("receiving: %v", err)
	}
	event, err := b.client.Webhook(r.Header, body)
	if err != nil {
		b.Errorf("a delivery does not verify: %v", err)
	}
	var in struct {
		Data struct{ Payment oldsandbox.Payment }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		b.Error(err)
	}
	b.mu.Lock()
	b.got = append(b.got, arrival{
		after: time.Since(b.start), path: r.URL.Path, header: r.Header, body: body, event: event, state: in.Data.Payment.State,
	})
	status, n := http.StatusNoContent, len(b.got)
	b.mu.Unlock()
	if b.answer != nil {
		status = b.answer(n)
	}
	w.WriteHeader(status)
}

// arrivals waits until all goroutines are idle, and returns the deliveries so far.
func (b *webhookEnv) arrivals() []arrival {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.got
}

// act posts JSON to the sandbox, as a buyer or a developer.
func (b *webhookEnv) act(method, path, body string) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), method, "http://sandbox.test/sandbox"+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.http.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode > 299 {
		b.Fatalf("%s %s: %d", method, path, resp.StatusCode)
	}
}

func (b *webhookEnv) confirm(id, card string) {
	b.Helper()
	b.act(http.MethodPost, "/payments/"+id+"/confirm", `{"card":"`+card+`"}`)
}

func (b *webhookEnv) set(settings string) {
	b.Helper()
	b.act(http.MethodPut, "/settings", settings)
}

// pay makes a payment with an accepted card, and returns its id.
func (b *webhookEnv) pay() string {
	b.Helper()
	id := b.create(hooks)
	b.confirm(id, goodCard)
	return id
}

func TestEventsOfAPayment(t *testing.T) {
	inBubble(t, func(b *webhookEnv) {
		ctx := b.Context()
		id := b.create(hooks)
		var failed []error
		step := func(_ cards.Payment, err error) {
			failed = append(failed, err)
			synctest.Wait()
		}
		b.confirm(id, declinedCard)
		synctest.Wait()
		b.confirm(id, challengeCard)
		b.act(http.MethodPost, "/payments/"+id+"/challenge", `{"approve":true}`)
		step(b.client.UpdateMetadata(ctx, "note", id, map[string]string{"fd_post_1": "x"}))
		step(b.client.Capture(ctx, "capture", id, 4990))
		step(b.client.Refund(ctx, "refund", id, 1000))
		b.act(http.MethodPost, "/payments/"+id+"/dispute", `{}`)
		synctest.Wait()
		other := b.create(hooks)
		step(b.client.Cancel(ctx, "cancel", other))
		if err := errors.Join(failed...); err != nil {
			b.Fatal(err)
		}
		type delivery struct {
			event, id string
			state     cards.State
		}
		want := []delivery{
			{oldsandbox.EventDeclined, id, cards.Declined}, {oldsandbox.EventAuthorised, id, cards.Authorised},
			{oldsandbox.EventCaptured, id, cards.Captured}, {oldsandbox.EventRefunded, id, cards.Captured},
			{oldsandbox.EventDisputed, id, cards.Captured}, {oldsandbox.EventCancelled, other, cards.Cancelled},
		}
		var got []delivery
		ids := map[string]bool{}
		for _, a := range b.arrivals() {
			got = append(got, delivery{a.event.Type, a.event.PaymentID, a.state})
			ids[a.event.ID] = true
			reversal := a.event.Type == oldsandbox.EventRefunded || a.event.Type == oldsandbox.EventDisputed
			if a.event.Reversal != reversal || a.event.Metadata["fd_sale"] != "s1" || a.path != "/v1/webhooks/card" {
				b.Errorf("%s arrived at %s as %+v", a.body, a.path, a.event)
			}
		}
		if !reflect.DeepEqual(got, want) || len(ids) != len(want) {
			b.Errorf("events %+v, want %+v, each with its own id: %v", got, want, ids)
		}
	})
}

// The signature, computed independently: t=<unix>,v1=<hex hmac-sha256>.
func TestSignature(t *testing.T) {
	inBubble(t, func(b *webhookEnv) {
		b.pay()
		a := b.arrivals()[0]
		at := fmt.Sprint(b.start.Unix())
		mac := hmac.New(sha256.New, []byte("whsec_sandbox_demo"))
		mac.Write([]byte(at + "." + string(a.body)))
		want := "t=" + at + ",v1=" + hex.EncodeToString(mac.Sum(nil))
		if got := a.header.Get("Sandbox-Signature"); got != want || a.header.Get("Content-Type") != "application/json" {
			b.Errorf("signature %q, want %q; headers %v", got, want, a.header)
		}
	})
}

func TestRefusedDeliveriesAreTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(n int) int
		want   []time.Duration
	}{
		"taken at once":   {func(int) int { return 200 }, seconds(0)},
		"taken the third": {func(n int) int { return []int{500, 302, 200}[n-1] }, seconds(0, 1, 5)},
		"never taken":     {func(int) int { return 404 }, seconds(0, 1, 5, 21)},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *webhookEnv) {
				b.answer = c.answer
				b.pay()
				b.pass(time.Hour)
				b.wantTimes(c.want...)
				for _, a := range b.got {
					if !bytes.Equal(a.body, b.got[0].body) {
						b.Errorf("another body in a later attempt of %s: %s", b.got[0].event.ID, a.body)
					}
				}
			})
		})
	}
}

func seconds(figures ...int) (out []time.Duration) {
	for _, s := range figures {
		out = append(out, time.Duration(s)*time.Second)
	}
	return out
}

// wantTimes compares the times of the deliveries.
func (b *webhookEnv) wantTimes(want ...time.Duration) {
	b.Helper()
	var got []time.Duration
	for _, a := range b.arrivals() {
		got = append(got, a.after)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.Errorf("deliveries after %v, want %v", got, want)
	}
}

// A delivery to a receiver that hangs ends after five seconds.
func TestDeliveryTimeout(t *testing.T) {
	inBubble(t, func(b *webhookEnv) {
		b.answer = func(n int) int {
			if n == 1 {
				<-time.After(time.Minute)
			}
			return 200
		}
		b.pay()
		b.pass(2 * time.Minute)
		b.wantTimes(seconds(0, 6)...)
		b.wantLogged("1 0 failed", "2 200 delivered")
		if b.log.lines[0]["error"] == nil {
			b.Errorf("no reason for the failure: %v", b.log.lines[0])
		}
	})
}

func TestWebhookModes(t *testing.T) {
	t.Run("drop", func(t *testing.T) {
		inBubble(t, func(b *webhookEnv) {
			b.set(`{"webhooks":"drop"}`)
			id := b.pay()
			b.pass(time.Hour)
			b.wantTimes()
			b.wantLogged("0 0 dropped")
			if b.log.lines[0]["payment"] != id {
				b.Errorf("logged for another payment than %s: %v", id, b.log.lines[0])
			}
		})
	})
	t.Run("duplicate", func(t *testing.T) {
		inBubble(t, func(b *webhookEnv) {
			b.set(`{"webhooks":"duplicate"}`)
			b.pay()
			b.wantTimes(0, 0)
			if !bytes.Equal(b.got[0].body, b.got[1].body) {
				b.Errorf("a duplicate differs: %s and %s", b.got[0].body, b.got[1].body)
			}
		})
	})
	t.Run("late", func(t *testing.T) {
		inBubble(t, func(b *webhookEnv) {
			b.set(`{"webhooks":"late"}`)
			b.pay()
			b.pass(oldsandbox.LateDelay - time.Nanosecond)
			b.wantTimes()
			b.pass(time.Hour)
			b.wantTimes(oldsandbox.LateDelay)
		})
	})
	t.Run("reorder", func(t *testing.T) {
		inBubble(t, func(b *webhookEnv) {
			b.set(`{"webhooks":"reorder"}`)
			id := b.pay()
			b.pass(time.Second)
			b.wantTimes()
			if _, err := b.client.Capture(b.Context(), "capture", id, 4990); err != nil {
				b.Fatal(err)
			}
			b.pass(time.Hour)
			b.wantTimes(time.Second, time.Second)
			if first := b.got[0].event.Type; first != oldsandbox.EventCaptured {
				b.Errorf("%s came first", first)
			}
		})
	})
	t.Run("reorder without a next one", func(t *testing.T) {
		inBubble(t, func(b *webhookEnv) {
			b.set(`{"webhooks":"reorder"}`)
			b.pay()
			b.pass(time.Hour)
			b.wantTimes(oldsandbox.ReorderHold)
		})
	})
}

func TestWhereEventsGo(t *testing.T) {
	inBubble(t, func(b *webhookEnv) {
		b.confirm(b.create(""), goodCard)
		b.pass(time.Hour)
		b.wantTimes()
		b.wantLogged()
		b.set(`{"webhookUrl":"http://club.test/elsewhere"}`)
		b.pay()
		b.confirm(b.create(""), goodCard)
		for _, a := range b.arrivals() {
			if a.path != "/elsewhere" {
				b.Errorf("went to %s", a.path)
			}
		}
		if len(b.got) != 2 {
			b.Errorf("%d deliveries", len(b.got))
		}
	})
}

func TestCloseAndResetStopDeliveries(t *testing.T) {
	for name, stop := range map[string]func(*webhookEnv){
		"close": func(b *webhookEnv) { b.server.Close() },
		"reset": func(b *webhookEnv) { b.act(http.MethodPost, "/reset", "") },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *webhookEnv) {
				b.answer = func(int) int { return 503 }
				b.pay()
				b.set(`{"webhooks":"reorder"}`)
				b.pay()
				b.set(`{"webhooks":"late"}`)
				b.pay()
				b.pass(100 * time.Millisecond)
				stop(b)
				b.pass(time.Hour)
				b.wantTimes(0)
			})
		})
	}
}

// Each attempt is logged with its event and its outcome.
func TestAttemptsAreLogged(t *testing.T) {
	inBubble(t, func(b *webhookEnv) {
		b.answer = func(n int) int { return []int{500, 200}[n-1] }
		id := b.pay()
		b.pass(time.Hour)
		b.wantLogged("1 500 failed", "2 200 delivered")
		for _, line := range b.log.lines {
			if line["event"] != b.got[0].event.ID || line["type"] != oldsandbox.EventAuthorised || line["payment"] != id {
				b.Errorf("logged %v of %+v", line, b.got[0].event)
			}
		}
	})
}

// attemptLog keeps the attributes of each logged attempt.
type attemptLog struct {
	slog.Handler
	mu    sync.Mutex
	lines []map[string]any
}

func (l *attemptLog) Enabled(context.Context, slog.Level) bool { return true }

func (l *attemptLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "sandbox webhook" {
		return nil
	}
	line := map[string]any{}
	r.Attrs(func(a slog.Attr) bool { line[a.Key] = a.Value.Any(); return true })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	return nil
}

// wantLogged compares attempt, status and outcome of the logged attempts.
func (b *webhookEnv) wantLogged(want ...string) {
	b.Helper()
	synctest.Wait()
	b.log.mu.Lock()
	defer b.log.mu.Unlock()
	var got []string
	for _, line := range b.log.lines {
		got = append(got, fmt.Sprint(line["attempt"], line["status"], " ", line["outcome"]))
	}
	if !slices.Equal(got, want) {
		b.Errorf("logged %q, want %q", got, want)
	}
}
