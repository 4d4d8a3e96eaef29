package frontdesktest

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
)

// consoleMonitor records what the pages of a browser must not do.
type consoleMonitor struct {
	expected []string
	allowed  []string // need not be found

	mu       sync.Mutex
	findings []string
}

// ExpectConsole requires a finding with a text, such as "status of 422" for a refusal that the test provokes.
func (b *Browser) ExpectConsole(part string) { b.console.expected = append(b.console.expected, part) }

// AllowConsole permits findings with a text.
func (b *Browser) AllowConsole(part string) { b.console.allowed = append(b.console.allowed, part) }

// handle records the browser's events. Violations of the content security policy and failed requests
// are entries of the browser's own log.
func (c *consoleMonitor) handle(event any) {
	switch event := event.(type) {
	case *runtime.EventExceptionThrown:
		text := "uncaught: " + event.ExceptionDetails.Text
		if event.ExceptionDetails.Exception != nil {
			text += " " + event.ExceptionDetails.Exception.Description
		}
		c.record(text)
	case *runtime.EventConsoleAPICalled:
		if event.Type == runtime.ConsoleAPICalledTypeError || event.Type == runtime.ConsoleAPICalledTypeWarning ||
			event.Type == runtime.ConsoleAPICalledTypeAssert {
			c.record(fmt.Sprintf("console.%s: %s", event.Type, argumentText(event.Args)))
		}
	case *log.EventEntryAdded:
		if event.Entry.Level == log.EntryLevelError || event.Entry.Level == log.EntryLevelWarning {
			c.record(fmt.Sprintf("%s %s: %s (%s)", event.Entry.Source, event.Entry.Level, event.Entry.Text, event.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(event.Request.URL); err == nil && u.Host != "" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" {
			c.record("asked " + u.Host)
		}
	}
}

func (c *consoleMonitor) record(finding string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.findings = append(c.findings, finding)
}

// report fails the test for every unexpected finding and every expectation that was not met.
func (c *consoleMonitor) report(t TB) {
	c.mu.Lock()
	defer c.mu.Unlock()
	met := map[string]bool{}
	for _, finding := range c.findings {
		within := func(part string) bool { return strings.Contains(finding, part) }
		if at := slices.IndexFunc(c.expected, within); at >= 0 {
			met[c.expected[at]] = true
		} else if !slices.ContainsFunc(c.allowed, within) {
			t.Errorf("the page: %s", finding)
		}
	}
	for _, part := range c.expected {
		if !met[part] && !t.Failed() {
			t.Errorf("the page never came to %q", part)
		}
	}
}

func argumentText(arguments []*runtime.RemoteObject) string {
	var line []string
	for _, argument := range arguments {
		line = append(line, cmp.Or(argument.Description, string(argument.Value)))
	}
	return strings.Join(line, " ")
}
