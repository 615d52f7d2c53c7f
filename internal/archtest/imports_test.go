package archtest

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A rule is one line of the imports block of ARCHITECTURE.md.
type rule struct {
	floor   string // a number, T for suites, - for what stands beside the house
	pattern string
	may     []string // patterns of packages
}

// height returns the floor as a number; suites are above everything.
func (r rule) height() int {
	n, err := strconv.Atoi(r.floor)
	if err != nil {
		return math.MaxInt
	}
	return n
}

// rules reads the block.
func rules(t *testing.T) (all []rule) {
	t.Helper()
	_, rest, _ := strings.Cut(read(t, "ARCHITECTURE.md"), "```imports\n")
	block, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no imports block")
	}
	for line := range strings.Lines(block) {
		f := strings.Fields(line)
		if len(f) < 3 {
			t.Fatalf("ARCHITECTURE.md: line %q: want a floor, a package and what it may import", line)
		}
		all = append(all, rule{f[0], f[1], f[2:]})
	}
	return all
}

func matches(pattern, pkg string) bool {
	ok, err := path.Match(pattern, pkg)
	return ok && err == nil
}

// ruleOf returns the first rule for pkg.
func ruleOf(all []rule, pkg string) (rule, bool) {
	i := slices.IndexFunc(all, func(r rule) bool { return matches(r.pattern, pkg) })
	if i < 0 {
		return rule{}, false
	}
	return all[i], true
}

// ours returns the packages of this project that s imports, from the root.
func ours(s source) (pkgs []string) {
	for _, im := range s.tree.Imports {
		p := strings.Trim(im.Path.Value, `"`)
		if p == module {
			pkgs = append(pkgs, ".")
		} else if rest, ok := strings.CutPrefix(p, module+"/"); ok {
			pkgs = append(pkgs, rest)
		}
	}
	return pkgs
}

func TestAPackageImportsOnlyWhatArchitectureSays(t *testing.T) {
	all := rules(t)
	for _, s := range sources(t) {
		r, ok := ruleOf(all, s.pkg())
		if !ok {
			t.Errorf("%s: ARCHITECTURE.md does not know the package %s", s.name, s.pkg())
			continue
		}
		if s.test() {
			continue
		}
		for _, p := range ours(s) {
			if !slices.ContainsFunc(r.may, func(m string) bool { return matches(m, p) }) {
				t.Errorf("%s imports %s; ARCHITECTURE.md lets %s import %v", s.name, p, r.pattern, r.may)
			}
		}
	}
}

func TestAPackageImportsOnlyFloorsBelowItsOwn(t *testing.T) {
	all := rules(t)
	for _, s := range production(t) {
		own, _ := ruleOf(all, s.pkg())
		for _, p := range ours(s) {
			below, ok := ruleOf(all, p)
			if ok && own.floor != "-" && below.height() >= own.height() {
				t.Errorf("%s, on floor %s, imports %s, on floor %s", s.name, own.floor, p, below.floor)
			}
		}
	}
}

func TestOnlyTestsImportSuites(t *testing.T) {
	for _, s := range production(t) {
		for _, p := range ours(s) {
			if inSuite(p) {
				t.Errorf("%s imports %s, which is for tests", s.name, p)
			}
		}
	}
}

// A test of one format that needs another format's reader tests neither.
func TestSiblingsDoNotImportEachOtherInTests(t *testing.T) {
	all := rules(t)
	for _, s := range sources(t) {
		own, ok := ruleOf(all, s.pkg())
		if !ok || !s.test() || own.pattern == "internal/*" {
			continue
		}
		for _, p := range ours(s) {
			if other, ok := ruleOf(all, p); ok && p != s.pkg() && other.pattern == own.pattern {
				t.Errorf("%s imports its sibling %s", s.name, p)
			}
		}
	}
}

func TestTheRootImportsOnlyTheStandardLibrary(t *testing.T) {
	for _, s := range production(t) {
		if s.pkg() != "." {
			continue
		}
		for _, im := range s.tree.Imports {
			p := strings.Trim(im.Path.Value, `"`)
			if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") {
				t.Errorf("%s imports %s, which is not in the standard library", s.name, p)
			}
			if io := []string{"os", "net", "net/http", "database/sql", "io/fs", "os/exec", "log", "log/slog"}; slices.Contains(io, p) {
				t.Errorf("%s imports %s: the root does no I/O", s.name, p)
			}
		}
	}
}

func TestEveryRuleHasAPackage(t *testing.T) {
	files := sources(t)
	for _, r := range rules(t) {
		if !slices.ContainsFunc(files, func(s source) bool { return matches(r.pattern, s.pkg()) }) {
			t.Errorf("ARCHITECTURE.md has a line for %s, which does not exist", r.pattern)
		}
	}
}
