package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// architecture is the page that explains the packages.
const architecture = "docs/explanation/architecture.md"

var (
	code    = regexp.MustCompile("`([^`]+)`")
	goFile  = regexp.MustCompile(`^[\w/]+\.go$`)
	ownFile = regexp.MustCompile(`\b(cmd|flows|handlers|upstream|e2e)/[\w/]+\.go\b`)
	goName  = regexp.MustCompile(`^[A-Za-z]\w*(\.[A-Za-z]\w*)?$`)
)

// TestArchitectureNamesExist checks that each Go file on the page exists, and
// that it declares every function, method and type named after it on the line.
func TestArchitectureNamesExist(t *testing.T) {
	t.Parallel()
	files, names := 0, 0
	for _, line := range strings.Split(read(t, architecture), "\n") {
		file, declared := "", map[string]bool{}
		for _, found := range code.FindAllStringSubmatch(line, -1) {
			switch name := found[1]; {
			case goFile.MatchString(name):
				file, declared = name, declarations(t, name)
				files++
			case file != "" && goName.MatchString(name):
				names++
				if !declared[name] {
					t.Errorf("%s does not declare %s", file, name)
				}
			}
		}
	}
	if files < 20 || names < 30 {
		t.Errorf("the page names only %d files and %d functions", files, names)
	}
}

// TestCommentsNameExistingFiles checks that each Go file of the project that the code names exists.
func TestCommentsNameExistingFiles(t *testing.T) {
	t.Parallel()
	named := 0
	for _, folder := range []string{"cmd", "flows", "handlers", "upstream", "e2e"} {
		err := filepath.WalkDir(filepath.Join(frontdesktest.Root(), folder), func(path string, _ os.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			text, err := os.ReadFile(path)
			for _, name := range ownFile.FindAllString(string(text), -1) {
				named++
				if _, err := os.Stat(filepath.Join(frontdesktest.Root(), name)); err != nil {
					t.Errorf("%s names %s: %v", path, name, err)
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if named < 10 {
		t.Errorf("the code names only %d files", named)
	}
}

// declarations returns what a file declares; methods as Type.Method.
func declarations(t *testing.T, path string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(frontdesktest.Root(), path), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return nil
	}
	declared := map[string]bool{}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			declared[receiver(d)+d.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					declared[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						declared[name.Name] = true
					}
				}
			}
		}
	}
	return declared
}

// receiver returns the type of a method with a dot; nothing for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}

// TestArchitectureDrawsEveryPackage checks the picture and the list of packages:
// both have every package, and every import leads down the picture.
func TestArchitectureDrawsEveryPackage(t *testing.T) {
	t.Parallel()
	page := read(t, architecture)
	_, picture, _ := strings.Cut(page, "```\n")
	picture, _, _ = strings.Cut(picture, "```")
	floors := map[string]int{}
	for floor, line := range strings.Split(picture, "\n") {
		for _, name := range strings.Fields(line) {
			floors[name] = floor
		}
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	list.Dir, list.Stderr = frontdesktest.Root(), os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		paths := strings.Fields(line)
		name := drawn(paths[0])
		if strings.HasPrefix(name, "e2e") {
			continue
		}
		if _, ok := floors[name]; !ok {
			t.Errorf("%s is not in the picture", name)
		}
		if !strings.Contains(page, "\n| `"+name+"` |") {
			t.Errorf("%s is not in the list of packages", name)
		}
		for _, path := range paths[1:] {
			if imported := drawn(path); imported != path && floors[imported] <= floors[name] {
				t.Errorf("%s imports %s, which is not drawn below it", name, imported)
			}
		}
	}
}

// drawn returns the name of a package in the picture: its folder, or main.go for
// the root; other projects' import paths as they are.
func drawn(path string) string {
	if path == "frontdesk" {
		return "main.go"
	}
	return strings.TrimPrefix(path, "frontdesk/")
}
