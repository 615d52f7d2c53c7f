package sqlite

import "context"

// Within runs f in the midst of a transaction that writes.
func Within(s *Store, f func()) error {
	return s.change(context.Background(), func(*tx) error {
		f()
		return nil
	})
}
