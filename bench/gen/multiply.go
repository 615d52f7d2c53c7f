package gen

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// ids are the IDs in agents' files: UUIDs, and those of the providers' messages,
// requests and calls. What varies between copies of a file is the last group.
var ids = regexp.MustCompile(`([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-|(?:msg|req|toolu|call|rs|fc)_[0-9A-Za-z]{6,})([0-9a-f]{12}|[0-9A-Za-z]{12})`)

// Multiply writes the files below from to dir again and again until they have total
// bytes, each time with other IDs of the same length, so that no copy counts as the
// session that another one holds. Errors are those of reading and writing files.
func Multiply(dir, from string, total int64) (Corpus, error) {
	c := Corpus{Dir: dir, What: "real files"}
	for n := 0; c.Bytes < total || n == 0; n++ {
		other := func(s string) string {
			sum := sha256.Sum256(fmt.Append(nil, n, s))
			return s[:len(s)-12] + hex.EncodeToString(sum[:6])
		}
		was := c.Bytes
		err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || c.Bytes >= total && n > 0 {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(from, path)
			if err != nil {
				return err
			}
			to := filepath.Join(dir, fmt.Sprintf("%03d", n), ids.ReplaceAllStringFunc(rel, other))
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				return err
			}
			c.Files++
			c.Bytes += int64(len(b))
			return os.WriteFile(to, []byte(ids.ReplaceAllStringFunc(string(b), other)), 0o600)
		})
		if err != nil {
			return c, err
		}
		if c.Bytes == was {
			return c, fmt.Errorf("%s: %w", from, fs.ErrNotExist)
		}
	}
	return c, nil
}
