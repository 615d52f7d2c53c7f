package gen

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// A Corpus is a folder of transcripts.
type Corpus struct {
	Dir   string
	What  string // description, for people
	Files int
	Bytes int64
}

var notInKey = regexp.MustCompile(`[^A-Za-z0-9-]`)

// NewCorpus writes files transcripts of about total bytes together below dir,
// in the folders that Claude Code uses: sizes differ by a factor of up to a
// hundred. Errors are those of writing files.
func NewCorpus(dir string, seed uint64, files int, total int64) (Corpus, error) {
	c := Corpus{Dir: dir, What: "transcripts", Files: files}
	for i := range files {
		t := NewTranscript(seed + uint64(i))
		want := min(t.share(total/int64(files)), total-c.Bytes)
		for int64(len(t.Bytes())) < want || len(t.Bytes()) == 0 {
			t.Turn()
		}
		project := filepath.Join(dir, "projects", notInKey.ReplaceAllString(t.Cwd, "-"))
		if err := os.MkdirAll(project, 0o700); err != nil {
			return c, err
		}
		if err := os.WriteFile(filepath.Join(project, t.ID+".jsonl"), t.Bytes(), 0o600); err != nil {
			return c, fmt.Errorf("transcript %d: %w", i, err)
		}
		c.Bytes += int64(len(t.Bytes()))
	}
	return c, nil
}

// share returns the size of one file, given the mean: many have a quarter of
// it, a few ten times as much.
func (t *Transcript) share(mean int64) int64 {
	if t.r.IntN(12) == 0 {
		return mean * int64(3+t.r.IntN(8))
	}
	return mean / 4 * int64(1+t.r.IntN(3))
}
