package wire

import (
	"fmt"
	"strings"
)

// A Where is the conditions of a query. Their texts are constants, so that there are
// few different statements.
type Where struct {
	Conds []string
	Args  []any
}

// Add adds a condition in which each ? stands for the next of args.
func (w *Where) Add(cond string, args ...any) {
	var b strings.Builder
	for i, piece := range strings.Split(cond, "?") {
		if i > 0 {
			w.Args = append(w.Args, args[i-1])
			fmt.Fprintf(&b, "$%d", len(w.Args))
		}
		b.WriteString(piece)
	}
	w.Conds = append(w.Conds, b.String())
}

// SQL returns the conditions as a WHERE clause; "" without any.
func (w *Where) SQL() string {
	if len(w.Conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.Conds, " AND ")
}
