package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein/store/erase"
)

// scrubHistory removes secrets from the chat input history of all projects, and
// returns how many lines had any.
func (j *job) scrubHistory(secrets []string) (lines int, err error) {
	files, err := filepath.Glob(filepath.Join(j.dirs.State, "history", "*.jsonl"))
	if err != nil {
		return 0, err
	}
	for _, path := range files {
		n, err := scrubLines(path, secrets)
		if lines += n; err != nil {
			return lines, err
		}
	}
	return lines, nil
}

// scrubLines rewrites the JSON Lines file at path without the secrets, if it has
// any.
func scrubLines(path string, secrets []string) (changed int, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var out bytes.Buffer
	for line := range bytes.Lines(b) {
		clean, found := erase.Mask(line, secrets)
		if found {
			changed++
		}
		out.Write(clean)
	}
	if changed == 0 {
		return 0, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".history-*") // 0600
	if err != nil {
		return 0, err
	}
	_, err = f.Write(out.Bytes())
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(f.Name()))
	}
	return changed, nil
}
