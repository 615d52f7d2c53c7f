package tomledit_test

import (
	"errors"
	"testing"

	"github.com/skein-dev/skein/internal/tomledit"
)

func table() tomledit.Table {
	return tomledit.Table{Name: []string{"mcp_servers", "skein"}, Body: "command = \"skein\"\nargs = [\"mcp\"]\n"}
}

// What is added is in the document, and once it is removed, every byte is as it
// was.
func TestATableIsAddedAndRemovedWithoutATrace(t *testing.T) {
	for _, doc := range []string{
		"",
		"model = \"x\" # mine\n",
		"model = \"x\"\n\n[mcp_servers.other]\ncommand = \"y\"\n# the end\n",
		"[projects.\"/a b\"]\ntrust_level = \"trusted\"\n\n\n",
		"[mcp_servers]\n",
		"x = 1\r\n[a]\r\ny = 2\r\n",
	} {
		tb := table()
		out, err := tomledit.Add([]byte(doc), &tb)
		if err != nil {
			t.Errorf("Add(%q): %v", doc, err)
			continue
		}
		again := table()
		if twice, err := tomledit.Add(out, &again); err != nil || !again.Was || string(twice) != string(out) {
			t.Errorf("Add(%q) twice = %q, %v", doc, twice, err)
		}
		back, found, err := tomledit.Remove(out, tb)
		if err != nil || !found || string(back) != doc {
			t.Errorf("Add(%q) = %q; without it %q, %t, %v", doc, out, back, found, err)
		}
		// Others may add below it.
		later := string(out) + "\n# somebody's\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n"
		back, found, err = tomledit.Remove([]byte(later), tb)
		if want := doc + "\n# somebody's\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n"; err != nil || !found || string(back) != want {
			t.Errorf("%q without it = %q, %t, %v, want %q", later, back, found, err, want)
		}
	}
}

func TestATableOfSomebodyElseStays(t *testing.T) {
	for _, doc := range []string{
		"[mcp_servers.skein]\ncommand = \"other\"\n",
		"mcp_servers = {skein = {command = \"other\"}}\n",
		"mcp_servers = 1\n",
		"mcp_servers = {}\n",
	} {
		tb := table()
		if out, err := tomledit.Add([]byte(doc), &tb); !errors.Is(err, tomledit.ErrTaken) {
			t.Errorf("Add(%q) = %q, %v, want %v", doc, out, err, tomledit.ErrTaken)
		}
		tb.Was = false
		if out, found, err := tomledit.Remove([]byte(doc), tb); err != nil || found || string(out) != doc {
			t.Errorf("Remove(%q) = %q, %t, %v", doc, out, found, err)
		}
	}
	tb := table()
	if _, err := tomledit.Add([]byte("= 1"), &tb); err == nil {
		t.Error("Add to what is not TOML succeeds")
	}
}
