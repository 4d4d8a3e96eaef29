package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// figure is the second cell of a row of a table, which the page aligns to the right.
var figure = regexp.MustCompile(`(?m)^\| [^|]+ \| ([\d,]+[^|]*) \|`)

// TestPerformancePage checks that the table of the page, which is written by hand, has the figures of performance.txt.
func TestPerformancePage(t *testing.T) {
	t.Parallel()
	output, err := os.ReadFile("../../docs/explanation/performance.txt")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/explanation/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	figures := figure.FindAllStringSubmatch(string(page), -1)
	if len(figures) < 5 {
		t.Fatalf("the page has the figures %v", figures)
	}
	for _, row := range figures {
		measured := strings.ReplaceAll(row[1], ",", "")
		if !regexp.MustCompile(`\| ` + regexp.QuoteMeta(measured) + `\b`).Match(output) {
			t.Errorf("the output has no row with the figure %s", measured)
		}
	}
}
