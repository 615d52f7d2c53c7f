package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/bench/gen"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/claudecode"
	"github.com/skein-dev/skein/interop/formats/codex"
	"github.com/skein-dev/skein/interop/formats/copilot"
	"github.com/skein-dev/skein/interop/formats/gemini"
	"github.com/skein-dev/skein/interop/formats/pi"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/records"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/sqlite"
)

// corpusVariable names a folder of real transcripts; see [env.transcripts].
const corpusVariable = "SKEIN_CORPUS"

// importReal imports real transcripts with the whole program.
func importReal(ctx context.Context, e *fixture) error {
	c, ok, err := e.transcripts()
	if err != nil {
		return err
	}
	if !ok {
		e.add(row{what: "import of real transcripts", got: "not measured: " + corpusVariable + " names no folder of them", goal: "25 MB per CPU-second"})
		return nil
	}
	return e.importBoth(ctx, c)
}

// importStages measures what each step of an import adds, in this process. Each
// row includes the steps of the rows before it.
func importStages(ctx context.Context, e *fixture) error {
	c, _, err := e.transcripts()
	if err != nil {
		return err
	}
	formats := []interop.Format{claudecode.Format(), codex.Format(), pi.Format(), gemini.Format(), copilot.Format()}
	store := func(open func(dir string) (skein.Store, func() error, error)) func() error {
		return func() error {
			dir, err := e.folder("stage")
			if err != nil {
				return err
			}
			s, done, err := open(dir)
			if err != nil {
				return err
			}
			_, err = importer.Import(ctx, s, formats, []string{c.Dir}, interop.Options{})
			return errors.Join(err, done())
		}
	}
	for _, stage := range []struct {
		what string
		run  func() error
	}{
		{"reading the lines and hashing them (the limit)", func() error { return readOnly(c.Dir) }},
		{"decoding the records", func() error { return decodeOnly(c.Dir, formats) }},
		{"an import into memory", store(func(string) (skein.Store, func() error, error) {
			return memory.New(), func() error { return nil }, nil
		})},
		{"an import into a file, all indexed", store(func(dir string) (skein.Store, func() error, error) {
			s, err := sqlite.Open(ctx, filepath.Join(dir, "skein.db"), sqlite.Options{})
			if err != nil {
				return nil, nil, err
			}
			return s, s.Close, nil
		})},
	} {
		before := spent()
		start := time.Now()
		if err := stage.run(); err != nil {
			return fmt.Errorf("%s: %w", stage.what, err)
		}
		cpu := spent() - before
		e.add(row{
			what: stage.what + ", " + c.What,
			got:  fmt.Sprintf("%.1f MB per CPU-second (%s of CPU, %s)", float64(c.Bytes)/1e6/cpu.Seconds(), short(cpu), short(time.Since(start))),
		})
	}
	return nil
}

// transcripts returns the transcripts to measure with: copies of the files in the
// folder that the environment names, and true, or else generated ones. Both are made
// once.
func (e *fixture) transcripts() (c gen.Corpus, real bool, err error) {
	from := os.Getenv(corpusVariable)
	if c, ok := e.made[from]; ok {
		return c, from != "", nil
	}
	dir, err := e.folder("transcripts" + fmt.Sprint(len(e.made)))
	if err != nil {
		return c, false, err
	}
	if from == "" {
		c, err = gen.NewCorpus(dir, 1, e.size.files, e.size.corpus)
	} else {
		c, err = gen.Multiply(dir, from, e.size.corpus)
	}
	if e.made == nil {
		e.made = map[string]gen.Corpus{}
	}
	e.made[from] = c
	return c, from != "", err
}

// eachFile calls f with the transcripts below dir.
func eachFile(dir string, f func(path string, in io.Reader) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(f(path, in), in.Close())
	})
}

// readOnly reads the lines and hashes each.
func readOnly(dir string) error {
	return eachFile(dir, func(_ string, in io.Reader) error {
		lines := bufio.NewReaderSize(in, 1<<20)
		sum, sums := sha256.New(), make([]byte, 0, sha256.Size)
		for {
			line, err := lines.ReadSlice('\n')
			sum.Write(line)
			switch {
			case errors.Is(err, bufio.ErrBufferFull):
				continue
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			}
			sum.Sum(sums)
			sum.Reset()
		}
	})
}

// decodeOnly reads files as the most likely one of formats.
func decodeOnly(dir string, formats []interop.Format) error {
	return eachFile(dir, func(path string, in io.Reader) error {
		lines := bufio.NewReaderSize(in, 4096)
		head, err := lines.Peek(4096)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		surest := formats[0]
		for _, f := range formats[1:] {
			if f.Match(path, head).Sure > surest.Match(path, head).Sure {
				surest = f
			}
		}
		file := interop.File{Path: path, Beside: func(string) ([]byte, bool) { return nil, false }}
		return records.Scan(surest, file, lines, func(skein.Record, interop.Made) error { return nil })
	})
}
