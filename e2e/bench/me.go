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

const (
	// meUpstream is how long the club system takes for each of the two reads.
	meUpstream = 5 * time.Millisecond
	// meConnections send requests at once where CPU time is measured.
	meConnections = 64
	// latencyConnections is one: several connections that wait for reads of the same length return
	// together, and queue for the one core.
	latencyConnections = 1
	// verifications is how often one round of the identity check verifies a token.
	verifications = 5000
)

// measureMe compares the merge of two reads of a contact with a server that does nothing else.
func measureMe(h *harness) []row {
	upstreams := h.upstreams()
	g := h.gateway(upstreams, frontdesktest.NewDurableRedis(h))
	club := frontdesktest.NewClient(h, upstreams)
	customer := club.Persona("customer")
	world, number := upstreams+"/sim/"+clubsim.DemoClientToken, path.Base(customer.ContactID)
	both := reads{Contact: world + "/contacts/" + number, Account: world + "/stats/accounts/contacts/" + number, Header: h.clubHeader(upstreams)}
	text, err := json.Marshal(both)
	h.must(err)
	var bare []load
	for _, name := range []string{"echo-merge", "echo-pick", "echo-splice"} {
		p, url := h.reference(name, h.file("reads.json", text))
		bare = append(bare, load{url: url + "/", process: p, connections: meConnections})
	}
	check := h.identityCheck(world+"/_control/jwks", customer.IdentityToken)
	setFaults(club, slow(meUpstream))

	me := load{url: g.url + "/v1/me", process: g.Process, header: http.Header{"Authorization": {"Bearer " + customer.IdentityToken}}, addresses: callers, connections: meConnections}
	used := interleave(h.contender(me, cpuPer10k), check,
		h.contender(bare[0], cpuPer10k), h.contender(bare[1], cpuPer10k), h.contender(bare[2], cpuPer10k))
	latency := func(l load) func() float64 {
		l.connections = latencyConnections
		return h.contender(l, medianLatency)
	}
	took := interleave(latency(me), latency(load{url: both.Contact, header: both.Header}), latency(load{url: both.Account, header: both.Header}), latency(bare[0]))
	return meRows(used, took)
}

func meRows(used, took []series) []row {
	check, merging := used[1], used[2]
	without := used[0].combine(check, func(all, check float64) float64 { return all - check })
	slower := took[1].combine(took[2], func(a, b float64) float64 { return max(a, b) })
	seconds := func(s series) string { return fmt.Sprintf("%.2f s", s.median()) }
	merge := "bare Echo that decodes and merges: " + seconds(merging)
	return []row{
		{"GET /v1/me, two reads of 5 ms merged: CPU time for 10,000, without the identity check", seconds(without),
			merge, without.ratioTo(merging), threshold{atMost: 1.1}},
		{"Bare Echo that decodes only the few fields of GET /v1/me", seconds(used[3]), merge, used[3].ratioTo(merging), threshold{}},
		{"Bare Echo that passes both on unchanged", seconds(used[4]), merge, used[4].ratioTo(merging), threshold{}},
		{"The identity check (EdDSA) of 10,000 requests", seconds(check), "", 0, threshold{}},
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
	return func() float64 {
		before := h.cpu(os.Getpid())
		for range verifications {
			verify()
		}
		return (h.cpu(os.Getpid()) - before) / verifications * 10_000
	}
}

// reads are the two reads of the server to compare with.
type reads struct {
	Contact, Account string
	Header           http.Header
}

// bareMerger sends both reads at once and responds with one document, at /.
func bareMerger(path string, merge func(contact, account []byte) (any, error)) (http.Handler, error) {
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
		document, err := merge(contact, account)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, document)
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

// merged returns one document with all members of both, for a server that does not know them.
func merged(contact, account []byte) (any, error) {
	var all, more map[string]any
	if err := errors.Join(json.Unmarshal(contact, &all), json.Unmarshal(account, &more)); err != nil {
		return nil, err
	}
	maps.Copy(all, more)
	return all, nil
}

// spliced returns one document that holds both unchanged.
func spliced(contact, account []byte) (any, error) {
	return map[string]json.RawMessage{"contact": contact, "account": account}, nil
}

// picked returns the members of GET /v1/me. It decodes nothing else, and checks nothing.
func picked(contactJSON, accountJSON []byte) (any, error) {
	var contact struct {
		ClubID string `json:"clubId"`
		Number string `json:"number"`
		Status string `json:"status"`
		Tags   []struct {
			Name         string `json:"name"`
			ValidFrom    string `json:"validFrom"`
			ValidThrough string `json:"validThrough"`
		} `json:"tags"`
	}
	var account struct {
		Debt int64 `json:"totalRealDebt"`
	}
	if err := errors.Join(json.Unmarshal(contactJSON, &contact), json.Unmarshal(accountJSON, &account)); err != nil {
		return nil, err
	}
	return map[string]any{
		"clubId": path.Base(contact.ClubID), "number": contact.Number, "status": contact.Status, "tags": contact.Tags,
		"debt": map[string]any{"amount": account.Debt, "currency": "EUR"},
	}, nil
}
