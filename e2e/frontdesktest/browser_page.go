package frontdesktest

import (
	"encoding/json"
	"strings"

	"github.com/chromedp/chromedp"
)

// Registration reads the id of the registration from the address.
func (b *Browser) Registration() string {
	b.t.Helper()
	id, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`new URLSearchParams(location.search).get("registration") ?? ""`))
	if err != nil || id == "" {
		b.t.Fatalf("the address names no registration (%v)", err)
	}
	return id
}

// Address is where the browser is.
func (b *Browser) Address() string {
	b.t.Helper()
	address, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`location.href`))
	if err != nil {
		b.t.Fatal(err)
	}
	return address
}

// Value reads what stands in a field.
func (b *Browser) Value(selector string) string {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.querySelector(`+quote(selector)+`)?.value ?? ""`))
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// Overflow tells by how many pixels the page is wider than the window.
func (b *Browser) Overflow() int {
	b.t.Helper()
	over, err := chromedp.Run(b.ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth - document.documentElement.clientWidth`))
	if err != nil {
		b.t.Fatal(err)
	}
	return over
}

// Fetch sends a request as the page, with its session, and gives the status of the answer.
func (b *Browser) Fetch(method, path string, body any, headers ...[2]string) int {
	b.t.Helper()
	all := map[string]string{"Content-Type": "application/json"}
	for _, header := range headers {
		all[header[0]] = header[1]
	}
	status, err := chromedp.Run(b.ctx, chromedp.Evaluate[int](
		`fetch(`+quote(path)+`, {method: `+quote(method)+`, headers: `+b.encoded(all)+`, body: `+quote(b.encoded(body))+`}).then((answer) => answer.status)`,
		chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return status
}

func (b *Browser) encoded(value any) string {
	b.t.Helper()
	var text strings.Builder
	if err := json.NewEncoder(&text).Encode(value); err != nil {
		b.t.Fatal(err)
	}
	return text.String()
}
