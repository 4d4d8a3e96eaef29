package docs_test

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"frontdesk/e2e/frontdesktest"
)

// imports are the packages of this module that each of its packages may import, without
// the prefix frontdesk/: the direction main → cmd → handlers → flows/… → flows → upstream.
// "upstream/..." means everything below upstream, "flows/..." likewise.
var imports = map[string]string{
	"":    "cmd",
	"api": "",
	"cmd": "handlers handlers/... flows flows/... upstream/...",

	"handlers":               "api flows flows/... upstream/captcha upstream/cards upstream/identity",
	"handlers/ops":           "handlers flows flows/... upstream/cards upstream/club",
	"handlers/devtools":      "handlers",
	"handlers/docs":          "handlers",
	"handlers/docs/generate": "",

	"flows":                  "flows/keyring flows/schedule upstream/club upstream/mail",
	"flows/payment":          "flows flows/payment/protocol flows/store flows/keyring flows/tracing upstream/cards upstream/club",
	"flows/payment/protocol": "flows upstream/cards upstream/club",
	"flows/registration": "flows flows/payment flows/contract flows/text flows/catalogue flows/schedule flows/store " +
		"flows/keyring flows/iban upstream/club upstream/mail",
	"flows/catalogue": "flows flows/iban flows/schedule flows/store upstream/club",
	"flows/statements": "flows flows/catalogue flows/contract flows/registration flows/store flows/keyring flows/text " +
		"upstream/club upstream/mail",
	"flows/background": "flows flows/payment flows/registration flows/statements flows/store flows/keyring flows/tracing " +
		"upstream/club upstream/mail",
	"flows/store":    "flows flows/keyring upstream/club",
	"flows/contract": "flows flows/catalogue flows/schedule flows/text upstream/mail",
	"flows/schedule": "upstream/club",
	"flows/text":     "flows",
	"flows/keyring":  "",
	"flows/iban":     "",
	"flows/tracing":  "",
	"flows/redact":   "",

	"upstream/club":          "",
	"upstream/clubsim":       "upstream/inspector",
	"upstream/cards":         "",
	"upstream/cards/sandbox": "upstream/cards upstream/inspector",
	"upstream/identity":      "",
	"upstream/captcha":       "",
	"upstream/collector":     "",
	"upstream/mail":          "",
	"upstream/mail/sink":     "upstream/mail",
	"upstream/inspector":     "",
	"upstream/probe":         "upstream/club upstream/clubsim",
	"upstream/mock":          "upstream/clubsim upstream/cards/sandbox upstream/mail/sink",
}

// TestImportsPointOneWay compares every import of the product with the table, and the table with the
// existing packages.
func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Dir = frontdesktest.Root()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	unseen := maps.Clone(imports)
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(line)
		name := strings.TrimPrefix(strings.TrimPrefix(paths[0], "frontdesk"), "/")
		if strings.HasPrefix(name, "e2e/") {
			continue
		}
		allowed, listed := imports[name]
		if !listed {
			t.Errorf("%s is in no row of the table: say what it may import", name)
		}
		delete(unseen, name)
		for _, path := range paths[1:] {
			if imported, ours := strings.CutPrefix(path, "frontdesk/"); ours && !mayImport(allowed, imported) {
				t.Errorf("%s must not import %s", name, imported)
			}
		}
	}
	for name := range unseen {
		t.Errorf("%s is in the table, but not in the repository", name)
	}
}

// mayImport reports whether a row of the table allows a package.
func mayImport(allowed, imported string) bool {
	return slices.ContainsFunc(strings.Fields(allowed), func(each string) bool {
		below, pattern := strings.CutSuffix(each, "...")
		return each == imported || pattern && strings.HasPrefix(imported, below)
	})
}

// interfaces are those that the code declares, by folder and name or, without a name, by method. What has one implementation is used by
// its type: its contract is then at its methods, and a reader finds them in one step. The value is what implements the interface.
var interfaces = map[string]string{
	"cmd SetWriteBuffer":           "net.TCPConn and net.UnixConn; a connection of another kind keeps its buffer",
	"e2e/campaign/harness Storage": "a single Redis, one with a failover, and a cluster",
	"e2e/frontdesktest TB":         "a test, a benchmark, and a Scope outside of both",
	"upstream/club checker":        "the results of the club system with required or bounded fields",
	"upstream/club dated":          "the results with dates of a club: contacts, debit days, and lists of them",
	"upstream/club identifiable":   "the records that are read by their identifier: contacts, clubs, sales and mandates",
	"upstream/club partial":        "the results of which something may have been left out: lists, contacts and network nodes",
	"upstream/clubsim row":         "the records of the simulator's tables",
}

// TestInterfacesHaveSeveralImplementations compares every interface outside the tests with the table.
func TestInterfacesHaveSeveralImplementations(t *testing.T) {
	t.Parallel()
	unseen := maps.Clone(interfaces)
	eachGoFile(t, func(path string, _ *token.FileSet, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		for name := range declaredInterfaces(file) {
			name = filepath.ToSlash(filepath.Dir(path)) + " " + name
			if _, listed := interfaces[name]; !listed {
				t.Errorf("%s is an interface: use the type that implements it, or say in the table what its several implementations are", name)
			}
			delete(unseen, name)
		}
	})
	for name := range unseen {
		t.Errorf("%s is in the table, but not in the repository", name)
	}
}

// declaredInterfaces returns the interfaces of a file that are not empty: each by its name, or by its first method.
func declaredInterfaces(file *ast.File) iter.Seq[string] {
	return func(yield func(string) bool) {
		named := map[ast.Expr]string{}
		for node := range ast.Preorder(file) {
			switch node := node.(type) {
			case *ast.TypeSpec:
				named[node.Type] = node.Name.Name
			case *ast.InterfaceType:
				if len(node.Methods.List) == 0 {
					continue
				}
				name := named[node]
				if methods := node.Methods.List[0].Names; name == "" && len(methods) > 0 {
					name = methods[0].Name
				}
				if !yield(name) {
					return
				}
			}
		}
	}
}

// eachGoFile parses each Go file that is not generated. Its path is relative to the root of the repository.
func eachGoFile(t *testing.T, visit func(path string, files *token.FileSet, file *ast.File)) {
	t.Helper()
	root := frontdesktest.Root()
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err == nil {
			visit(relative, files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFileSizesAndDocs checks that files and functions are short enough and lines narrow enough to read, and
// exported functions documented.
func TestFileSizesAndDocs(t *testing.T) {
	t.Parallel()
	const mostLines, mostFunction, mostColumns, documentedPercent = 600, 80, 140, 90
	exported, documented := 0, 0
	eachGoFile(t, func(path string, files *token.FileSet, file *ast.File) {
		if lines := files.File(file.Pos()).LineCount(); lines > mostLines {
			t.Errorf("%s has %d lines, at most %d can be read", path, lines, mostLines)
		}
		text, err := os.ReadFile(filepath.Join(frontdesktest.Root(), path))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if columns := utf8.RuneCountInString(line); columns > mostColumns { // a tab is one
				t.Errorf("%s:%d has %d columns, at most %d can be read", path, i+1, columns, mostColumns)
			}
		}
		for _, declaration := range file.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if lines := files.Position(function.End()).Line - files.Position(function.Pos()).Line; lines > mostFunction {
				t.Errorf("%s: %s has %d lines, at most %d can be read", path, function.Name.Name, lines, mostFunction)
			}
			if function.Name.IsExported() && !strings.HasSuffix(path, "_test.go") {
				exported++
				if function.Doc != nil {
					documented++
				}
			}
		}
	})
	if documented*100 < exported*documentedPercent {
		t.Errorf("%d of %d exported functions are documented", documented, exported)
	}
}

// TestEveryVariableIsDocumented checks that the reference has each variable in the commands' help.
func TestEveryVariableIsDocumented(t *testing.T) {
	t.Parallel()
	reference, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "docs", "reference", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, command := range []string{"serve", "sim", "payments list", "invite", "webhooks list", "mail list", "queue"} {
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
			if !strings.Contains(string(reference), "`"+strings.TrimSuffix(name, "_FILE")+"`") { // the page has one rule for _FILE
				t.Errorf("%s is not in the reference", name)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d variables were found", found)
	}
}
