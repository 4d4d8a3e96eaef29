package clubsim_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"
)

// TestCallLimits: each limit of the API gateway refuses the call after its last one, and says on every response what is left.
func TestCallLimits(t *testing.T) {
	for name, test := range map[string]struct {
		limits body
		prefix string
		length time.Duration
	}{
		"a minute's": {body{"perMinute": 4}, "X-Rate-Limit", time.Minute},
		"a day's":    {body{"perDay": 4}, "X-Quota", 24 * time.Hour},
		"a slice's":  {body{"perSlice": 4, "sliceMs": 60000}, "X-Spike-Arrest", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			client := newTestClient(t, "demo-limits")
			client.control("PUT", "settings", body{"callLimits": test.limits}).want(200)
			client.get("/clubs/11").want(200) // the fourth call is that for the token
			now := client.world.Now()
			for n, want := range []int{200, 200, 429, 429} {
				got := client.get("/clubs/11")
				if got.status != want || got.header.Get("Retry-After") != "" || got.header.Get(test.prefix+"-Limit") != "4" {
					t.Errorf("call %d: status %d, %v", n, got.status, got.header)
				}
				remaining := strconv.Itoa(max(0, 1-n))
				if test.prefix == "X-Spike-Arrest" {
					remaining = ""
				}
				if got.header.Get(test.prefix+"-Remaining") != remaining {
					t.Errorf("call %d: %s left, want %s", n, got.header.Get(test.prefix+"-Remaining"), remaining)
				}
				ms, _ := strconv.ParseInt(got.header.Get(test.prefix+"-Reset"), 10, 64)
				if left := time.UnixMilli(ms).Sub(now); left <= 0 || left > test.length {
					t.Errorf("call %d: the limit ends after %s", n, left)
				}
			}
			journal := client.world.Requests()
			if last := journal[len(journal)-1]; last.Status != http.StatusTooManyRequests || last.Fault != "over_limit" {
				t.Errorf("the journal has %+v", last)
			}
			client.control("PUT", "settings", body{"callLimits": body{"perMinute": 0, "perDay": 0, "perSlice": 0}}).want(200)
			client.get("/clubs/11").want(200)
		})
	}
	newTestClient(t, "demo-limits").control("PUT", "settings", body{"callLimits": body{"perMinute": -1}}).want(400)
}
