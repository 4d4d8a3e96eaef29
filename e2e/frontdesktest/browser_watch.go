package frontdesktest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
)

// watch notes what the pages of a browser must not do.
type watch struct {
	mu       sync.Mutex
	troubles []string
	expected []string
	allowed  []string // what may come or not
}

// Expect says that a part of what the console is going to say is meant, such as
// "status of 422" for a refusal that the test provokes. It has to come.
func (b *Browser) Expect(part string) {
	b.watch.mu.Lock()
	defer b.watch.mu.Unlock()
	b.watch.expected = append(b.watch.expected, part)
}

func (w *watch) allow(part string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.allowed = append(w.allowed, part)
}

// see hears what the browser tells of a page. Violations of the content security
// policy and requests that fail come as entries of the browser's own log.
func (w *watch) see(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		w.note("uncaught: " + thrown(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			w.note(fmt.Sprintf("console.%s: %s", e.Type, words(e.Args)))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			w.note(fmt.Sprintf("%s %s: %s (%s)", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Host != "" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" {
			w.note("asked " + u.Host)
		}
	}
}

func (w *watch) note(trouble string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.troubles = append(w.troubles, trouble)
}

// report fails the test for every trouble that it did not expect, and for every expectation that was not met.
func (w *watch) report(t testing.TB) {
	w.mu.Lock()
	defer w.mu.Unlock()
	met := map[string]bool{}
	for _, trouble := range w.troubles {
		within := func(part string) bool { return strings.Contains(trouble, part) }
		at := slices.IndexFunc(w.expected, within)
		if at < 0 && slices.ContainsFunc(w.allowed, within) {
			continue
		}
		if at < 0 {
			t.Errorf("the page: %s", trouble)
			continue
		}
		met[w.expected[at]] = true
	}
	for _, part := range w.expected {
		if !met[part] && !t.Failed() {
			t.Errorf("the page never came to %q", part)
		}
	}
}

func thrown(e *runtime.ExceptionDetails) string {
	if e.Exception != nil {
		return e.Text + " " + e.Exception.Description
	}
	return e.Text
}

// words are the arguments of a line of the console.
func words(arguments []*runtime.RemoteObject) string {
	var line []string
	for _, argument := range arguments {
		if argument.Description != "" {
			line = append(line, argument.Description)
		} else {
			line = append(line, string(argument.Value))
		}
	}
	return strings.Join(line, " ")
}
