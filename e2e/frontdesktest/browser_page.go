package frontdesktest

import "encoding/json"

// Attribute reads an attribute of the first element of a selector.
func (b *Browser) Attribute(selector, name string) string {
	b.t.Helper()
	return eval[string](b, `document.querySelector(`+quote(selector)+`)?.getAttribute(`+quote(name)+`) ?? ""`)
}

// Count tells how many elements a selector finds.
func (b *Browser) Count(selector string) int {
	b.t.Helper()
	return eval[int](b, `document.querySelectorAll(`+quote(selector)+`).length`)
}

// Text reads the text of the whole page.
func (b *Browser) Text() string {
	b.t.Helper()
	return eval[string](b, `document.body.innerText`)
}

// Value reads what stands in a field.
func (b *Browser) Value(selector string) string {
	b.t.Helper()
	return eval[string](b, `document.querySelector(`+quote(selector)+`)?.value ?? ""`)
}

// URL is where the browser is.
func (b *Browser) URL() string {
	b.t.Helper()
	return eval[string](b, `location.href`)
}

// Registration reads the id of the registration from the address.
func (b *Browser) Registration() string {
	b.t.Helper()
	id := eval[string](b, `new URLSearchParams(location.search).get("registration") ?? ""`)
	if id == "" {
		b.t.Fatalf("%s names no registration", b.URL())
	}
	return id
}

// Overflow tells by how many pixels the page is wider than the window.
func (b *Browser) Overflow() int {
	b.t.Helper()
	return eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`)
}

// layoutShiftObserver notes, in every page, which of its parts jumped by how much without
// the visitor's doing: what https://web.dev/articles/cls adds up, over the page's whole life.
const layoutShiftObserver = `(() => {
	const jumps = window.frontdesktestJumps = [];
	const part = (node) => node?.outerHTML?.slice(0, 80) ?? "a part that is gone";
	new PerformanceObserver((list) => {
		for (const {hadRecentInput, value, sources} of list.getEntries()) {
			if (!hadRecentInput) jumps.push({value, parts: sources.map(({node, previousRect, currentRect}) => part(node) + " by " + (currentRect.y - previousRect.y))});
		}
	}).observe({type: "layout-shift", buffered: true});
})()`

// LayoutShift tells by how much the parts of the page have jumped since it was loaded, in
// thousandths of its size, and which.
func (b *Browser) LayoutShift() (thousandths int, parts string) {
	b.t.Helper()
	thousandths = eval[int](b, `Math.round(1000 * frontdesktestJumps.reduce((sum, {value}) => sum + value, 0))`)
	return thousandths, eval[string](b, `frontdesktestJumps.flatMap(({parts}) => parts).join("\n")`)
}

// Fetch sends a request as the page, with its session, and gives the status of the answer.
func (b *Browser) Fetch(method, path string, body any, headers ...[2]string) int {
	b.t.Helper()
	all := map[string]string{"Content-Type": "application/json"}
	for _, header := range headers {
		all[header[0]] = header[1]
	}
	return eval[int](b, `fetch(`+quote(path)+`, {method: `+quote(method)+`, headers: `+encoded(all)+`, body: `+quote(encoded(body))+`}).then((answer) => answer.status)`)
}

// quote makes a JavaScript string, of which JSON's are a subset.
func quote(s string) string { return encoded(s) }

func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // a mistake of the test itself
	}
	return string(text)
}

// Eval evaluates an expression of the page's own scripts that gives a string, or a promise of one.
func (b *Browser) Eval(expression string) string {
	b.t.Helper()
	return eval[string](b, expression)
}

// TextOf reads the text of the first element of a selector; empty when there is none.
func (b *Browser) TextOf(selector string) string {
	b.t.Helper()
	return eval[string](b, `document.querySelector(`+quote(selector)+`)?.innerText ?? ""`)
}
