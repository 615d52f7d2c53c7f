package archtest

import (
	"go/ast"
	"slices"
	"testing"
)

// storeParts are the interfaces besides skein.Store that a store can have, with
// the methods of those that every store has.
var storeParts = map[string][]string{
	"Leases":    {"Acquire", "Renew", "Release"},
	"Lifecycle": {"Bin", "Restore", "Delete", "Scrub", "Size"},
	"Sources":   {"Find", "File", "Files", "FilesNamed", "Records"},
	"Feed":      {"Feed"},
	"Sweeper":   nil, "Examiner": nil, "Lagger": nil, "Keeper": nil, "Burier": nil, "Registry": nil,
}

// Only skein.PartOf asks what else a store can do.
func TestOnlyPartOfAsksWhatAStoreCanDo(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || s.name == "parts.go" {
			continue
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			a, ok := n.(*ast.TypeAssertExpr)
			if !ok {
				return true
			}
			if sel, ok := a.Type.(*ast.SelectorExpr); ok {
				if _, part := storeParts[sel.Sel.Name]; part {
					t.Errorf("%s:%d asserts that a store is a %s: ask skein.PartOf", s.name, s.line(n), sel.Sel.Name)
				}
			}
			return true
		})
	}
}

// A store that wraps another one keeps all of its parts: PartOf unwraps it, and a
// method that it has of a part is not passed by.
func TestAStoreThatWrapsAnotherLosesNoPart(t *testing.T) {
	type wrapper struct {
		at      string
		embeds  []string
		methods []string
	}
	all := map[string]*wrapper{} // by package and type
	for _, s := range sources(t) {
		ast.Inspect(s.tree, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			st, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			w := &wrapper{at: s.name}
			for _, f := range st.Fields.List {
				if sel, ok := f.Type.(*ast.SelectorExpr); ok && len(f.Names) == 0 {
					w.embeds = append(w.embeds, sel.Sel.Name)
				}
			}
			if slices.Contains(w.embeds, "Store") {
				all[s.pkg()+" "+spec.Name.Name] = w
			}
			return true
		})
	}
	for _, s := range sources(t) {
		for _, d := range s.tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			of := f.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if id, ok := of.(*ast.Ident); ok {
				if w := all[s.pkg()+" "+id.Name]; w != nil {
					w.methods = append(w.methods, f.Name.Name)
				}
			}
		}
	}
	if len(all) < 5 {
		t.Fatalf("found %d stores that wrap another one, want all", len(all))
	}
	for name, w := range all {
		if !slices.Contains(w.methods, "Unwrap") {
			t.Errorf("%s: %s embeds a Store and has no method Unwrap", w.at, name)
		}
		for part, methods := range storeParts {
			has := func(m string) bool { return slices.Contains(w.methods, m) }
			if slices.ContainsFunc(methods, has) && !slices.Contains(w.embeds, part) && slices.ContainsFunc(methods, func(m string) bool { return !has(m) }) {
				t.Errorf("%s: %s has a method of %s and not the others: let it embed skein.%s", w.at, name, part, part)
			}
		}
	}
}
