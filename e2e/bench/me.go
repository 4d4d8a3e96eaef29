package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/identity"
)

// meConnections send requests at once where CPU time is measured.
const meConnections = 64

// measureMe compares the merge of two reads of a contact with a server that does nothing else.
func measureMe(h *harness) []row {
	upstreams := h.upstreams().URL
	g := h.gateway(upstreams, frontdesktest.NewDurableRedis(h))
	club := frontdesktest.NewClient(h, upstreams)
	customer := club.Persona("customer")
	world, number := upstreams+"/sim/"+clubsim.DemoClientToken, path.Base(customer.ContactID)
	both := reads{Contact: world + "/contacts/" + number, Account: world + "/stats/accounts/contacts/" + number, Header: h.clubHeader(upstreams)}
	text, err := json.Marshal(both)
	h.must(err)
	p := h.reference("echo-merge", h.file("reads.json", text))
	bare := load{url: p.URL + "/", process: p, connections: meConnections}
	check := h.identityCheck(world+"/_control/jwks", customer.IdentityToken)
	setFaults(club, slow(5*time.Millisecond))

	me := load{url: g.URL + "/v1/me", process: g, header: http.Header{"Authorization": {"Bearer " + customer.IdentityToken}}, addresses: callers, connections: meConnections}
	used := interleave(h.contender(me, cpuPer10k), check, h.contender(bare, cpuPer10k))
	latency := func(l load) func() float64 {
		l.connections = 1 // several that wait for reads of the same length return together, and queue for the one core
		return h.contender(l, medianLatency)
	}
	took := interleave(latency(me), latency(load{url: both.Contact, header: both.Header}), latency(load{url: both.Account, header: both.Header}), latency(bare))
	checked, merging := used[1], used[2]
	without := used[0].combine(checked, func(all, check float64) float64 { return all - check })
	slower := took[1].combine(took[2], func(a, b float64) float64 { return max(a, b) })
	seconds := func(s series) string { return fmt.Sprintf("%.2f s", s.median()) }
	return []row{
		{"GET /v1/me, two reads of 5 ms merged: CPU time for 10,000, without the identity check", seconds(without),
			"bare Echo that decodes and merges: " + seconds(merging), without.ratioTo(merging), threshold{atMost: 1.1}},
		{"The identity check (EdDSA) of 10,000 requests", seconds(checked), "", 0, threshold{}},
		{"GET /v1/me: median latency", fmt.Sprintf("%.2f ms", took[0].median()),
			fmt.Sprintf("the slower of its reads: %.2f ms, and bare Echo: %.2f ms", slower.median(), took[3].median()),
			took[0].ratioTo(slower), threshold{atMost: (slower.median() + 1) / slower.median()}}, // one millisecond more
	}
}

// identityCheck returns a contender: the CPU time of ten thousand checks of a token, in seconds.
func (h *harness) identityCheck(keys, token string) func() float64 {
	login := identity.New(identity.Config{JWKSURL: keys, Now: time.Now})
	verify := func() {
		_, err := login.Verify(h.Context(), token, clubsim.DemoClientToken)
		h.must(err)
	}
	verify() // fetches the keys, before the club system is slow
	return h.cpuOf(os.Getpid(), 1, func() {
		for range 10_000 {
			verify()
		}
	})
}

// reads are the two reads of the server to compare with.
type reads struct {
	Contact, Account string
	Header           http.Header
}

// bareMerger sends both reads at once and responds at / with one document that has all members of both, which it
// does not know.
func bareMerger(path string) (http.Handler, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var of reads
	if err := json.Unmarshal(body, &of); err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * meConnections}, Timeout: 10 * time.Second}
	e := echo.New()
	e.GET("/", func(c echo.Context) error {
		var contact, account []byte
		both, ctx := errgroup.WithContext(c.Request().Context())
		both.Go(func() (err error) { contact, err = of.read(ctx, client, of.Contact); return err })
		both.Go(func() (err error) { account, err = of.read(ctx, client, of.Account); return err })
		if err := both.Wait(); err != nil {
			return err
		}
		var all, more map[string]any
		if err := errors.Join(json.Unmarshal(contact, &all), json.Unmarshal(account, &more)); err != nil {
			return err
		}
		maps.Copy(all, more)
		return c.JSON(http.StatusOK, all)
	})
	return e, nil
}

func (of reads) read(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header = of.Header.Clone()
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d", url, response.StatusCode)
	}
	return io.ReadAll(response.Body)
}
