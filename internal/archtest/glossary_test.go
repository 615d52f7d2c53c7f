package archtest

import (
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const glossary = "docs/glossary.md"

// tables returns the rows of the tables of a Markdown page by the heading
// above them, each row as its cells, without the heads.
func tables(t *testing.T, name string) map[string][][]string {
	t.Helper()
	all, heading, body := map[string][][]string{}, "", false
	for line := range strings.Lines(read(t, name)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			heading, body = strings.TrimLeft(line, "# "), false
		case strings.HasPrefix(line, "| ---"):
			body = true
		case body && strings.HasPrefix(line, "|"):
			var row []string
			for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
				row = append(row, strings.TrimSpace(cell))
			}
			all[heading] = append(all[heading], row)
		}
	}
	return all
}

const sharedHeading = "Type names that several packages share"

// A type name has one meaning, so that a reader who knows it from one package is not
// misled in another.
func TestATypeNameOfSeveralPackagesIsInTheGlossary(t *testing.T) {
	shared := map[string]bool{}
	for _, row := range tables(t, glossary)[sharedHeading] {
		shared[strings.ToLower(strings.Trim(row[0], "`"))] = true
	}
	declared := typesByName(t)
	debt := debts(t, "typenames.txt")
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if in := declared[name]; len(in) > 1 && !shared[name] && !debt[name] {
			t.Errorf("type %s is declared in %s; rename all but one, or, if they mean the same, list it in %s", name, strings.Join(in, ", "), glossary)
		}
	}
	for name := range shared {
		if len(declared[name]) < 2 {
			t.Logf("%s lists the type name %s, which only %v has: remove it", glossary, name, declared[name])
		}
	}
	paid(t, debt, func(name string) bool { return len(declared[name]) < 2 || shared[name] })
}

// mirrors reports whether a type of a package may be named as somebody else named
// it: a format's or a provider's own types have the names that its files or its API
// have, and nobody else sees them.
func mirrors(pkg, name string) bool {
	return !ast.IsExported(name) && (strings.HasPrefix(pkg, "interop/formats/") || strings.HasPrefix(pkg, "llm/") && pkg != "llm/window")
}

// typesByName returns the packages that declare a type, by its name in lower
// case. Types within a function, types of tests and mirrors do not count.
func typesByName(t *testing.T) map[string][]string {
	all := map[string][]string{}
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		for _, d := range s.tree.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				if v, ok := spec.(*ast.TypeSpec); ok {
					name := strings.ToLower(v.Name.Name)
					if mirrors(s.pkg(), v.Name.Name) {
						continue
					}
					if !slices.Contains(all[name], s.pkg()) {
						all[name] = append(all[name], s.pkg())
					}
				}
			}
		}
	}
	return all
}

// puzzling are words that say nothing to a reader who does not know the code
// yet. The glossary has the words to use instead.
var puzzling = []string{
	"bequeath", "blot", "blots", "blotted", "burier", "buried", "bury", "carried", "carries", "carry", "curtain",
	"doom", "doomed", "estate", "grave", "graves", "heir", "heirs", "lane", "lanes", "lookout", "parcel", "residue",
	"slow", "stand", "standing", "strand", "strands", "told",
}

var wordOfName = regexp.MustCompile(`[A-Z]+(?:[^A-Za-z]|$)|[A-Z]?[a-z]+|[A-Z]+`)

func TestNoNamePuzzles(t *testing.T) {
	found := map[string]bool{}
	look := func(s source, n ast.Node, name string) {
		for _, w := range wordOfName.FindAllString(name, -1) {
			if slices.Contains(puzzling, strings.ToLower(w)) {
				found[s.pkg()+" "+name] = true
			}
		}
	}
	for _, s := range sources(t) {
		look(s, s.tree, strings.TrimSuffix(path.Base(s.name), ".go"))
		if s.test() {
			continue
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			switch v := n.(type) {
			case *ast.TypeSpec:
				look(s, v, v.Name.Name)
			case *ast.FuncDecl:
				look(s, v, v.Name.Name)
			}
			return true
		})
	}
	debt := debts(t, "puzzling.txt")
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !debt[name] {
			t.Errorf("%s: the name puzzles; %s has the words to use", name, glossary)
		}
	}
	paid(t, debt, func(name string) bool { return !found[name] })
}

// debts returns the lines of a list of names that are still to be changed. The
// lists only shrink: nothing may be added to them.
func debts(t *testing.T, name string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for line := range strings.Lines(read(t, "internal/archtest/testdata/"+name)) {
		all[strings.TrimSpace(line)] = true
	}
	return all
}

// paid tells which lines of a list can be removed.
func paid(t *testing.T, debt map[string]bool, gone func(name string) bool) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(debt)) {
		if gone(name) {
			t.Logf("%s is no longer a debt: remove it from testdata", name)
		}
	}
	t.Logf("%d names are still to be changed", len(debt))
}

var codeName = regexp.MustCompile("`([a-z]+)\\.([A-Z]\\w*)`")

// The glossary names only what is declared, and no word twice.
func TestTheGlossaryIsTrue(t *testing.T) {
	declared := map[string]bool{}
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		for _, d := range s.tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					declared[s.tree.Name.Name+"."+d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.TypeSpec); ok {
						declared[s.tree.Name.Name+"."+v.Name.Name] = true
					}
				}
			}
		}
	}
	seen := map[string]bool{}
	for heading, rows := range tables(t, glossary) {
		for _, row := range rows {
			if heading != sharedHeading {
				for word := range strings.SplitSeq(row[0], ", ") {
					if seen[word] {
						t.Errorf("%s has %q twice", glossary, word)
					}
					seen[word] = true
				}
			}
			for _, m := range codeName.FindAllStringSubmatch(row[len(row)-1], -1) {
				if !declared[m[1]+"."+m[2]] {
					t.Errorf("%s names %s.%s, which is not declared", glossary, m[1], m[2])
				}
			}
		}
	}
}
