package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/bench/gen"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/claudecode"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/sqlite"
)

// A workCount is what work costs that does not depend on how fast the machine is.
type workCount struct {
	allocations int64 // of Go's memory
	memory      int64 // bytes of them
	writes      int64 // system calls that write, 0 where the system does not tell
	written     int64 // bytes
}

// within reports whether no part of c is above that of most.
func (c workCount) within(most workCount) bool {
	return c.allocations <= most.allocations && c.memory <= most.memory && c.writes <= most.writes && c.written <= most.written
}

func (c workCount) String() string {
	return fmt.Sprintf("%d allocations of %s, %d writes of %s", c.allocations, kilo(c.memory), c.writes, kilo(c.written))
}

func kilo(n int64) string { return fmt.Sprintf("%.1f KB", float64(n)/1e3) }

// counted returns what a call of do costs in this process, as the mean of n calls,
// with what settle then waits for.
func counted(n int, do, settle func() error) (workCount, error) {
	before := counts()
	for range n {
		if err := do(); err != nil {
			return workCount{}, err
		}
	}
	if err := settle(); err != nil {
		return workCount{}, err
	}
	after, k := counts(), int64(n)
	return workCount{
		(after.allocations - before.allocations) / k, (after.memory - before.memory) / k,
		(after.writes - before.writes) / k, (after.written - before.written) / k,
	}, nil
}

// counts returns what this process has used so far.
func counts() workCount {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	writes, written := written()
	return workCount{int64(m.Mallocs), int64(m.TotalAlloc), writes, written}
}

// countPaths counts what the ten most used paths cost, on a small store. The counts are
// nearly the same on every machine, so each has a bound, above what it was when the
// bound was set by about a third; what only reads may write a little in the background.
func countPaths(ctx context.Context, e *fixture) (err error) {
	dir, err := e.folder("counts")
	if err != nil {
		return err
	}
	c, err := gen.NewCorpus(filepath.Join(dir, "transcripts"), 1, 20, 2e6)
	if err != nil {
		return err
	}
	s, err := sqlite.Open(ctx, filepath.Join(dir, "skein.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	x := &hotPaths{ctx: ctx, s: s, dir: c.Dir, words: gen.NewWords(1)}
	if _, err := skein.Add(ctx, s, "one", beginning("/home/ada/one", newYear)); err != nil {
		return err
	}
	for _, p := range []struct {
		what string
		n    int
		do   func() error
		most workCount
	}{
		{"import of 20 transcripts of 2 MB, indexed", 1, x.bring, workCount{125e3, 40e6, 4200, 10.6e6}},
		{"the same without a change", 10, x.bring, workCount{1600, 130e3, 5, 20e3}},
		{"append of one message of 1 KB, indexed", 200, x.append(1), workCount{270, 44e3, 12, 29e3}},
		{"append of a batch of 100 messages of 1 KB, indexed", 5, x.append(100), workCount{16e3, 2.6e6, 310, 800e3}},
		{"list of 21 sessions", 20, x.list, workCount{1350, 330e3, 5, 20e3}},
		{"the newest 50 messages of a session", 20, x.newest, workCount{2350, 425e3, 5, 20e3}},
		{"what a model is shown of a session", 20, x.window, workCount{6550, 1.46e6, 5, 20e3}},
		{"search of one word", 20, x.search(skein.Term{Words: []string{"parser"}}), workCount{260, 35e3, 5, 20e3}},
		{"search of a word and a phrase", 20, x.search(skein.Term{Words: []string{"test"}}, skein.Term{Words: []string{"the", "file"}}), workCount{4600, 345e3, 5, 20e3}},
		{"usage by day", 20, x.usage, workCount{620, 43e3, 5, 20e3}},
	} {
		c, err := counted(p.n, p.do, x.indexed)
		if err != nil {
			return fmt.Errorf("%s: %w", p.what, err)
		}
		e.add(row{what: "counts: " + p.what, got: c.String(), goal: "at most " + p.most.String(), holds: holds(c.within(p.most))})
	}
	return nil
}

// hotPaths are the paths to count, in a store.
type hotPaths struct {
	ctx   context.Context
	s     *sqlite.Store
	dir   string // transcripts
	words *gen.Words
}

func (x *hotPaths) bring() error {
	_, err := importer.Import(x.ctx, x.s, []interop.Format{claudecode.Format()}, []string{x.dir}, interop.Options{})
	return err
}

// indexed waits until the index has everything.
func (x *hotPaths) indexed() error {
	for {
		lag, err := x.s.Lag(x.ctx)
		if err != nil || lag.Events == 0 {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (x *hotPaths) append(n int) func() error {
	return func() error {
		_, err := skein.Add(x.ctx, x.s, "one", said(x.words, n, 1000, newYear)...)
		return err
	}
}

func (x *hotPaths) list() error {
	for _, err := range x.s.Sessions(x.ctx, skein.Filter{Limit: 50}) {
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *hotPaths) newest() error {
	_, err := x.s.Newest(x.ctx, "one", 50, 0)
	return err
}

func (x *hotPaths) window() error {
	_, err := x.s.Window(x.ctx, "one", 100)
	return err
}

func (x *hotPaths) search(terms ...skein.Term) func() error {
	return func() error {
		_, err := x.s.Search(x.ctx, skein.Query{Terms: terms})
		return err
	}
}

func (x *hotPaths) usage() error {
	_, err := x.s.Usage(x.ctx, skein.UsageQuery{By: skein.ByDay})
	return err
}
