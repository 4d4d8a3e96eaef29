package site_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// textPaths prints the codes of the catalogues: of the site in each language, and of the sandbox's pages.
const textPaths = `
	import { readFileSync } from "node:fs";
	const root = process.argv[1];
	const paths = (part, at) => typeof part === "object" && !Array.isArray(part)
		? Object.entries(part).flatMap(([code, inner]) => paths(inner, [...at, code])) : [at.join(".")];
	const site = await Promise.all(["en", "fr"].map((language) => import(root + "/web-example/text." + language + ".js")));
	const sandbox = new Function(readFileSync(root + "/upstream/cards/sandbox/web/texts.js", "utf8") + "; return words")();
	console.log(JSON.stringify([site.map((texts) => paths(texts.default, [])), Object.values(sandbox).map((texts) => paths(texts, []))]));`

// TestTextsOfPages checks that the site and the sandbox have the same texts in each language, and that each is used: a page's
// code has its last name, or the contract or an upstream system sends it as a code.
func TestTextsOfPages(t *testing.T) {
	t.Parallel()
	root := frontdesktest.Root()
	out, err := exec.CommandContext(t.Context(), "node", "--input-type=module", "--eval", textPaths, root).Output()
	if err != nil {
		t.Fatal(err)
	}
	var catalogues [][][]string
	if err := json.Unmarshal(out, &catalogues); err != nil {
		t.Fatal(err)
	}
	stripes := "incorrect_cvc authentication_required" // the codes of Stripe that the sandbox does not send
	site := words(t, stripes, "openapi.yaml", "web-example/*.html", "web-example/*.js", "web-example/views/*.js", "client/*.js",
		"upstream/clubsim/*.go", "upstream/cards/sandbox/*.go")
	sandbox := words(t, "", "upstream/cards/sandbox/*.go", "upstream/cards/sandbox/web/*.html", "upstream/cards/sandbox/web/*.js")
	for i, used := range []map[string]bool{site, sandbox} {
		english := catalogues[i][0]
		if len(english) < 30 {
			t.Errorf("there are only %d texts", len(english))
		}
		for _, other := range catalogues[i] {
			if !slices.Equal(slices.Sorted(slices.Values(other)), slices.Sorted(slices.Values(english))) {
				t.Errorf("the texts are %q in one language, and %q in another", english, other)
			}
		}
		for _, path := range english {
			path = strings.TrimSuffix(path, ".") // the text of an empty choice belongs to its question
			if !used[path[strings.LastIndex(path, ".")+1:]] {
				t.Errorf("nothing uses %s", path)
			}
		}
	}
}

var (
	word      = regexp.MustCompile(`\w+`)
	catalogue = regexp.MustCompile(`text\.[a-z]+\.js$|texts\.js$`)
)

// words returns the words of some files, except the catalogues, and those of more.
func words(t *testing.T, more string, patterns ...string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	add := func(text string) {
		for _, part := range word.FindAllString(text, -1) {
			found[part] = true
		}
	}
	add(more)
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(frontdesktest.Root(), pattern))
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !catalogue.MatchString(file) {
				add(string(text))
			}
		}
	}
	return found
}
