package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/skein-dev/skein"
)

// plainFile appends events to a file, one JSON line each, with an fsync after
// every line: the cost of a durable transcript without skein.
func plainFile(dir string, evs []skein.Event) (d time.Duration, err error) {
	f, err := os.OpenFile(filepath.Join(dir, "plain.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	start := time.Now()
	for _, e := range evs {
		line, err := e.MarshalJSON()
		if err != nil {
			return 0, err
		}
		if _, err := f.Write(append(line, '\n')); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}
