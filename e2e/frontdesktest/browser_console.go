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

// consoleMonitor notes what the pages of a browser must not do.
type consoleMonitor struct {
	mu       sync.Mutex
	findings []string
	expected []string
	allowed  []string // what may come or not
}

// ExpectConsole says that a part of what the console is going to say is meant, such as
// "status of 422" for a refusal that the test provokes. It has to come.
func (b *Browser) ExpectConsole(part string) {
	b.console.mu.Lock()
	defer b.console.mu.Unlock()
	b.console.expected = append(b.console.expected, part)
}

func (w *consoleMonitor) allow(part string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.allowed = append(w.allowed, part)
}

// handle hears what the browser tells of a page. Violations of the content security
// policy and requests that fail come as entries of the browser's own log.
func (w *consoleMonitor) handle(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		w.record("uncaught: " + exceptionText(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			w.record(fmt.Sprintf("console.%s: %s", e.Type, argumentText(e.Args)))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			w.record(fmt.Sprintf("%s %s: %s (%s)", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Host != "" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" {
			w.record("asked " + u.Host)
		}
	}
}

func (w *consoleMonitor) record(trouble string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.findings = append(w.findings, trouble)
}

// report fails the test for every trouble that it did not expect, and for every expectation that was not met.
func (w *consoleMonitor) report(t testing.TB) {
	w.mu.Lock()
	defer w.mu.Unlock()
	met := map[string]bool{}
	for _, trouble := range w.findings {
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

func exceptionText(e *runtime.ExceptionDetails) string {
	if e.Exception != nil {
		return e.Text + " " + e.Exception.Description
	}
	return e.Text
}

// argumentText are the arguments of a line of the console.
func argumentText(arguments []*runtime.RemoteObject) string {
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
