package frontdesktest

import (
	"github.com/chromedp/chromedp"
)

// Panel is the developer's panel beside the page of a browser. It stands in a
// shadow tree, which the selectors of the page do not reach into.
type Panel struct{ b *Browser }

// Panel gives the panel of the page.
func (b *Browser) Panel() Panel { return Panel{b} }

// PressKey presses the key that opens and closes the panel.
func (p Panel) PressKey() {
	p.b.t.Helper()
	p.b.do(chromedp.KeyEvent("`"))
}

// WaitVisible waits until the first element of a selector in the panel is visible.
func (p Panel) WaitVisible(selector string) {
	p.b.t.Helper()
	p.b.await(selector+" is to be seen in the panel", p.first(selector)+`?.checkVisibility() ?? false`)
}

// WaitHidden waits until no element of a selector in the panel is visible.
func (p Panel) WaitHidden(selector string) {
	p.b.t.Helper()
	p.b.await(selector+" is gone from the panel", `!(`+p.first(selector)+`?.checkVisibility() ?? false)`)
}

// Click waits for an element in the panel, and clicks it.
func (p Panel) Click(selector string) {
	p.b.t.Helper()
	p.WaitVisible(selector)
	p.b.await(selector+" in the panel takes a click", `(() => { const e = `+p.first(selector)+`; if (!e) return false; e.click(); return true })()`)
}

// Fill types into a field of the panel.
func (p Panel) Fill(selector, value string) {
	p.b.t.Helper()
	p.WaitVisible(selector)
	eval[bool](p.b, `(() => { const f = `+p.first(selector)+`; f.focus(); f.value = `+quote(value)+`; return true })()`)
}

// OpenTab opens a tab of the panel, and waits until it shows what it has read.
func (p Panel) OpenTab(name string) {
	p.b.t.Helper()
	p.Click(`[data-tab="` + name + `"]`)
	p.WaitVisible(`[data-pane="` + name + `"]`)
}

// Count tells how many elements a selector finds in the panel.
func (p Panel) Count(selector string) int {
	p.b.t.Helper()
	return eval[int](p.b, `document.querySelector("frontdesk-panel")?.shadowRoot.querySelectorAll(`+quote(selector)+`).length ?? 0`)
}

// Attribute reads an attribute of the first element of a selector in the panel.
func (p Panel) Attribute(selector, name string) string {
	p.b.t.Helper()
	return eval[string](p.b, p.first(selector)+`?.getAttribute(`+quote(name)+`) ?? ""`)
}

// Text reads the text of the panel.
func (p Panel) Text() string {
	p.b.t.Helper()
	return eval[string](p.b, p.first("aside")+`?.innerText ?? ""`)
}

// LoadedURL is the address at which the page was loaded, with the fragment that
// the page may have taken out of it since.
func (p Panel) LoadedURL() string {
	p.b.t.Helper()
	return eval[string](p.b, `performance.getEntriesByType("navigation")[0].name`)
}

// Audit fails the test for everything in the panel that keeps people with a
// disability from using it.
func (p Panel) Audit(name string) {
	p.b.t.Helper()
	p.b.expectNoViolations(name, `"frontdesk-panel"`, everyRule)
}

func (p Panel) first(selector string) string {
	return `document.querySelector("frontdesk-panel")?.shadowRoot.querySelector(` + quote(selector) + `)`
}
