package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// longDescription is what a club says of a product on its website. The simulator says a sentence,
// with which a page of 30 products has 12 KB; with this it has those 30 KB that pages have.
const longDescription = " Train when it suits you: the club is open every day of the year, and there is always somebody on the floor whom you can ask. " +
	"In the price: a first appointment with a trainer who sets up your plan, every class of the timetable that is not marked as a workshop, the sauna, " +
	"showers with everything that you have forgotten, a locker for the time of your visit, and water from the dispensers. Bring a towel and clean shoes. " +
	"Your badge opens the door from the first day on; under 18, one of your parents signs at the desk. What is not used up cannot be paid back, and may be given to somebody of your household."

// verboseProxy stands before the simulator, and adds to what that says of its products.
type verboseProxy struct{ server *http.Server }

// Kill ends it.
func (o verboseProxy) Kill() { o.server.Close() }

// verboseUpstreams runs an outside world whose products are described at length, until the
// measurement ends, and gives its address.
func (h *harness) verboseUpstreams() (string, error) {
	plain, err := h.upstreams()
	if err != nil {
		return "", err
	}
	to, err := url.Parse(plain)
	if err != nil {
		return "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, ModifyResponse: describe}
	server := &http.Server{Handler: proxy, ReadHeaderTimeout: time.Minute}
	go server.Serve(listener) //nolint:errcheck // it ends with Kill
	h.started = append(h.started, verboseProxy{server})
	return "http://" + listener.Addr().String(), nil
}

// describe adds to each product of a page; other answers stay as they are.
func describe(answer *http.Response) error {
	if !strings.HasSuffix(answer.Request.URL.Path, "/products") || answer.StatusCode != http.StatusOK {
		return nil
	}
	var page map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&page); err != nil {
		return err
	}
	products, _ := page["hydra:member"].([]any)
	for _, one := range products {
		if product, ok := one.(map[string]any); ok {
			said, _ := product["description"].(string)
			product["description"] = said + longDescription
		}
	}
	body, err := json.Marshal(page)
	answer.Body = io.NopCloser(bytes.NewReader(body))
	answer.ContentLength = int64(len(body))
	answer.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return err
}
