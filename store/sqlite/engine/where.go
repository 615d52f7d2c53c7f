package engine

import "strings"

// OrNull returns s as an SQL value, NULL if it is empty.
func OrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// A Where is the conditions of a query. They consist of constant pieces only,
// so that there are few different queries.
type Where struct {
	Conds []string
	Args  []any
}

// Add adds a condition, a constant text, and its arguments.
func (w *Where) Add(cond string, args ...any) {
	w.Conds, w.Args = append(w.Conds, cond), append(w.Args, args...)
}

// SQL returns the WHERE clause with a space before it; "" without conditions.
func (w *Where) SQL() string {
	if len(w.Conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.Conds, " AND ")
}
