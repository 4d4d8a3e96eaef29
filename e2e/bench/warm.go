package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"frontdesk/e2e/campaign/rig"
)

// catalogue is the page of products that visitors see first.
const catalogue = "/v1/clubs/11/products"

// visitors are enough for nobody's share to be used up while a measurement runs.
const visitors = 1 << 14

// measureWarm asks for a catalogue that was just read. All servers are sent the same requests.
func measureWarm(ctx context.Context, h *harness) ([]row, error) {
	redis, err := h.redis()
	if err != nil {
		return nil, err
	}
	outside, err := h.verboseUpstreams()
	if err != nil {
		return nil, err
	}
	// The address is public, as in live mode, where it takes one header more. So is the level of
	// the log, at which answers from memory have no line.
	g, err := h.gateway(outside, redis.URL(), "FRONTDESK_PUBLIC_URL=https://signup.example")
	if err != nil {
		return nil, err
	}
	whole, err := h.record(ctx, g.url+catalogue)
	if err != nil {
		return nil, err
	}
	page, answers := filepath.Join(h.dir, "page.json"), filepath.Join(h.dir, "answers.json")
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	for file, text := range map[string][]byte{page: whole.Body, answers: text} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return nil, err
		}
	}
	var of struct{ Items []struct{} }
	if err := json.Unmarshal(whole.Body, &of); err != nil {
		return nil, err
	}
	rows, err := h.compareWarm(ctx, g, whole.Header.Get("ETag"), page, answers)
	if err != nil {
		return nil, err
	}
	held, err := memory(g.Process)
	if err != nil {
		return nil, err
	}
	rows[0].measured += fmt.Sprintf("; %d MB then", held>>20)
	for i, work := range []string{"Catalogue, warm, ", "Bare net/http with the same headers, ", "Bare Echo, ", "nginx that caches the gateway's answer, "} {
		rows[i].work = work + fmt.Sprintf("%d products, %.0f KB", len(of.Items), float64(len(whole.Body))/1000)
	}
	return rows, nil
}

// compareWarm runs all that serve the page, and gives a row for each; the first four are of
// the whole page.
func (h *harness) compareWarm(ctx context.Context, g *gateway, tag, page, answers string) ([]row, error) {
	known := http.Header{"If-None-Match": {tag}}
	asked := func(p *rig.Process, url string, header http.Header, status int) *contender {
		return &contender{process: p, load: load{url: url + catalogue, addresses: visitors, header: header, status: status}}
	}
	all := map[string]*contender{"gateway": asked(g.Process, g.url, nil, 0), "gateway 304": asked(g.Process, g.url, known, http.StatusNotModified)}
	for _, one := range []struct{ name, file string }{{"bytes", page}, {"replay", answers}, {"echo-bytes", page}} {
		p, url, err := h.reference(one.name, one.file)
		if err != nil {
			return nil, err
		}
		all[one.name], all[one.name+" 304"] = asked(p, url, nil, 0), asked(p, url, known, http.StatusNotModified)
	}
	p, url, err := h.nginx(g.url)
	if err != nil {
		return nil, err
	}
	order := []string{"gateway", "bytes", "replay", "echo-bytes", "gateway 304", "bytes 304", "replay 304"}
	if p != nil {
		all["nginx"] = asked(p, url, nil, 0)
		order = append(order, "nginx")
	}
	var measured []func() (float64, error)
	for _, name := range order {
		measured = append(measured, func() (float64, error) { return all[name].run(ctx) })
	}
	found, err := interleave(measured...)
	if err != nil {
		return nil, err
	}
	for i, name := range order {
		all[name].found = found[i]
	}
	than := func(of, bare string, asked threshold) row {
		if all[of] == nil {
			return row{measured: of + " is not installed"}
		}
		return row{measured: all[of].String(), reference: "bare net/http: " + all[bare].String(), ratio: all[of].found.ratioTo(all[bare].found), threshold: asked}
	}
	rows := []row{than("gateway", "bytes", threshold{atLeast: 0.85}), than("replay", "bytes", threshold{}), than("echo-bytes", "bytes", threshold{}), than("nginx", "bytes", threshold{}),
		than("gateway 304", "bytes 304", threshold{atLeast: 0.9}), than("replay 304", "bytes 304", threshold{})}
	rows[4].work, rows[5].work = "Catalogue, warm, with If-None-Match", "Bare net/http, a 304 with the same headers"
	return rows, nil
}

// contender is a server under a load.
type contender struct {
	load
	process  *rig.Process
	found    series  // requests in a second
	spent    float64 // processor time, in seconds
	requests int
}

// run is one round.
func (c *contender) run(ctx context.Context) (float64, error) {
	before, err := cpu(c.process)
	if err != nil {
		return 0, err
	}
	found, err := c.load.run(ctx)
	if err != nil {
		return 0, err
	}
	after, err := cpu(c.process)
	c.spent += after - before
	c.requests += found.requests
	return found.perSecond, err
}

// String tells how much the server did, and what that took of its core.
func (c *contender) String() string {
	return fmt.Sprintf("%.0f/s, %.1f µs each", c.found.median(), c.spent/float64(c.requests)*1e6)
}

// recordedResponse is one that was recorded, to be given again.
type recordedResponse struct {
	Header http.Header
	Known  http.Header // of the 304 that tells that it is known
	Body   []byte
}

// record is the answer of an address, and what that answers to those who have it.
func (h *harness) record(ctx context.Context, url string) (recordedResponse, error) {
	header, body, err := fetch(ctx, url, nil)
	if err != nil {
		return recordedResponse{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return recordedResponse{}, err
	}
	request.Header.Set("If-None-Match", header.Get("ETag"))
	request.Header.Set("Accept-Encoding", "identity") // which has a tag of its own
	known, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return recordedResponse{}, err
	}
	known.Body.Close()
	if known.StatusCode != http.StatusNotModified {
		return recordedResponse{}, fmt.Errorf("%s with its own tag: %s", url, known.Status)
	}
	for _, one := range []http.Header{header, known.Header} {
		one.Del("Date") // which the server that gives it again says itself
		one.Del("Connection")
	}
	return recordedResponse{header, known.Header, body}, nil
}
