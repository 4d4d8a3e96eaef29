package site_test

import (
	"frontdesk/e2e/frontdesktest"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/chromedp/cdproto/emulation"
)

// SetColorScheme makes the visitor prefer dark or light pages.
func (b browser) SetColorScheme(dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	frontdesktest.Command(
		b.Browser, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}},
	)
}

// axe is the script that checks pages against the rules of accessibility.
var axe = sync.OnceValues(func() (string, error) {
	script, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "e2e", "web", "node_modules", "axe-core", "axe.min.js"))
	return string(script), err
})

// violations returns the violations of some rules in a part of the page, after all animations. It does
// not preload, because axe would then build style sheets of its own for rules that are not used here,
// which the site's content security policy forbids. A frame is a page of its own: axe would ask it by messages, which
// frames of other origins do not get.
const violations = `(async (part, rules) => {
	for (const one of document.getAnimations()) if (one.effect.getComputedTiming().endTime !== Infinity) one.finish();
	const found = await axe.run(part, {runOnly: rules, resultTypes: ["violations"], preload: false, iframes: false});
	return found.violations.flatMap(({id, nodes}) => nodes.map((node) => id + ": " + node.target.join(" ") + ": " + node.failureSummary));
})`

// Every rule of WCAG 2.0 to 2.2, A and AA, and of good practice; and the rules about colours, which are
// all that differs in the dark.
const (
	everyRule   = `{type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}`
	colourRules = `{type: "rule", values: ["color-contrast", "link-in-text-block"]}`
)

// auditDark fails the test for colours of the page that are indistinguishable in the dark.
func (b browser) auditDark(name string) {
	b.t.Helper()
	b.SetColorScheme(true)
	b.expectNoViolations(name+" in the dark", "document", colourRules)
	b.SetColorScheme(false)
}

// expectNoViolations fails the test for violations in a part of the page, given as an expression.
func (b browser) expectNoViolations(name, part, rules string) {
	b.t.Helper()
	if !frontdesktest.Eval[bool](b.Browser, `typeof axe === "object"`) {
		script, err := axe()
		if err != nil {
			b.t.Fatalf("these tests need axe-core, which .ci/tools (make tools) installs: %v", err)
		}
		frontdesktest.Eval[bool](b.Browser, script+`; true`)
	}
	for _, violation := range frontdesktest.Eval[[]string](b.Browser, violations+`(`+part+`, `+rules+`)`) {
		b.t.Errorf("%s: %s", name, violation)
	}
}

// viewportWidths are the widths at which every page is checked: a phone's and a desktop's.
var viewportWidths = []int64{390, 1280}

// reflowWidth is the width that WCAG 2.1 asks pages to fit, in CSS pixels (1.4.10, Reflow).
const reflowWidth = 320

// Inspect checks that the page is accessible at all usual widths, and no wider than the smallest phone.
// It saves screenshots as Screenshot does.
func (b browser) Inspect(name string) {
	b.t.Helper()
	for _, width := range viewportWidths {
		at := name + "-" + strconv.FormatInt(width, 10)
		b.Resize(width, int64(b.height))
		b.expectNoViolations(at, "document", everyRule)
		b.Screenshot(at)
	}
	b.auditDark(name) // colours are the same at any width
	b.Resize(reflowWidth, int64(b.height))
	if over := b.Overflow(); over > 0 {
		b.Screenshot(name + "-too-wide")
		b.t.Errorf("%s: at %d pixels the page is %d too wide", name, reflowWidth, over)
	}
	b.Resize(int64(b.width), int64(b.height))
}
