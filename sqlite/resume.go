package sqlite

// resume does what was left to do when the file was last closed: what only
// skein can do after the sqlite3 shell, and what a crash broke off.
func (s *Store) resume() {}
