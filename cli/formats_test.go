package cli

import "testing"

// Of several formats that know a file, the first reads it, and names what it
// lies in. Those that take any database must not stand before one that knows
// the name, or the folder that it is part of.
func TestFormatsThatTakeAnyDatabaseComeLast(t *testing.T) {
	last := ""
	for _, f := range formats() {
		switch takes := f.Unit != nil && f.Unit("/some/where/any.db") != ""; {
		case takes:
			last = f.Name
		case last != "":
			t.Errorf("format %s comes after %s, which takes any database", f.Name, last)
		}
	}
	if last == "" {
		t.Error("no format takes any database: openai-agents should")
	}
}
