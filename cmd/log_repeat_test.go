package cmd_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"frontdesk/cmd"
)

// TestRepeatedWarnings: the first warning of an outage is logged at once, then one line a minute with the number of the
// others, whatever payment they are about. Other warnings, errors and the end of the outage are not held back.
func TestRepeatedWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		log := cmd.NewLog(&out)
		poll := func(payment int) {
			log.WarnContext(context.Background(), "payment not polled", "payment", payment,
				"error", fmt.Errorf("read tcp 127.0.0.1:%d->10.0.0.1:6379: i/o timeout", 40000+payment))
		}
		for payment := range 100 { // in 50 seconds
			poll(payment)
			time.Sleep(time.Second / 2)
		}
		if n := strings.Count(out.String(), "payment not polled"); n != 1 || !strings.Contains(out.String(), "payment=0 ") {
			t.Errorf("%d lines at first:\n%s", n, &out)
		}
		log.Warn("payment not polled", "payment", 7, "error", errors.New("another error"))
		log.Error("payment not polled", "payment", 8, "error", errors.New("another error"))
		if n := strings.Count(out.String(), "another error"); n != 2 {
			t.Errorf("%d lines about another error:\n%s", n, &out)
		}
		time.Sleep(15 * time.Second)
		if !strings.Contains(out.String(), "payment=99 ") || !strings.Contains(out.String(), "repeated=99") {
			t.Errorf("after a minute:\n%s", &out)
		}
		time.Sleep(3 * time.Minute)
		out.Reset()
		if poll(5); !strings.Contains(out.String(), "payment=5 ") {
			t.Errorf("the first line of the next outage: %q", &out)
		}
	})
}

// output keeps what a log writes. Timers write to it as well.
type output struct {
	mu  sync.Mutex
	log bytes.Buffer
}

func (o *output) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.log.Write(line)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.log.String()
}

func (o *output) Reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log.Reset()
}
