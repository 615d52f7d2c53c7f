package main

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/skein-dev/skein/bench/gen"
)

// importCorpus imports generated transcripts; see importBoth.
func importCorpus(ctx context.Context, e *fixture) error {
	dir, err := e.folder("transcripts")
	if err != nil {
		return err
	}
	start := time.Now()
	c, err := gen.NewCorpus(dir, 1, e.size.files, e.size.corpus)
	if err != nil {
		return err
	}
	e.say("  made %s in %d files in %s", mega(c.Bytes), c.Files, time.Since(start).Round(time.Second))
	return e.importBoth(ctx, c)
}

// The goals of an import of transcripts, in MB per CPU-second.
const (
	goalPure = 25
	goalC    = 35

	goalFolders = 20
)

// importBoth imports c with the whole program, in pure Go and with the C driver, and
// then again when nothing has changed.
func (e *fixture) importBoth(ctx context.Context, c gen.Corpus) error {
	home, err := e.importOnce(ctx, c, "", goalPure)
	if err != nil {
		return err
	}
	if err := e.importAgain(ctx, c, home); err != nil {
		return err
	}
	if _, err := exec.LookPath("cc"); err != nil {
		e.add(row{what: "import with the C driver", got: "NOT MEASURED: no C compiler", goal: fmt.Sprintf("%d MB per CPU-second", goalC)})
		return nil
	}
	_, err = e.importOnce(ctx, c, "cgosqlite sqlite_fts5", goalC)
	return err
}

// importAmplifier imports ten sessions of Amplifier's, each a folder of files
// that its program rewrites.
func importAmplifier(ctx context.Context, e *fixture) error {
	dir, err := e.folder("amplifier")
	if err != nil {
		return err
	}
	c, err := gen.NewAmplifierTree(dir, 1, 10, 100e6)
	if err != nil {
		return err
	}
	home, err := e.importOnce(ctx, c, "", goalFolders)
	if err != nil {
		return err
	}
	return e.importAgain(ctx, c, home)
}

// importOnce imports c into a new store and returns its folder.
func (e *fixture) importOnce(ctx context.Context, c gen.Corpus, tags string, goal float64) (string, error) {
	driver := "pure Go"
	if tags != "" {
		driver = "C driver"
	}
	bin, err := e.build(ctx, tags)
	if err != nil {
		return "", err
	}
	dir, err := e.folder("imported-" + filepath.Base(bin))
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, bin, "import", c.Dir)
	cmd.Env = home(dir)
	start := time.Now()
	peak, err := watched(cmd)
	if err != nil {
		return "", err
	}
	wall := time.Since(start)
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	mbps := float64(c.Bytes) / 1e6 / cpu.Seconds()
	e.add(row{
		what: fmt.Sprintf("import of %s of %s, %s", mega(c.Bytes), c.What, driver),
		got:  fmt.Sprintf("%.1f MB per CPU-second (%.1f MB/s, %s), peak %s", mbps, float64(c.Bytes)/1e6/wall.Seconds(), short(wall), mega(peak)),
		goal: fmt.Sprintf("%.0f MB per CPU-second, under 100 MB", goal), holds: holds(mbps >= goal && peak < 100e6),
	})
	stored, err := onDisk(dir)
	if err != nil {
		return "", err
	}
	r := float64(stored) / float64(c.Bytes)
	e.add(row{
		what: "size on disk after it, " + driver, got: mega(stored), beside: c.What + " " + mega(c.Bytes),
		ratio: fmt.Sprintf("%.2f", r), goal: "at most 0.5", holds: holds(r <= 0.5),
	})
	return dir, nil
}

// importAgain imports the same unchanged files into the store in dir.
func (e *fixture) importAgain(ctx context.Context, c gen.Corpus, dir string) error {
	bin, err := e.build(ctx, "")
	if err != nil {
		return err
	}
	least := time.Duration(math.MaxInt64)
	again, err := repeat(3, func() error {
		cmd := exec.CommandContext(ctx, bin, "import", c.Dir)
		cmd.Env = home(dir)
		if err := silent(cmd); err != nil {
			return err
		}
		least = min(least, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		return nil
	})
	if err != nil {
		return err
	}
	e.add(row{
		what: fmt.Sprintf("a second run over %d unchanged files", c.Files), got: fmt.Sprintf("%s of CPU, %s", short(least), short(again.median())),
		goal: "40 ms of CPU", holds: holds(least <= 40*time.Millisecond),
	})
	return nil
}
