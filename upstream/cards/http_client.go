package cards

import (
	"net/http"
	"time"
)

// Limits of both adapters.
const (
	// CallTimeout is the time for one call: a buyer waits for it.
	CallTimeout = 10 * time.Second
	// CaptureTimeout is longer because the processor asks the card's bank, and because a
	// capture that is given up leaves a doubt about money.
	CaptureTimeout = 25 * time.Second
	// MaxListed limits the memory of a List: six thousand payments on each of the eight
	// days of a rebuild. A longer list is an error, because a truncated one would hide
	// payments from the rebuild.
	MaxListed = 50_000

	// idleConnections saves a new connection for each call of a busy evening; the default
	// of net/http is two.
	idleConnections = 32
)

// NewHTTPClient returns a client with its own connections. It follows no redirect, which
// would carry a secret or an event to another address.
func NewHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:errcheck // documented to be one
	transport.MaxIdleConnsPerHost = idleConnections
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
