package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"frontdesk/e2e/frontdesktest"
)

const catalogue = "/v1/clubs/11/products" // the page of products that visitors see first

const callers = 1 << 14 // large enough that no caller reaches a rate limit during a measurement

// measureWarm requests a catalogue that is in the cache. All servers receive the same requests.
func measureWarm(h *harness) []row {
	// A public https address, as in live mode, adds a header.
	g := h.gateway(h.verboseUpstreams(), frontdesktest.NewDurableRedis(h), "FRONTDESK_PUBLIC_URL=https://signup.example")
	page := h.record(g.URL + catalogue)
	var of struct{ Items []struct{} }
	h.must(json.Unmarshal(page.Body, &of))
	size := fmt.Sprintf(", %d products, %.0f KB", len(of.Items), float64(len(page.Body))/1000)

	whole := func(p *frontdesktest.Process) load {
		return load{url: p.URL + catalogue, process: p, addresses: callers}
	}
	unchanged := func(l load) load {
		l.header, l.status = http.Header{"If-None-Match": {page.Header.Get("ETag")}}, http.StatusNotModified
		return l
	}
	gateway, bare, replay := whole(g), whole(h.bareServer(page.Body)), whole(h.replay(page))
	loads := []load{gateway, bare, replay, unchanged(gateway), unchanged(bare), unchanged(replay)}
	if p := h.nginx(g.URL); p != nil {
		loads = append(loads, whole(p))
	}
	sides := h.compare(loads...)
	const netHTTP, sameHeaders = "bare net/http", "bare net/http with the same headers"
	rows := []row{
		compared("Catalogue, warm"+size, sides[0], netHTTP, sides[1], threshold{atLeast: 0.6}),
		compared("Catalogue, warm"+size, sides[0], sameHeaders, sides[2], threshold{atLeast: 0.85}),
		compared("Bare net/http with the same headers"+size, sides[2], netHTTP, sides[1], threshold{}),
		{work: "nginx that caches the gateway's response" + size, measured: "nginx is not installed"},
		compared("Catalogue, warm, with If-None-Match", sides[3], "bare net/http, a 304", sides[4], threshold{atLeast: 0.9}),
		compared("Catalogue, warm, with If-None-Match", sides[3], sameHeaders+", a 304", sides[5], threshold{}),
	}
	rows[0].measured += fmt.Sprintf("; %d MB of memory", h.memory(g)>>20)
	if len(sides) > 6 {
		rows[3] = compared(rows[3].work, sides[6], netHTTP, sides[1], threshold{})
	}
	return rows
}

// recordedResponse is a response for a server that replays it.
type recordedResponse struct {
	Header      http.Header
	NotModified http.Header // of the 304 to a caller that sends its ETag
	Body        []byte
}

// replay runs a server that writes a recorded response.
func (h *harness) replay(recorded recordedResponse) *frontdesktest.Process {
	text, err := json.Marshal(recorded)
	h.must(err)
	return h.reference("replay", h.file("recording.json", text))
}

// bareServer runs a server that writes JSON with no other headers than that takes.
func (h *harness) bareServer(body []byte) *frontdesktest.Process {
	header := http.Header{"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(body))}}
	return h.replay(recordedResponse{Header: header, Body: body})
}

// record records the response of an address, and its 304.
func (h *harness) record(url string) recordedResponse {
	header, body := h.fetch(url, nil)
	unchanged, again := h.fetch(url, http.Header{"If-None-Match": {header.Get("ETag")}})
	if len(again) > 0 {
		h.Fatalf("%s is sent again to a caller that has its ETag", url)
	}
	for _, one := range []http.Header{header, unchanged} {
		one.Del("Date") // the replaying server sends its own
		one.Del("Connection")
	}
	return recordedResponse{header, unchanged, body}
}

// longDescription is as long as a real club's product description. The simulator writes one sentence,
// which makes a page of 30 products 12 KB; real pages have 30 KB.
const longDescription = " Train when it suits you: the club is open every day of the year, and a coach is always on the floor to answer your questions. " +
	"In the price: a first appointment with a trainer who sets up your plan, every class of the timetable that is not marked as a workshop, the sauna, " +
	"showers with everything that you have forgotten, a locker for the time of your visit, and water from the dispensers. Bring a towel and clean shoes. " +
	"Your badge opens the door from the first day on; under 18, one of your parents signs at the desk. Unused visits cannot be paid back, but a member of your household may use them."

// verboseUpstreams runs upstreams whose products have long descriptions, and returns their address.
func (h *harness) verboseUpstreams() string {
	to, err := url.Parse(h.upstreams().URL)
	h.must(err)
	server := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, ModifyResponse: lengthen})
	h.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

// lengthen adds to each product of a page. Other responses stay as they are.
func lengthen(response *http.Response) error {
	if !strings.HasSuffix(response.Request.URL.Path, "/products") || response.StatusCode != http.StatusOK {
		return nil
	}
	var page map[string]any
	if err := json.NewDecoder(response.Body).Decode(&page); err != nil {
		return err
	}
	products, _ := page["hydra:member"].([]any)
	for _, one := range products {
		if product, ok := one.(map[string]any); ok {
			product["description"] = fmt.Sprint(product["description"], longDescription)
		}
	}
	body, err := json.Marshal(page)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return err
}

// nginxConfig makes nginx cache responses as their Cache-Control says.
//
//go:embed nginx.conf.tmpl
var nginxConfig string

// nginx runs nginx as a caching proxy on the server's core; nil where it is not installed.
func (h *harness) nginx(upstream string) *frontdesktest.Process {
	path, err := exec.LookPath("nginx")
	if err != nil {
		return nil
	}
	at, dir := h.freeAddress(), h.dir+"/nginx"
	h.must(os.MkdirAll(dir, 0o700))
	config := strings.NewReplacer("{{dir}}", dir, "{{address}}", at, "{{upstream}}", upstream).Replace(nginxConfig)
	return h.startServer(at, "getrlimit", nil, path, "-p", dir, "-c", h.file("nginx/nginx.conf", []byte(config)))
}
