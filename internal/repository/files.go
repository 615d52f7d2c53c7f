package repository

import (
	"fmt"
	"io"
	"os"
)

// The most bytes of a file that are read.
const (
	smallBytes = 1 << 20  // HEAD, refs, config
	refsBytes  = 64 << 20 // packed-refs: about a million of them
)

// small returns the bytes of a small file.
func small(name string) ([]byte, error) { return atMost(name, smallBytes) }

// atMost returns the bytes of a regular file. The error for a larger one says so.
func atMost(name string, n int64) ([]byte, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > n {
		return nil, fmt.Errorf("%s: %s of %d bytes, want a file of at most %d", name, st.Mode().Type(), st.Size(), n)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return io.ReadAll(io.LimitReader(f, n))
}
