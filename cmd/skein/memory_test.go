//go:build unix && !race

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// mostMemory is the most memory that a process may use during any import, in bytes.
const mostMemory = 256 << 20

// TestAnImportStaysSmallWhateverTheFile imports hostile files, each in a process of
// its own, and measures the peak memory use.
func TestAnImportStaysSmallWhateverTheFile(t *testing.T) {
	const begin = `{"type":"user","isSidechain":false,"userType":"external","sessionId":"b0a7ce01-0000-4000-8000-00000000feed",` +
		`"uuid":"00000001-1111-4222-8333-000000000001","timestamp":"2026-11-20T10:00:01.000Z","message":{"role":"user","content":"`
	large := 500 // MB
	if testing.Short() {
		large = 300 // more than it may have in memory
	}
	for _, c := range []struct {
		name, file, piece string
		times             int
		end               string
	}{
		{"a long line of NUL bytes", "a.jsonl", strings.Repeat("\x00", 1<<20), large, ""},
		{"a long line", "a.jsonl", strings.Repeat("word ", 200_000), large, "\"}}\n"},
		{"a message of almost 20 MB", "a.jsonl", strings.Repeat("word ", 200_000), 20, "\"}}\n"},
		{"60 MB of brackets", "a.jsonl", strings.Repeat("[", 1_000_000), 60, ""},
		{"a bomb", "a.jsonl.zst", strings.Repeat("\x00", 1<<20), large + 100, ""},
		{"200,000 records of nothing", "a.jsonl", strings.Repeat("\n{}", 2000), 100, "\n"},
	} {
		dir := t.TempDir()
		at := filepath.Join(dir, ".claude", "projects", "p", c.file)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := writePieces(at, begin, c.piece, c.times, c.end); err != nil {
			t.Fatal(err)
		}
		if peak := peakOf(t, dir, "import", at); peak > mostMemory {
			t.Errorf("%s: skein import had %d MB in memory, want at most %d", c.name, peak>>20, mostMemory>>20)
		} else {
			t.Logf("%s: %d MB", c.name, peak>>20)
		}
	}
}

// TestALongMessageIsReadInLittleMemory reads and exports a message of 20 MiB, which is six
// times as long in JSON: the JSON may be in memory only once, beside the text itself twice,
// because a copy that is no longer used may not be collected yet.
//
// Amplifier has some of the JSON again when it reads back what it wrote. A row of a database
// that has all of the JSON is there three times: SQLite copies what it is given, and makes a
// record of it.
func TestALongMessageIsReadInLittleMemory(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "long.txt")
	if err := writePieces(at, "", strings.Repeat("\x01", 1<<20), 20, ""); err != nil {
		t.Fatal(err)
	}
	const (
		ofAmplifier = 288 << 20
		ofDatabases = 512 << 20
	)
	for _, c := range []struct {
		most int64
		args []string
	}{
		{mostMemory, []string{"append", "cli:long", at, "--create"}},
		{mostMemory, []string{"show", "cli:long", "--events"}},
		{mostMemory, []string{"export", "cli:long", "--to", "claude-code"}},
		{mostMemory, []string{"export", "cli:long", "--to", "codex"}},
		{mostMemory, []string{"export", "cli:long", "--to", "pi"}},
		{mostMemory, []string{"export", "cli:long", "--to", "ethos"}},
		{mostMemory, []string{"export", "cli:long", "--to", "agsh"}},
		{mostMemory, []string{"export", "cli:long", "--to", "atif"}},
		{mostMemory, []string{"export", "cli:long", "--to", "otel-genai"}},
		{ofDatabases, []string{"export", "cli:long", "--to", "skillet"}},
		{ofDatabases, []string{"export", "cli:long", "--to", "opencode"}},
		{mostMemory, []string{"export", "cli:long", "--to", "agentuse"}},
		{ofAmplifier, []string{"export", "cli:long", "--to", "amplifier"}},
	} {
		if c.most > mostMemory && testing.Short() {
			continue
		}
		name := strings.Join(c.args, " ")
		if c.args[0] == "export" {
			c.args = append(c.args, "-o", filepath.Join(dir, c.args[3]))
		}
		if peak := peakOf(t, dir, c.args...); peak > c.most {
			t.Errorf("skein %s had %d MB in memory, want at most %d", name, peak>>20, c.most>>20)
		} else {
			t.Logf("%s: %d MB", name, peak>>20)
		}
	}
}

// writePieces writes a file, compressed if its name says so.
func writePieces(path, begin, piece string, times int, end string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	var w io.WriteCloser = f
	if strings.HasSuffix(path, ".zst") {
		z, err := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return errors.Join(err, f.Close())
		}
		w = z
	}
	_, err = io.WriteString(w, begin)
	for range times {
		if err == nil {
			_, err = io.WriteString(w, piece)
		}
	}
	if err == nil {
		_, err = io.WriteString(w, end)
	}
	if w != io.WriteCloser(f) {
		err = errors.Join(err, w.Close())
	}
	return errors.Join(err, f.Close())
}

// peakOf runs a command with its home folder in dir and returns its peak memory use
// in bytes.
func peakOf(t *testing.T, dir string, args ...string) int64 {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd, at := exec.Command(self, args...), filepath.Join(t.TempDir(), "peak")
	cmd.Dir = dir
	cmd.Env = []string{asProgram + "=measured", peakFile + "=" + at, "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SKEIN_HOME=" + filepath.Join(dir, "skein")}
	// The exit code is 1 if nothing was imported from a named file: it has one record
	// at most.
	if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("skein %q = %v: %s", args, err, out)
	}
	b, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	peak, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || peak == 0 {
		t.Fatalf("the system says that the process had %q bytes of memory: %v", b, err)
	}
	return peak
}
