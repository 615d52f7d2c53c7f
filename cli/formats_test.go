package cli

import "testing"

// If several formats recognize a file, the first one reads it, and the folder or
// database is reported under that format. Those that match any database must come
// after those that recognize the name or the folder.
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
