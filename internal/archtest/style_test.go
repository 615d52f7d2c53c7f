package archtest

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var namesError = regexp.MustCompile(`\b([Ee]rrors?|fails?|Err[A-Z]\w*|implements)\b`)

// An exported function that returns an error says in its comment what the
// error may be, or which interface says so.
func TestCommentsNameTheErrors(t *testing.T) {
	for _, s := range production(t) {
		for _, d := range s.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && exported(fn) && returnsError(fn) && !namesError.MatchString(fn.Doc.Text()) {
				t.Errorf("%s:%d: the comment of %s does not say what its error may be", s.name, s.line(fn), fn.Name.Name)
			}
		}
	}
}

// exported reports whether fn can be called from another package.
func exported(fn *ast.FuncDecl) bool {
	return fn.Name.IsExported() && (fn.Recv == nil || ast.IsExported(receiver(fn)))
}

func returnsError(fn *ast.FuncDecl) bool {
	res := fn.Type.Results
	if res == nil {
		return false
	}
	id, ok := res.List[len(res.List)-1].Type.(*ast.Ident)
	return ok && id.Name == "error"
}

func TestExportedNamesHaveComments(t *testing.T) {
	for _, s := range production(t) {
		if s.tree.Name.Name == "main" {
			continue
		}
		for _, d := range s.tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if exported(d) && d.Doc == nil {
					t.Errorf("%s:%d: %s has no comment", s.name, s.line(d), d.Name.Name)
				}
			case *ast.GenDecl:
				checkSpecs(t, s, d)
			}
		}
	}
}

func checkSpecs(t *testing.T, s source, d *ast.GenDecl) {
	t.Helper()
	for _, spec := range d.Specs {
		switch v := spec.(type) {
		case *ast.TypeSpec:
			if v.Name.IsExported() && d.Doc == nil && v.Doc == nil && v.Comment == nil {
				t.Errorf("%s:%d: %s has no comment", s.name, s.line(v), v.Name.Name)
			}
		case *ast.ValueSpec:
			if v.Names[0].IsExported() && d.Doc == nil && v.Doc == nil && v.Comment == nil {
				t.Errorf("%s:%d: %s has no comment", s.name, s.line(v), v.Names[0].Name)
			}
		}
	}
}

// A reader cannot see what List(true, false) means.
func TestExportedFunctionsTakeNoBool(t *testing.T) {
	for _, s := range production(t) {
		for _, d := range s.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !exported(fn) {
				continue
			}
			for _, p := range fn.Type.Params.List {
				if id, ok := p.Type.(*ast.Ident); ok && id.Name == "bool" {
					t.Errorf("%s:%d: %s takes a bool; make it two functions, or a field", s.name, s.line(fn), fn.Name.Name)
				}
			}
		}
	}
}

func TestEveryPackageHasADoc(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		doc := strings.HasSuffix("/"+s.name, "/doc.go") && s.tree.Doc != nil
		documented[s.pkg()] = documented[s.pkg()] || doc
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("package %s has no doc.go with a package comment", pkg)
		}
	}
}

func TestPackagesAreNamedAfterSomething(t *testing.T) {
	banned := []string{"util", "utils", "common", "helpers", "helper", "shared", "misc", "base", "types"}
	for _, s := range sources(t) {
		if slices.Contains(banned, s.tree.Name.Name) {
			t.Errorf("%s: package %s is named after nothing", s.name, s.tree.Name.Name)
		}
	}
}

func TestNoInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init; say it where main can see it", s.name)
			}
		}
	}
}

// Every command would compile it at its start, and most never use it:
// sync.OnceValue compiles it when it is first used.
func TestNothingIsCompiledAtTheStart(t *testing.T) {
	for _, s := range production(t) {
		for _, d := range s.tree.Decls {
			if _, ok := d.(*ast.FuncDecl); ok || strings.HasPrefix(s.name, "bench/") {
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit:
					return false
				case *ast.SelectorExpr:
					if id, ok := n.X.(*ast.Ident); ok && id.Name == "regexp" && n.Sel.Name == "MustCompile" {
						t.Errorf("%s:%d compiles an expression at the start; use sync.OnceValue", s.name, s.line(n))
					}
				}
				return true
			})
		}
	}
}

// A test that sleeps is slow on a good day and wrong on a bad one.
func TestNoTestSleeps(t *testing.T) {
	for _, s := range sources(t) {
		if !s.test() && !s.suite() {
			continue
		}
		for _, line := range calls(s, "time", "Sleep") {
			t.Errorf("%s:%d sleeps", s.name, line)
		}
	}
}

// A bufio.Scanner fails on a line that is longer than its buffer, and many transcripts
// have such lines.
func TestNoScanner(t *testing.T) {
	for _, s := range production(t) {
		for _, line := range calls(s, "bufio", "NewScanner") {
			t.Errorf("%s:%d reads lines with a Scanner, which stops at a long one", s.name, line)
		}
	}
}

// calls returns the lines of s that name pkg.name.
func calls(s source, pkg, name string) (lines []int) {
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == name {
			if id, ok := sel.X.(*ast.Ident); ok && id.Name == pkg {
				lines = append(lines, s.line(n))
			}
		}
		return true
	})
	return lines
}

var selectStar = regexp.MustCompile(`(?i)\bselect\s+(\w+\.)?\*`)

func TestSQLNamesItsColumns(t *testing.T) {
	for _, s := range production(t) {
		ast.Inspect(s.tree, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && selectStar.MatchString(lit.Value) {
				t.Errorf("%s:%d selects *; name the columns", s.name, s.line(lit))
			}
			return true
		})
	}
}
