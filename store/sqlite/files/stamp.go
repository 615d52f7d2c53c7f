package files

import (
	"os"
	"time"
)

// A Stamp changes with every write to a file.
type Stamp struct {
	size     int64
	modified time.Time
}

// StampOf returns the stamp of a file, without opening it.
func StampOf(path string) (s Stamp) {
	if st, err := os.Stat(path); err == nil {
		s.size, s.modified = st.Size(), st.ModTime()
	}
	return s
}

// Written returns the stamps of the store's files at path.
func Written(path string) [2]Stamp {
	names := New(path).Names
	return [2]Stamp{StampOf(names[0]), StampOf(names[1])}
}
