package site_test

import (
	"strconv"

	"frontdesk/e2e/frontdesktest"

	"github.com/chromedp/chromedp"
)

// panel is the developer panel of a page. It is a shadow tree, which the page's selectors do not reach.
type panel struct{ b browser }

// PressKey presses the key that opens and closes the panel.
func (p panel) PressKey() {
	p.b.t.Helper()
	p.b.Do(chromedp.KeyEvent("`"))
}

// WaitVisible waits until the first element of a selector in the panel is visible.
func (p panel) WaitVisible(selector string) {
	p.b.t.Helper()
	p.b.Await(selector+" is to be seen in the panel", p.first(selector)+`?.checkVisibility() ?? false`)
}

// WaitHidden waits until no element of a selector in the panel is visible.
func (p panel) WaitHidden(selector string) {
	p.b.t.Helper()
	p.b.Await(selector+" is gone from the panel", `!(`+p.first(selector)+`?.checkVisibility() ?? false)`)
}

// Click waits for an element in the panel, and clicks it.
func (p panel) Click(selector string) {
	p.b.t.Helper()
	p.WaitVisible(selector)
	p.b.Await(
		selector+" in the panel takes a click",
		`(() => { const e = `+p.first(selector)+`; if (!e) return false; e.click(); return true })()`,
	)
}

// Fill types into a field of the panel.
func (p panel) Fill(selector, value string) {
	p.b.t.Helper()
	p.WaitVisible(selector)
	frontdesktest.Eval[bool](
		p.b.Browser,
		`(() => { const f = `+p.first(selector)+`; f.focus(); f.value = `+frontdesktest.Quote(value)+`; return true })()`,
	)
}

// Choose chooses an option of a list in the panel.
func (p panel) Choose(selector, option string) {
	p.b.t.Helper()
	p.WaitVisible(selector)
	p.b.Await(option+" is chosen", `(() => { const s = `+p.first(selector)+`; s.value = `+frontdesktest.Quote(option)+
		`; s.scrollIntoView(); s.dispatchEvent(new Event("change")); return s.value === `+frontdesktest.Quote(option)+` })()`)
}

// OpenTab opens a tab of the panel, and waits until it shows what it has read.
func (p panel) OpenTab(name string) {
	p.b.t.Helper()
	p.Click(`[data-tab="` + name + `"]`)
	p.WaitVisible(`[data-pane="` + name + `"]`)
}

// Count returns how many elements a selector finds in the panel.
func (p panel) Count(selector string) int {
	p.b.t.Helper()
	return frontdesktest.Eval[int](
		p.b.Browser,
		`document.querySelector("frontdesk-panel")?.shadowRoot.querySelectorAll(`+frontdesktest.Quote(selector)+`).length ?? 0`,
	)
}

// Text reads the text of the panel.
func (p panel) Text() string {
	p.b.t.Helper()
	return frontdesktest.Eval[string](p.b.Browser, p.first("aside")+`?.innerText ?? ""`)
}

// AwaitLoadedAt waits for a page that was loaded at an address with this text. The text may include the
// fragment, which the page may have removed since.
func (p panel) AwaitLoadedAt(text string) {
	p.b.t.Helper()
	p.b.Await("a page loaded at "+text, `performance.getEntriesByType("navigation")[0].name.includes(`+strconv.Quote(text)+`)`)
}

// Audit fails the test for every accessibility error in the panel.
func (p panel) Audit(name string) {
	p.b.t.Helper()
	p.b.expectNoViolations(name, `"frontdesk-panel"`, everyRule)
}

func (p panel) first(selector string) string {
	return `document.querySelector("frontdesk-panel")?.shadowRoot.querySelector(` + frontdesktest.Quote(selector) + `)`
}
