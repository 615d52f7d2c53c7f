package exchange

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein/interop"
)

var update = flag.Bool("update", false, "write the page anew")

const formatsPage = "../../docs/formats.md"

// TestThePageOfFormatsSaysWhatTheyDo generates the table at the end of the page
// from the formats.
func TestThePageOfFormatsSaysWhatTheyDo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the table has the places on Linux")
	}
	head := []byte("| format | whose sessions | where they are looked for | read | watched | written | written back |\n")
	page, err := os.ReadFile(formatsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := bytes.Cut(page, head)
	if !ok {
		t.Fatalf("%s has no table that begins\n%s", formatsPage, head)
	}
	want := slices.Concat(before, head, []byte("| --- | --- | --- | --- | --- | --- | --- |\n"+formatRows()))
	if *update {
		if err := os.WriteFile(formatsPage, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(page), string(want)); diff != "" {
		t.Errorf("the table of formats in %s (-page +formats); go test ./cli/exchange -run ThePageOfFormats -update writes it:\n%s", formatsPage, diff)
	}
}

// formatRows returns the table's rows, one for each format.
func formatRows() string {
	var b strings.Builder
	for _, f := range slices.SortedFunc(slices.Values(All()), func(a, b interop.Format) int { return strings.Compare(a.Name, b.Name) }) {
		written, back := "as it was", "–"
		switch {
		case f.Load != nil:
			written = "yes"
		case f.Write != nil:
			written, back = "yes", "yes"
		}
		whose, _, _ := strings.Cut(f.Doc, ": ")
		whose, _, _ = strings.Cut(whose, " (~")
		fmt.Fprintf(&b, "| `%s` | %s | %s | yes | yes | %s | %s |\n", f.Name, whose, placesText(f), written, back)
	}
	return b.String()
}

// placesText names the first places of a format, and the variables that name
// others.
func placesText(f interop.Format) string {
	const home, cwd, most = "/home/ann", "/src/tree", 3
	places, asked := interop.PlacesOf(f, interop.Home{Dir: home, Cwd: cwd, Env: func(string) string { return "" }})
	var all []string
	for i, p := range places {
		if i == most {
			all = append(all, "…")
			break
		}
		at := filepath.ToSlash(p.Path)
		at = strings.Replace(strings.Replace(at, home, "~", 1), cwd, ".", 1)
		all = append(all, "`"+at+"`")
	}
	for _, name := range asked {
		if !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "APPDATA") && !strings.HasPrefix(name, "LOCALAPPDATA") {
			all = append(all, "`$"+name+"`")
		}
	}
	if len(all) == 0 {
		return "what you name"
	}
	return strings.Join(all, ", ")
}
