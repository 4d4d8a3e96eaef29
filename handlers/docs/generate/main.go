// Generate makes the pages below /docs that are written as Markdown: run `go generate
// ./handlers/docs` after one of the texts or the contract's table of problems has changed. The
// library for Markdown would be a fiftieth of the binary, so it is not linked in.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "generate: two arguments are required: the root of the project, and the folder of the pages")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "generate: "+err.Error())
		os.Exit(1)
	}
}

// guides are the pages of docs/ that the gateway serves: what developers of front ends read. The
// other pages are for operators and contributors, who have the repository.
var guides = []string{
	"README.md",
	"tutorials/first-signup.md",
	"tutorials/direct-debit.md",
	"tutorials/card-payment.md",
	"how-to/build-a-website.md",
	"how-to/build-an-app.md",
	"how-to/sign-up-known-contacts.md",
	"how-to/run-parallel-tests.md",
	"how-to/inject-faults.md",
	"how-to/let-an-agent-drive-the-mock.md",
	"how-to/your-own-catalogue.md",
	"how-to/play-your-installation.md",
	"reference/problems.md",
	"reference/provoke.md",
	"reference/limits.md",
	"reference/simulator.md",
	"reference/assumptions.md",
	"reference/accessibility.md",
	"explanation/exactly-once.md",
	"explanation/schedules.md",
	"explanation/contract.md",
}

func write(root, into string) error {
	body, err := problems(root)
	if err != nil {
		return err
	}
	if err := save(filepath.Join(into, "problems.html"), body); err != nil {
		return err
	}
	contract, err := os.ReadFile(filepath.Join(root, "openapi.yaml")) // #nosec G304 G703 -- of this project
	if err != nil {
		return err
	}
	if err := save(filepath.Join(root, "openapi.yaml"), contract); err != nil { // for main.go
		return err
	}
	types, err := os.ReadFile(filepath.Join(root, "client", "openapi.d.ts")) // #nosec G304 G703 -- of this project
	if err != nil {
		return err
	}
	if err := save(filepath.Join(into, "frontdesk.d.ts"), types); err != nil {
		return err
	}
	for _, guide := range guides {
		body, err := markdown(filepath.Join(root, "docs", guide), nil)
		if err != nil {
			return err
		}
		if err := save(filepath.Join(into, "pages", strings.TrimSuffix(guide, ".md")+".html"), resolveLinks(guide, body)); err != nil {
			return err
		}
	}
	return nil
}

// save compresses a file, and writes it below a folder that may be missing.
func save(file string, body []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { // #nosec G301 G703 -- source code, where its caller says
		return err
	}
	var packed bytes.Buffer
	packer, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid, and a buffer accepts everything
	_, _ = packer.Write(body)
	_ = packer.Close()
	return os.WriteFile(file+".gz", packed.Bytes(), 0o644) // #nosec G306 G703 -- source code, where its caller says
}

// link is a link of a page to another file of the project.
var link = regexp.MustCompile(`<a href="([^"#:]+)(#[^"]*)?">(.*?)</a>`)

// unlinkedRow is a row of the index whose page the gateway does not serve.
var unlinkedRow = regexp.MustCompile(`(?s)<tr>\n<td>[^<]*</td>\n<td>.*?</td>\n</tr>\n`)

// resolveLinks makes links absolute, because the index has two addresses. Of a link to a file that
// the gateway does not serve only the text is left, and of its row in the index nothing.
func resolveLinks(guide string, body []byte) []byte {
	body = link.ReplaceAllFunc(body, func(whole []byte) []byte {
		found := link.FindSubmatch(whole)
		if path.IsAbs(string(found[1])) {
			return whole
		}
		target := path.Join("/docs", path.Dir(guide), string(found[1]))
		below := strings.TrimPrefix(target, "/docs/")
		switch {
		case target == "/openapi.yaml":
			target = "/docs/api"
		case target == "/asyncapi.yaml":
		case !slices.Contains(guides, below) && !strings.HasPrefix(below, "examples/"):
			return found[3]
		}
		return fmt.Appendf(nil, `<a href="%s%s">%s</a>`, target, found[2], found[3])
	})
	if guide == "README.md" {
		body = unlinkedRow.ReplaceAll(body, nil)
	}
	return body
}

// codeRow is the beginning of a code's row, up to its status.
var codeRow = regexp.MustCompile(`<tr>\s*<td><code>([a-z_]+)</code></td>(\s*<td>\d)`)

// problems is the page of all problems. Its table is the contract's own, so that there
// is not a second one. Each row has its code as its anchor.
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
func markdown(file string, more []byte) ([]byte, error) {
	text, err := os.ReadFile(file) // #nosec G304 G703 -- of this project
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	err = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID())).
		Convert(append(text, more...), &body)
	return body.Bytes(), err
}
