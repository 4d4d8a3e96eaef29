package cards

import (
	"net/http"
	"time"
)

// What both adapters allow their processor.
const (
	// CallTimeout is the time for one call: a buyer waits for it.
	CallTimeout = 10 * time.Second
	// CaptureTimeout is longer because giving up on a capture leaves a doubt about
	// money, and because the processor asks the card's bank meanwhile.
	CaptureTimeout = 25 * time.Second
	// MaxListed limits the memory of a List: six thousand payments on each of the
	// eight days that a rebuild looks back. A longer list is an error, because a
	// truncated one would hide payments from the rebuild.
	MaxListed = 50_000
)

// idleConnections to one processor are kept open, so that a busy evening does not open a
// connection for each call. The default of net/http is two.
const idleConnections = 32

// NewHTTPClient returns a client with its own connections. It follows no redirect, which
// would carry a secret or an event to an address that is not configured.
func NewHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:errcheck // documented to be one
	transport.MaxIdleConnsPerHost = idleConnections
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
