package postgres

import "fmt"

// The events of a deleted session that forks still show stay under its number;
// strands says which of the forks they count as, and up to where. What no fork
// shows is doomed, and found by nobody.

// sessionOf joins to the rows of a table that has user_id and n, called name,
// the session s that they count as. A row of a place counts only where shown
// holds. (It says CASE where coalesce would do: under row security an index is
// not used to compare with coalesce, which may not keep what it sees to itself.)
func sessionOf(name string) string {
	return fmt.Sprintf(` LEFT JOIN strands t ON t.user_id = %[1]s.user_id AND t.n = %[1]s.n
		JOIN sessions s ON s.user_id = %[1]s.user_id AND s.n = CASE WHEN t.owner IS NULL THEN %[1]s.n ELSE t.owner END`, name)
}

// shown is the condition that goes with sessionOf where the row is of a place.
func shown(name string) string {
	return fmt.Sprintf(`(t.upto IS NULL OR %s.seq <= t.upto)`, name)
}

// alive is the condition that a row of a place, in a table called name, is not
// doomed, for those who do not ask whose session it is.
func alive(name string) string {
	return fmt.Sprintf(`NOT EXISTS (SELECT FROM doomed d WHERE d.user_id = %[1]s.user_id AND d.n = %[1]s.n AND %[1]s.seq > d.above)`, name)
}
