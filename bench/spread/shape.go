package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// beside is the size on disk of an event in PostgreSQL in addition to its
// payload, with its share of all indexes, the write-ahead log and the search
// index: docs/scaling.md says how it was measured.
const beside = 3000

// A shape is the lengths of sessions and the size of their records.
type shape struct {
	lengths []float64 // records per session
	mean    float64   // of lengths
	size    float64   // bytes per record
	from    string    // where the data is from
}

// usual is the shape of 21 sessions of Copilot CLI, VS Code, Gemini CLI, pi and
// Qwen Code: the quantiles of their lengths, and the mean size of a record.
func usual() shape {
	s := shape{lengths: []float64{8, 23, 41, 70, 110, 240, 362, 521, 539, 1019}, size: 2406, from: "real sessions measured once"}
	s.mean = mean(s.lengths)
	return s
}

// shapeOf measures the sessions in a folder; for "", it returns the usual
// shape.
func shapeOf(dir string) (shape, error) {
	if dir == "" {
		return usual(), nil
	}
	s := shape{from: "the sessions of the corpus"}
	var records, size float64
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		data, err := os.ReadFile(path)
		if n := bytes.Count(data, []byte("\n")); n > 0 {
			s.lengths = append(s.lengths, float64(n))
			records, size = records+float64(n), size+float64(len(data))
		}
		return err
	})
	if err != nil || len(s.lengths) == 0 {
		return usual(), err
	}
	s.mean, s.size = mean(s.lengths), size/records
	return s, nil
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, x := range all {
		sum += x
	}
	return sum / float64(len(all))
}
