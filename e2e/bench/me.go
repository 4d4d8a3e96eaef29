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
	"strings"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"frontdesk/e2e/campaign/rig"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/identity"
)

const (
	// meUpstream is how long the club system takes for each of the two reads, in milliseconds.
	meUpstream = 5
	// meConnections ask at once where processor time is counted.
	meConnections = 64
	// latencyConnections ask at once where the answer's time is measured: one, since several that wait for
	// reads of the same length come back together, and queue for the one core.
	latencyConnections = 1
	// verifications of one token show what the identity check takes.
	verifications = 5000
)

// measureMe merges two reads of a contact, beside a server that does no more than that.
func measureMe(ctx context.Context, h *harness) ([]row, error) {
	outside, err := h.upstreams()
	if err != nil {
		return nil, err
	}
	redis, err := h.redis()
	if err != nil {
		return nil, err
	}
	g, err := h.gateway(outside, redis.URL())
	if err != nil {
		return nil, err
	}
	club, err := h.clubSystem(outside)
	if err != nil {
		return nil, err
	}
	who, err := club.persona(ctx, "customer")
	if err != nil {
		return nil, err
	}
	number := who.ContactID[strings.LastIndex(who.ContactID, "/"):]
	contact, account := club.url+"/contacts"+number, club.url+"/stats/accounts/contacts"+number
	asked, err := json.Marshal(reads{Contact: contact, Account: account, Header: club.header})
	if err != nil {
		return nil, err
	}
	var bare [3]*rig.Process
	var at [3]string
	for i, name := range []string{"echo-merge", "echo-pick", "echo-splice"} {
		if bare[i], at[i], err = h.referenceTo(name, asked); err != nil {
			return nil, err
		}
	}
	check, err := identityCheck(ctx, club.url+"/_control/jwks", who.IdentityToken)
	if err != nil {
		return nil, err
	}
	slow := clubsim.Fault{Match: clubsim.FaultMatch{Method: http.MethodGet}, Kind: "delay", DelayMs: meUpstream}
	if err := club.put(ctx, "faults", []clubsim.Fault{slow}); err != nil {
		return nil, err
	}
	me := load{url: g.url + "/v1/me", header: http.Header{"Authorization": {"Bearer " + who.IdentityToken}}, addresses: visitors, connections: meConnections}
	contenders := []func() (float64, error){perRequests(ctx, me, g.Process), check}
	for i, p := range bare {
		contenders = append(contenders, perRequests(ctx, load{url: at[i] + "/", connections: meConnections}, p))
	}
	used, err := interleave(contenders...)
	if err != nil {
		return nil, err
	}
	me.connections = latencyConnections
	took, err := interleave(medianLatency(ctx, me), medianLatency(ctx, load{url: contact, header: club.header, connections: latencyConnections}),
		medianLatency(ctx, load{url: account, header: club.header, connections: latencyConnections}), medianLatency(ctx, load{url: at[0] + "/", connections: latencyConnections}))
	if err != nil {
		return nil, err
	}
	return meRows(used, took), nil
}

func meRows(used, took []series) []row {
	without, check := make(series, len(used[0])), used[1]
	for i, all := range used[0] {
		without[i] = all - check[i]
	}
	slower := make(series, len(took[1]))
	for i := range slower {
		slower[i] = max(took[1][i], took[2][i])
	}
	most := (slower.median() + 1) / slower.median()
	seconds := func(s series) string { return fmt.Sprintf("%.2f s", s.median()) }
	return []row{
		{"GET /v1/me, two reads of 5 ms merged: processor time for 10,000, without the identity check", seconds(without),
			"bare Echo that decodes and merges: " + seconds(used[2]), without.ratioTo(used[2]), threshold{atMost: 1.1}},
		{"Bare Echo that decodes the few members of GET /v1/me alone", seconds(used[3]), "bare Echo that decodes and merges: " + seconds(used[2]), used[3].ratioTo(used[2]), threshold{}},
		{"Bare Echo that passes both on as they came", seconds(used[4]), "bare Echo that decodes and merges: " + seconds(used[2]), used[4].ratioTo(used[2]), threshold{}},
		{"The identity check (EdDSA) of 10,000 requests", seconds(check), "", 0, threshold{}},
		{"GET /v1/me: half of the answers come within", fmt.Sprintf("%.2f ms", took[0].median()),
			fmt.Sprintf("the slower of its reads: %.2f ms, and bare Echo: %.2f ms", slower.median(), took[3].median()), took[0].ratioTo(slower), threshold{atMost: most}},
	}
}

// perRequests is a contender by its processor time in seconds for ten thousand answers.
func perRequests(ctx context.Context, h load, p *rig.Process) func() (float64, error) {
	return func() (float64, error) {
		before, err := cpu(p)
		if err != nil {
			return 0, err
		}
		found, err := h.run(ctx)
		if err != nil {
			return 0, err
		}
		after, err := cpu(p)
		return (after - before) / float64(found.requests) * 10_000, err
	}
}

// medianLatency is a contender by the time within which half of its answers come, in milliseconds.
func medianLatency(ctx context.Context, h load) func() (float64, error) {
	return func() (float64, error) {
		found, err := h.run(ctx)
		return float64(found.p50.Microseconds()) / 1000, err
	}
}

// identityCheck is a contender by the processor time of ten thousand checks of a token, in seconds.
func identityCheck(ctx context.Context, keys, token string) (func() (float64, error), error) {
	login := identity.New(identity.Config{JWKSURL: keys, Now: time.Now})
	_, err := login.Verify(ctx, token, clubsim.DemoClientToken)
	return func() (float64, error) {
		before := ownTime()
		for range verifications {
			if _, err := login.Verify(ctx, token, clubsim.DemoClientToken); err != nil {
				return 0, err
			}
		}
		return (ownTime() - before).Seconds() / verifications * 10_000, nil
	}, err
}

// ownTime is the processor time that this program has used so far.
func ownTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // it fails for what is not a process alone
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// reads are what the server to compare with reads for each request.
type reads struct {
	Contact, Account string
	Header           http.Header
}

// bareMerger reads both at once and answers with one document, at /.
func bareMerger(path string, document func(contact, account []byte) (any, error)) (http.Handler, error) {
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
		told, err := document(contact, account)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, told)
	})
	return e, nil
}

// merged is one document with all members of both, as of whoever knows nothing of them.
func merged(contact, account []byte) (any, error) {
	var all, more map[string]any
	if err := errors.Join(json.Unmarshal(contact, &all), json.Unmarshal(account, &more)); err != nil {
		return nil, err
	}
	maps.Copy(all, more)
	return all, nil
}

// spliced has both as they came.
func spliced(contact, account []byte) (any, error) {
	return map[string]json.RawMessage{"contact": contact, "account": account}, nil
}

// picked is made of the members that GET /v1/me has; nothing else is decoded, and nothing checked.
func picked(of, money []byte) (any, error) {
	var contact struct {
		Club   string `json:"clubId"`
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
	if err := errors.Join(json.Unmarshal(of, &contact), json.Unmarshal(money, &account)); err != nil {
		return nil, err
	}
	return map[string]any{
		"clubId": contact.Club[strings.LastIndex(contact.Club, "/")+1:], "number": contact.Number, "status": contact.Status, "tags": contact.Tags,
		"debt": map[string]any{"amount": account.Debt, "currency": "EUR"},
	}, nil
}

func (of reads) read(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header = of.Header.Clone()
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d", url, answer.StatusCode)
	}
	return io.ReadAll(answer.Body)
}
