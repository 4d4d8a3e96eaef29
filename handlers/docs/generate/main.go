// Generate makes the pages below /docs that are written as Markdown: run `go generate
// ./handlers/docs` after one of the texts or the contract's table of problems has changed. The
// library for Markdown would be a fiftieth of the binary, so that it is not part of it.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "generate: it takes two arguments: the root of the project, and the folder of the pages")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "generate: "+err.Error())
		os.Exit(1)
	}
}

// write makes all pages.
func write(root, into string) error {
	for page, text := range map[string]func(root string) ([]byte, error){
		"problems.html": problems,
		"web.html":      func(root string) ([]byte, error) { return markdown(filepath.Join(root, "docs", "web.md"), nil) },
		"apps.html":     func(root string) ([]byte, error) { return markdown(filepath.Join(root, "docs", "apps.md"), nil) },
	} {
		body, err := text(root)
		if err == nil {
			err = os.WriteFile(filepath.Join(into, page), body, 0o644) // #nosec G306 G703 -- source code, for everybody to read, where its caller says
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// codeRow is the beginning of a code's row, up to its status.
var codeRow = regexp.MustCompile(`<tr>\s*<td><code>([a-z_]+)</code></td>(\s*<td>\d)`)

// problems is the page of all problems. Its table is the contract's own, so that there
// is no second one. Each row has its code as its anchor.
func problems(root string) ([]byte, error) {
	document, err := openapi3.NewLoader().LoadFromFile(filepath.Join(root, "openapi.yaml"))
	if err != nil {
		return nil, err
	}
	table := document.Components.Schemas["ProblemCode"].Value.Description
	body, err := markdown(filepath.Join(root, "handlers", "docs", "problems.md"), []byte(table))
	return codeRow.ReplaceAll(body, []byte(`<tr id="$1"><td><a href="#$1"><code>$1</code></a></td>$2`)), err
}

// markdown makes HTML of a file and what follows it.
func markdown(path string, more []byte) ([]byte, error) {
	text, err := os.ReadFile(path) // #nosec G304 G703 -- of this project
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	err = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID())).Convert(append(text, more...), &body)
	return body.Bytes(), err
}
