package foreign

import (
	"encoding/json"
	"slices"
	"strings"
)

// Frame returns, as lines, the settings of the file and the statements that created
// these tables, which may be virtual, and their indexes and triggers.
func (db *DB) Frame(tables ...string) []byte {
	b := appendJSON(nil, struct {
		S pragmas `json:"database"`
	}{db.frame.Settings})
	for _, o := range db.frame.Objects {
		known := slices.ContainsFunc(tables, func(t string) bool { return strings.EqualFold(t, o.Table) })
		if !known || o.SQL == "" || o.Type == "view" {
			continue
		}
		b = appendJSON(b, struct {
			O schemaRow `json:"schema"`
		}{o})
	}
	return b
}

// Virtual returns the names of the full-text tables that have one of these
// tables as their content.
func (db *DB) Virtual(tables ...string) (names []string) {
	for _, o := range db.frame.Objects {
		if o.Type != "table" || !fullText().MatchString(o.SQL) {
			continue
		}
		if m := content().FindStringSubmatch(o.SQL); m != nil && slices.Contains(tables, m[1]) {
			names = append(names, o.Name)
		}
	}
	return names
}

func appendJSON(b []byte, v any) []byte {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return b // strings and numbers always encode
	}
	return append(b, out.String()...)
}
