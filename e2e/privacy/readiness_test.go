package privacy_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
)

// TestReadinessOfAStranger: a gateway gets no more traffic once Redis holds the payments of another account.
func TestReadinessOfAStranger(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t)
	_, client := env.gateway()
	client.Do("GET", "/readyz", nil).Into(http.StatusOK, nil)
	held := map[string]any{"account": "another", "organisation": "demo", "environment": "test", "since": time.Now(), "adopted": true}
	text, err := json.Marshal(held)
	if err != nil {
		t.Fatal(err)
	}
	if err := env.redis.Set(t.Context(), "fd:fingerprint", text, 0).Err(); err != nil {
		t.Fatal(err)
	}
	frontdesktest.Eventually(t, "the gateway is not ready", func() bool {
		ready := client.Do("GET", "/readyz", nil)
		var health struct{ Checks map[string]string }
		return ready.Status == http.StatusServiceUnavailable && json.Unmarshal(ready.Body, &health) == nil &&
			health.Checks["fingerprint"] == "unavailable"
	})
}
