package frontdesktest

import (
	"context"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
)

// chromiumNames are Chromium's names on the supported systems.
var chromiumNames = []string{"chromium", "chromium-browser", "google-chrome"}

// chromium is the one process of all browsers of a package's tests: each has its own profile in it.
var chromium = shared(startChromium)

// Chromium returns the path of the browser, for tests that run it in their own way.
func Chromium(t testing.TB) string {
	t.Helper()
	for _, name := range chromiumNames {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("these tests need chromium: apt-get install chromium, or the like")
	return ""
}

func startChromium(t testing.TB) context.Context {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(Chromium(t)), chromedp.WSURLReadTimeout(Patience),
		chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("lang", defaultLanguage))
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		stop()
		stopAllocator()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s does not start: %v", Chromium(t), err)
	}
	return ctx
}
