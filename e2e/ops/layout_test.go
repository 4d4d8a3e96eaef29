package ops_test

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// layers lists the packages from the edge inwards: a package may import those
// after it and its own parents, never one before it.
var layers = []string{"frontdesk/cmd", "frontdesk/handlers", "frontdesk/flows", "frontdesk/upstream"}

// TestImportsPointOneWay holds the direction main → cmd → handlers → flows → upstream.
func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = frontdesktest.Root()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := packages.Decode(&p); err == io.EOF { //nolint:errorlint // the decoder documents io.EOF itself
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		if strings.HasPrefix(p.ImportPath, "frontdesk/e2e") {
			continue
		}
		if p.ImportPath == "frontdesk" {
			for _, imported := range p.Imports {
				if strings.HasPrefix(imported, "frontdesk/") && imported != "frontdesk/cmd" {
					t.Errorf("main imports %s; it only embeds files and runs cmd", imported)
				}
			}
			continue
		}
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, p.ImportPath+"/") {
				t.Errorf("%s imports its child %s", p.ImportPath, imported)
			}
			if layer(imported) < layer(p.ImportPath) {
				t.Errorf("%s imports %s, which stands before it", p.ImportPath, imported)
			}
			if imported == "frontdesk/api" && p.ImportPath != "frontdesk/handlers" {
				t.Errorf("%s imports the wire contract, which is the edge's alone", p.ImportPath)
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d packages were seen", seen)
	}
}

// layer gives a package's place; packages of other projects stand behind all.
func layer(path string) int {
	for i, prefix := range layers {
		if path == prefix || strings.HasPrefix(path, prefix+"/") {
			return i
		}
	}
	return len(layers)
}

// TestFileSizesAndDocs holds sizes and documentation where a reader can follow.
func TestFileSizesAndDocs(t *testing.T) {
	t.Parallel()
	const mostLines, mostFunction, documentedPercent = 600, 80, 90
	exported, documented := 0, 0
	err := filepath.WalkDir(frontdesktest.Root(), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".gen.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		if lines := files.File(file.Pos()).LineCount(); lines > mostLines {
			t.Errorf("%s has %d lines, at most %d can be read", path, lines, mostLines)
		}
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if lines := files.Position(f.End()).Line - files.Position(f.Pos()).Line; lines > mostFunction {
				t.Errorf("%s: %s has %d lines, at most %d can be read", path, f.Name.Name, lines, mostFunction)
			}
			if f.Name.IsExported() && !strings.HasSuffix(path, "_test.go") {
				exported++
				if f.Doc != nil {
					documented++
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if documented*100 < exported*documentedPercent {
		t.Errorf("%d of %d exported functions are documented", documented, exported)
	}
}

// TestEveryVariableIsInTheReadme holds the table of the README and the binary's own help equal.
func TestEveryVariableIsInTheReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, command := range []string{"serve", "sim", "payments list", "invite", "webhooks list", "queue"} {
		help, err := exec.CommandContext(t.Context(), frontdesktest.Binary(t), append(strings.Fields(command), "--help")...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, help)
		}
		words := bufio.NewScanner(strings.NewReader(string(help)))
		words.Split(bufio.ScanWords)
		for words.Scan() {
			name := strings.Trim(words.Text(), "($).,")
			if !strings.HasPrefix(name, "FRONTDESK_") {
				continue
			}
			found++
			if !strings.Contains(string(readme), "`"+name+"`") {
				t.Errorf("%s is not in the README", name)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d variables were found", found)
	}
}
