package postgres

import "fmt"

// The events of a deleted session that forks still show stay under its number;
// The table reparented says which fork they count as, and up to which seq. What no fork shows is in
// the purge queue (purge_queue) and cannot be found.

// sessionOf returns the join from the rows of a table with user_id and n, called name,
// to the session s that they count as. Rows with a seq count only if shown holds. (It
// uses CASE instead of coalesce: under row security, an index is not used for a
// comparison with coalesce, because that is not leakproof.)
func sessionOf(name string) string {
	return fmt.Sprintf(` LEFT JOIN reparented t ON t.user_id = %[1]s.user_id AND t.n = %[1]s.n
		JOIN sessions s ON s.user_id = %[1]s.user_id AND s.n = CASE WHEN t.owner IS NULL THEN %[1]s.n ELSE t.owner END`, name)
}

// shown returns the condition that goes with sessionOf for rows with a seq.
func shown(name string) string {
	return fmt.Sprintf(`(t.upto IS NULL OR %s.seq <= t.upto)`, name)
}

// alive returns the condition that a row with a seq, in a table called name, is not
// in the purge queue, for queries without sessionOf.
func alive(name string) string {
	return fmt.Sprintf(`NOT EXISTS (SELECT FROM purge_queue d WHERE d.user_id = %[1]s.user_id AND d.n = %[1]s.n AND %[1]s.seq > d.above)`, name)
}
