package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/labstack/echo/v4"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

func measureSimulator(h *harness) []row {
	at := h.freeAddress()
	simulator := h.startServer(at, simulatorReady, nil, h.binary, "sim", "--addr", at)
	products := load{url: simulator.URL + "/sim/" + clubsim.DemoClientToken + "/products", process: simulator, header: h.clubHeader(simulator.URL)}
	_, page := h.fetch(products.url, products.header)
	bare := h.reference("echo-encode", h.file("products.json", page))
	sides := h.compare(products, load{url: bare.URL + "/", process: bare})
	r := compared(fmt.Sprintf("Simulator, a page of products, %d bytes", len(page)), sides[0], "bare Echo that encodes the same", sides[1], threshold{atLeast: 0.9})
	r.measured += fmt.Sprintf("; %d MB of memory", h.memory(simulator)>>20)
	return []row{r}
}

func measureMock(h *harness) []row {
	at := h.freeAddress()
	mock := h.startServer(at, frontdesktest.GatewayReady, mockEnvironment(at), h.binary)
	_, page := h.fetch(mock.URL+catalogue, nil)
	bare := h.bareServer(page)
	sides := h.compare(load{url: mock.URL + catalogue, process: mock}, load{url: bare.URL + catalogue, process: bare})
	work := fmt.Sprintf("Catalogue in mock mode with developer tools, warm, %.0f KB", float64(len(page))/1000)
	return []row{compared(work, sides[0], "bare net/http", sides[1], threshold{atLeast: 0.5})}
}

// clubHeader returns the header of business requests to the simulator at an address, with an access token.
func (h *harness) clubHeader(upstreams string) http.Header {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {clubsim.DemoClientID}, "client_secret": {clubsim.DemoClientSecret}}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "X-Gateway-Api-Key": {clubsim.DemoGatewayKey}}
	_, body := h.do(http.MethodPost, upstreams+"/sim/oauth/v2/token", header, form.Encode())
	var granted struct {
		Token string `json:"access_token"`
	}
	h.must(json.Unmarshal(body, &granted))
	return http.Header{
		"X-Gateway-Api-Key": {clubsim.DemoGatewayKey}, "Authorization": {"Bearer " + granted.Token},
		"X-User-Club-Id": {"/demo/clubs/11"}, "X-User-Network-Node-Id": {"/demo/network_nodes/3"},
		"Accept": {"application/ld+json, application/json"},
	}
}

type productPage struct {
	Context string            `json:"@context"`
	ID      string            `json:"@id"`
	Type    string            `json:"@type"`
	Member  []product         `json:"hydra:member"`
	Total   int               `json:"hydra:totalItems"`
	View    map[string]string `json:"hydra:view"`
}

type product struct {
	IRI         string            `json:"@id"`
	Type        string            `json:"@type"`
	ID          int               `json:"id"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Kind        string            `json:"type"`
	Behaviors   []productBehavior `json:"productBehaviors"`
}

type productBehavior struct {
	Type          string `json:"@type"`
	Kind          string `json:"type"`
	Configuration struct {
		ValidityPeriod string `json:"validityPeriod,omitempty"`
		Quantity       int    `json:"quantity,omitempty"`
	} `json:"configuration"`
}

// bareEncoder serves the products of a file at /, and encodes them again for each request.
func bareEncoder(path string) (http.Handler, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var page productPage
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, err
	}
	e := echo.New()
	e.GET("/", func(c echo.Context) error { return c.JSON(http.StatusOK, page) })
	return e, nil
}

const (
	starts    = 15          // of the binary; the median counts
	firstPath = "/v1/clubs" // a read that goes through the gateway to the simulator and back
)

// mockEnvironment starts mock mode at an address, without the operators' listener, whose port may be taken.
func mockEnvironment(at string) []string {
	return []string{"FRONTDESK_ADDR=" + at, "FRONTDESK_OPS_ADDR=off"}
}

// measureStart starts mock mode with nothing configured but the listen address.
func measureStart(h *harness) []row {
	var times series
	for range starts {
		times = append(times, h.firstResponse())
	}
	const most = 50
	return []row{{"Mock mode, from the start of the built binary to the first response of " + firstPath,
		fmt.Sprintf("%.0f ms", times.median()), "50 ms", times.median() / most, threshold{atMost: 1}}}
}

// firstResponse starts the binary, sends requests until it responds, and returns the time in
// milliseconds. It does not wait for a line that the process prints, because callers do not either.
func (h *harness) firstResponse() float64 {
	at := h.freeAddress()
	cmd := h.onAllCores(h.binary)
	cmd.Env = mockEnvironment(at)
	request, err := http.NewRequestWithContext(h.Context(), http.MethodGet, "http://"+at+firstPath, nil)
	h.must(err)
	began := time.Now()
	h.must(cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	for time.Since(began) < 10*time.Second {
		if response, err := client.Do(request); err == nil {
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				h.Fatalf("the first response is %s", response.Status)
			}
			return float64(time.Since(began).Microseconds()) / 1000
		}
		h.sleep(500 * time.Microsecond)
	}
	h.Fatalf("no response at %s within ten seconds", at)
	return 0
}

func measureMemory(h *harness) []row {
	at := h.freeAddress()
	mock := h.start(at, frontdesktest.GatewayReady, mockEnvironment(at), h.binary)
	for range 1000 {
		h.fetch(mock.URL+catalogue, nil)
	}
	held := float64(h.memory(mock))
	const most = 40 << 20
	return []row{{"Mock mode, memory after 1,000 requests", fmt.Sprintf("%.1f MB", held/(1<<20)), "40 MB", held / most, threshold{atMost: 1}}}
}
