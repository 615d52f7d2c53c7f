package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	module = "github.com/skein-dev/skein"
	root   = "../.."
)

// A source is one Go file of the checkout.
type source struct {
	name string // from the root, with slashes
	fset *token.FileSet
	tree *ast.File
	text string
}

func (s source) test() bool  { return strings.HasSuffix(s.name, "_test.go") }
func (s source) pkg() string { return path.Dir(s.name) }

// suite reports whether s belongs to a package that only tests import.
func (s source) suite() bool { return inSuite(s.pkg()) }

// inSuite reports whether a package is a suite, or a part of one.
func inSuite(pkg string) bool {
	return slices.ContainsFunc(strings.Split(pkg, "/"), func(name string) bool { return strings.HasSuffix(name, "test") })
}

func (s source) line(n ast.Node) int { return s.fset.Position(n.Pos()).Line }

// walk calls visit with the name of every file of the checkout.
func walk(t *testing.T, visit func(name string)) {
	t.Helper()
	err := eachFile(func(name string) error {
		visit(name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func eachFile(visit func(name string) error) error {
	skip := []string{".git", ".tools", ".run", "bin", "dist", "node_modules"}
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skip, d.Name()):
			return filepath.SkipDir
		case !d.Type().IsRegular() || d.Name() == ".git": // of a worktree, a file that says where it lies
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(rel))
	})
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sources returns every Go file of the checkout. All tests share them, so none
// changes them.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("found %d Go files below %s, want the whole checkout", len(all), root)
	}
	return slices.Clone(all)
}

// parsed reads and parses the Go files of the checkout once.
var parsed = sync.OnceValues(func() (all []source, err error) {
	err = eachFile(func(name string) error {
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "/testdata/") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		all = append(all, source{name, fset, tree, string(text)})
		return err
	})
	return all, err
})

// production returns the files that a user of a package compiles.
func production(t *testing.T) []source {
	t.Helper()
	return slices.DeleteFunc(sources(t), func(s source) bool { return s.test() || s.suite() })
}
