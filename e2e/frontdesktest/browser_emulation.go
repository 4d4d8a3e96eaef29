package frontdesktest

import (
	"context"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// defaultLanguage is what a visitor's browser asks for unless it is said.
const defaultLanguage = "en-GB"

// SetLanguage makes the browser one of somebody who reads a language, such as "fr-FR":
// pages that are opened from now on see it in its requests, in navigator and in
// how numbers and dates are written.
func (b *Browser) SetLanguage(language string) *Browser {
	b.t.Helper()
	b.language = language
	command(b, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: eval[string](b, `navigator.userAgent`), AcceptLanguage: language})
	return b
}

// Resize gives the window another size: that of a phone, where it is as narrow.
func (b *Browser) Resize(width, height int64) {
	b.t.Helper()
	viewport := []chromedp.EmulateViewportOption{chromedp.EmulateLandscape}
	if width <= phoneWidth {
		viewport = []chromedp.EmulateViewportOption{chromedp.EmulatePortrait, chromedp.EmulateMobile, chromedp.EmulateTouch}
	}
	b.do(chromedp.EmulateViewport(width, height, viewport...))
}

// SetColorScheme makes the visitor one who prefers dark pages, or light ones.
func (b *Browser) SetColorScheme(dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// WithoutScript switches JavaScript off for pages that are opened from now on.
func (b *Browser) WithoutScript() *Browser {
	b.t.Helper()
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	return b
}

// SlowNetwork makes the network of a train: every answer takes 300 ms, and 100 kB take a second.
func (b *Browser) SlowNetwork() {
	b.t.Helper()
	const latency, throughput = 300, 100_000
	b.emulateNetwork(network.Conditions{Latency: latency, DownloadThroughput: throughput, UploadThroughput: throughput})
}

// Offline takes the network away. What the page asks for meanwhile fails.
func (b *Browser) Offline() {
	b.t.Helper()
	b.console.allow("ERR_INTERNET_DISCONNECTED")
	b.emulateNetwork(network.Conditions{Offline: true, DownloadThroughput: -1, UploadThroughput: -1})
}

// Online brings the network back.
func (b *Browser) Online() {
	b.t.Helper()
	b.emulateNetwork(network.Conditions{DownloadThroughput: -1, UploadThroughput: -1})
}

// Sleep is the laptop being closed: the network is gone, and the page stands still.
func (b *Browser) Sleep() {
	b.t.Helper()
	b.Offline()
	command(b, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: page.SetWebLifecycleStateStateFrozen})
}

// Wake opens the laptop again: the page goes on, and then the network is back.
func (b *Browser) Wake() {
	b.t.Helper()
	command(b, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: page.SetWebLifecycleStateStateActive})
	b.Online()
}

// emulateNetwork sets what requests meet with, and what the page is told of it.
func (b *Browser) emulateNetwork(conditions network.Conditions) {
	b.t.Helper()
	command(b, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{&conditions}})
	command(b, network.OverrideNetworkState, network.OverrideNetworkStateParams{
		Offline: conditions.Offline, Latency: conditions.Latency,
		DownloadThroughput: conditions.DownloadThroughput, UploadThroughput: conditions.UploadThroughput,
	})
}

// Interception holds requests of a page up, or their answers.
type Interception struct {
	b    *Browser
	stop context.CancelFunc

	mu     sync.Mutex
	paused []fetch.RequestID
}

// HoldRequests holds what the page asks for before it leaves, until it is released.
// A pattern may have asterisks, such as "*/v1/*".
func (b *Browser) HoldRequests(pattern string) *Interception {
	return b.hold(pattern, fetch.RequestStageRequest)
}

// HoldResponses holds what the page is answered after the effect was done, until it is released or lost.
func (b *Browser) HoldResponses(pattern string) *Interception {
	return b.hold(pattern, fetch.RequestStageResponse)
}

func (b *Browser) hold(pattern string, stage fetch.RequestStage) *Interception {
	b.t.Helper()
	ctx, stop := context.WithCancel(b.ctx)
	i := &Interception{b: b, stop: stop}
	err := chromedp.Listen(ctx, func(event any) {
		if e, ok := event.(*fetch.EventRequestPaused); ok {
			i.mu.Lock()
			defer i.mu.Unlock()
			i.paused = append(i.paused, e.RequestID)
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	command(b, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: pattern, RequestStage: stage}}})
	return i
}

// Await waits until something is held.
func (i *Interception) Await() {
	i.b.t.Helper()
	Eventually(i.b.t, "something is held", func() bool { return len(i.held()) > 0 })
}

func (i *Interception) held() []fetch.RequestID {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.paused
}

// Release lets everything go on.
func (i *Interception) Release() {
	i.b.t.Helper()
	i.stop()
	command(i.b, fetch.Disable, cdp.Empty{})
}

// Drop breaks the connections of what is held, and lets everything else go on.
func (i *Interception) Drop() {
	i.b.t.Helper()
	i.Await()
	for _, id := range i.held() {
		command(i.b, fetch.FailRequest, fetch.FailRequestParams{RequestID: id, ErrorReason: network.ErrorReasonConnectionReset})
	}
	i.Release()
}
