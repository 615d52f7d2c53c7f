package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := run(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A pkg is the counts of one folder.
type pkg struct {
	name         string
	files, lines int               // without tests
	tests        int               // lines
	decls        map[string]string // names declared outside functions → file
	uses         map[string]map[string]bool
	methods      map[string]int
	fields       map[string]int
}

func run() error {
	packages, err := count(".")
	if err != nil {
		return err
	}
	files, folders, err := atRoot()
	if err != nil {
		return err
	}
	row("folders at the root", folders)
	row("files at the root", files)
	var lines, tests, backward int
	for _, p := range packages {
		lines += p.lines
		tests += p.tests
		backward += p.backward()
	}
	row("lines of code", lines)
	row("lines of tests", tests)
	row("lines of the root package", packages["."].lines)
	row("packages", len(packages))
	row("methods of skein.Store", packages["."].methods["Store (interface)"])
	most("packages by files", 25, packages, func(p *pkg) map[string]int { return map[string]int{p.name: p.files} })
	most("packages by lines", 4000, packages, func(p *pkg) map[string]int { return map[string]int{p.name: p.lines} })
	most("types by methods", 25, packages, func(p *pkg) map[string]int { return named(p.name, p.methods) })
	most("structs by fields", 20, packages, func(p *pkg) map[string]int { return named(p.name, p.fields) })
	most("packages by references against the main direction", 30, packages, func(p *pkg) map[string]int { return map[string]int{p.name: p.backward()} })
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	row("direct requirements (goal 30)", len(regexp.MustCompile(`(?m)^\t\S+ v\S+$`).FindAll(mod, -1)))
	return nil
}

func row(what string, n int) { _, _ = fmt.Fprintf(os.Stdout, "%-60s %7d\n", what, n) }

// most prints the largest value, and all that exceed the goal.
func most(what string, goal int, packages map[string]*pkg, of func(*pkg) map[string]int) {
	type entry struct {
		name string
		n    int
	}
	var all []entry
	for _, p := range packages {
		for name, n := range of(p) {
			all = append(all, entry{name, n})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.name, b.name)) })
	row(fmt.Sprintf("%s (goal %d)", what, goal), all[0].n)
	for _, e := range all {
		if e.n > goal {
			row("    "+e.name, e.n)
		}
	}
}

func named(name string, counts map[string]int) map[string]int {
	out := map[string]int{}
	for k, n := range counts {
		if !strings.HasSuffix(k, "(interface)") {
			out[name+"."+k] = n
		}
	}
	return out
}

func atRoot() (files, folders int, err error) {
	all, err := os.ReadDir(".")
	for _, e := range all {
		switch {
		case e.IsDir() && strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			folders++
		case e.Type().IsRegular() && e.Name() != ".git":
			files++
		}
	}
	return files, folders, err
}

// count reads the Go files below dir.
func count(dir string) (map[string]*pkg, error) {
	packages := map[string]*pkg{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || name != dir && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		at := filepath.ToSlash(filepath.Dir(name))
		p := packages[at]
		if p == nil {
			p = &pkg{name: at, decls: map[string]string{}, uses: map[string]map[string]bool{}, methods: map[string]int{}, fields: map[string]int{}}
			packages[at] = p
		}
		n := strings.Count(string(text), "\n")
		if strings.HasSuffix(name, "_test.go") {
			p.tests += n
			return nil
		}
		p.files++
		p.lines += n
		tree, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			return err
		}
		p.add(filepath.Base(name), tree)
		return nil
	})
	return packages, err
}

// add counts a file.
func (p *pkg) add(file string, tree *ast.File) {
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				p.decls[d.Name.Name] = file
				continue
			}
			of := d.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if id, ok := of.(*ast.Ident); ok {
				p.methods[id.Name]++
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				p.spec(file, s)
			}
		}
	}
	uses := map[string]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			ast.Inspect(n.X, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					uses[id.Name] = true
				}
				return true
			})
			return false
		case *ast.Ident:
			uses[n.Name] = true
		}
		return true
	})
	p.uses[file] = uses
}

func (p *pkg) spec(file string, s ast.Spec) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		p.decls[s.Name.Name] = file
		switch t := s.Type.(type) {
		case *ast.StructType:
			p.fields[s.Name.Name] = t.Fields.NumFields()
		case *ast.InterfaceType:
			p.methods[s.Name.Name+" (interface)"] = t.Methods.NumFields()
		}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			p.decls[n.Name] = file
		}
	}
}

// backward returns the number of references between two files that go in the
// less common direction of the pair.
func (p *pkg) backward() (n int) {
	between := map[[2]string]int{}
	for file, uses := range p.uses {
		for name := range uses {
			if to := p.decls[name]; to != "" && to != file {
				between[[2]string{file, to}]++
			}
		}
	}
	for pair, there := range between {
		if back := between[[2]string{pair[1], pair[0]}]; back > 0 && (there < back || there == back && pair[0] < pair[1]) {
			n += there
		}
	}
	return n
}
