package archtest

import (
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// private finds paths that exist on one machine only.
var private = regexp.MustCompile(`(^|[^\w.~*/-])/work/|\.\./shared\b`)

// A committed file must mean the same on every machine. Only the script that CI runs
// may name the folder of the corpora.
func TestNoFileNamesOneMachine(t *testing.T) {
	exempt := []string{".ci/run", "Makefile", "internal/archtest/house_test.go"}
	walk(t, func(name string) {
		if slices.Contains(exempt, name) || filepath.Ext(name) == ".db" {
			return
		}
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil || info.Size() > 4<<20 {
			return
		}
		text := read(t, name)
		if strings.IndexByte(text[:min(len(text), 8192)], 0) >= 0 {
			return
		}
		n := 0
		for line := range strings.Lines(text) {
			if n++; private.MatchString(line) {
				t.Errorf("%s:%d names a path of one machine: %.120q", name, n, strings.TrimSpace(line))
			}
		}
	})
}

// A visitor sees the plan of the project at its root.
func TestTheRootIsSmall(t *testing.T) {
	files, folders := 0, map[string]bool{}
	walk(t, func(name string) {
		top, _, below := strings.Cut(name, "/")
		switch {
		case below && !strings.HasPrefix(top, "."):
			folders[top] = true
		case !below && top != ".git":
			files++
		}
	})
	if files > 25 || len(folders) > 20 {
		t.Errorf("at the root are %d files and %d folders; want at most 25 and 20", files, len(folders))
	}
}

// tooLarge are the packages and types that exceed the bounds of TestNothingIsTooLarge.
// The list only gets shorter.
var tooLarge = map[string]string{
	".":                       "the nouns and the rules between them",
	"interop/importer":        "to be split",
	"interop/interoptest":     "a suite",
	"server/web":              "to be split",
	"store/postgres":          "to be split",
	"store/sqlite":            "to be split",
	"interop/importer.Target": "to be split",

	"..Facts":                            "a noun",
	"..Filter":                           "a noun",
	"..Query":                            "a noun",
	"..Session":                          "a noun",
	"interop.Report":                     "to be split",
	"interop/formats/claudecode.line":    "mirrors Claude Code's lines",
	"interop/formats/claudecode.lineOut": "mirrors Claude Code's lines",
	"interop/records.FileState":          "mirrors the state that is stored as JSON",
	"server.listQuery":                   "mirrors the API",
	"server/api.Filter":                  "mirrors the API",
	"server/api.Query":                   "mirrors the API",
	"server/acp/record.Writer":           "to be split",
	"server/web.RunningTurn":             "to be split",
	"server/web/transcript.call":         "to be split",
}

// A package has at most 25 files and 4,000 lines, a type at most 25 methods, and a
// struct at most 20 fields: beyond that, it has several subjects.
func TestNothingIsTooLarge(t *testing.T) {
	files, lines, methods, fields := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		files[s.pkg()]++
		lines[s.pkg()] += strings.Count(s.text, "\n")
		for _, d := range s.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				methods[s.pkg()+"."+receiver(fn)]++
			}
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if st, ok := spec.Type.(*ast.StructType); ok {
					fields[s.pkg()+"."+spec.Name.Name] = max(fields[s.pkg()+"."+spec.Name.Name], st.Fields.NumFields())
				}
			}
			return true
		})
	}
	left := maps.Clone(tooLarge)
	for _, c := range []struct {
		what string
		most int
		of   map[string]int
	}{{"files", 25, files}, {"lines", 4000, lines}, {"methods", 25, methods}, {"fields", 20, fields}} {
		for name, n := range c.of {
			if n <= c.most {
				continue
			}
			delete(left, name)
			if tooLarge[name] == "" {
				t.Errorf("%s has %d %s; want at most %d: split it by subject", name, n, c.what, c.most)
			}
		}
	}
	for name := range left {
		t.Errorf("%s is small now: remove it from tooLarge", name)
	}
}

// receiver returns the type that fn is a method of.
func receiver(fn *ast.FuncDecl) string {
	of := fn.Recv.List[0].Type
	for {
		switch v := of.(type) {
		case *ast.StarExpr:
			of = v.X
		case *ast.IndexExpr:
			of = v.X
		case *ast.IndexListExpr:
			of = v.X
		case *ast.Ident:
			return v.Name
		default:
			return ""
		}
	}
}

// A file that grows past 250 lines usually has two subjects. This test only
// lists them: go test -v -run TestLongFiles ./internal/archtest
func TestLongFiles(t *testing.T) {
	for _, s := range sources(t) {
		if n := strings.Count(s.text, "\n"); n > 250 && !s.test() {
			t.Logf("%s has %d lines", s.name, n)
		}
	}
}
