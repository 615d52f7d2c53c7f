package archtest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres"
	"github.com/skein-dev/skein/store/sqlite"
)

var update = flag.Bool("update", false, "write what the commands answer into README.md and docs/")

// What differs between two runs of the same command: how long it took, the IDs
// of sessions that it makes, the size of the file, what the system has free.
var passing = regexp.MustCompile(`\bin [\d.]+ ?(ms|s)\b|\([\d.]+ s\)|[\d.]+ [kKMGT]?B(/s)?|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{8}\b|skein_[A-Za-z0-9_-]{43}|SQLite \S+|/[^ \n]*/(home|skein)\b`)

// TestTheReadmeIsTrue types what stands after each $ in the console blocks of the
// README, and of each page of docs/, and compares the answers: as on a terminal of
// 96 columns, without colors, on 21 November 2026, one a second, in the top folder,
// with a new store for each page. "echo TEXT | " before a command, "| head -n N"
// after it and ~ work.
func TestTheReadmeIsTrue(t *testing.T) {
	t.Chdir(root)
	agePerPath(t, "examples")
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range append(pages, "README.md") {
		t.Run(page, func(t *testing.T) {
			b, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			have := string(b)
			p := &person{t: t, page: page, home: t.TempDir()}
			want := p.console(have)
			if *update {
				if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			a, answered := strings.Split(passing.ReplaceAllString(have, "~"), "\n"), strings.Split(passing.ReplaceAllString(want, "~"), "\n")
			for i := range min(len(a), len(answered)) {
				if squeeze(a[i]) != squeeze(answered[i]) {
					t.Fatalf("%s:%d says\n\t%s\nbut the command answers\n\t%s\ngo test ./internal/archtest -run Readme -update writes it anew", page, i+1, a[i], answered[i])
				}
			}
			if len(a) != len(answered) {
				t.Errorf("%s has %d lines, with the commands' answers it has %d", page, len(a), len(answered))
			}
		})
	}
}

// agePerPath makes each of the samples a second newer than the one before it by
// path, as a checkout does: of two files with the same records the older one is
// the original.
func agePerPath(t *testing.T, dir string) {
	t.Helper()
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		at = at.Add(time.Second)
		return os.Chtimes(path, at, at)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// squeeze makes one space of several: a figure that is longer moves columns.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// A person types commands.
type person struct {
	t     *testing.T
	page  string
	home  string
	typed int // commands
	dsn   string
}

// console returns text with the answers to the commands in it.
func (p *person) console(text string) string {
	var out strings.Builder
	typed := false // in a block, after a command
	in := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "```"):
			in, typed = strings.HasPrefix(line, "```console"), false
			out.WriteString(line)
		case in && strings.HasPrefix(line, "$ "):
			typed = true
			out.WriteString(line + p.answer(strings.TrimSpace(line[2:])))
		case !in || !typed:
			out.WriteString(line)
		}
	}
	return out.String()
}

var (
	echo = regexp.MustCompile(`^echo '([^']*)' \| `)
	head = regexp.MustCompile(` \| head -n (\d+)$`)
	word = regexp.MustCompile(`'([^']*)'|(\S+)`)
)

// answer runs a command and returns what it prints on both streams.
func (p *person) answer(command string) string {
	var out bytes.Buffer
	stdin, lines := "", 0
	if m := echo.FindStringSubmatch(command); m != nil {
		stdin, command = m[1]+"\n", command[len(m[0]):]
	}
	if m := head.FindStringSubmatch(command); m != nil {
		fmt.Sscan(m[1], &lines)
		command = strings.TrimSuffix(command, m[0])
	}
	var args []string
	for _, m := range word.FindAllStringSubmatch(command, -1) {
		arg := m[1] + m[2]
		if rest, ok := strings.CutPrefix(arg, "~/"); ok {
			arg = filepath.Join(p.home, rest)
		}
		args = append(args, arg)
	}
	if args[0] != "skein" {
		p.t.Fatalf("%s: %q is not a command of ours", p.page, command)
	}
	p.run(args[1:], stdin, &out)
	text := strings.ReplaceAll(out.String(), p.home, "/home/ada")
	if here, err := os.Getwd(); err == nil {
		text = strings.ReplaceAll(text, here, "/src/skein")
	}
	if all := strings.SplitAfter(text, "\n"); lines > 0 && len(all) > lines {
		text = strings.Join(all[:lines], "")
	}
	var trimmed strings.Builder
	for l := range strings.Lines(text) {
		trimmed.WriteString(strings.TrimRight(l, " \n") + "\n")
	}
	return trimmed.String()
}

// open opens the one database that there is, whatever its name.
func (p *person) open(ctx context.Context) (skein.Store, error) {
	if p.dsn == "" {
		p.dsn = pgtest.DSN(p.t)
	}
	return postgres.Open(ctx, p.dsn, postgres.Options{})
}

func (p *person) run(args []string, stdin string, out *bytes.Buffer) {
	env := map[string]string{"HOME": p.home, "USERPROFILE": p.home, "NO_COLOR": "1"}
	p.typed++
	now := time.Date(2026, 11, 21, 12, 0, p.typed, 0, time.UTC)
	cli.Main(p.t.Context(), &config.Env{
		Stdin: strings.NewReader(stdin), Stdout: out, Stderr: out,
		Terminal: config.TerminalInfo{Out: true, Width: 96, Height: 1000},
		Getenv:   func(name string) string { return env[name] },
		Getwd:    os.Getwd,
		Now:      func() time.Time { return now },
		OS:       "linux",
		Version:  "0.1.0",
		Open: func(ctx context.Context, at config.Place) (skein.Store, error) {
			if at.Scheme == "postgres" {
				return p.open(ctx)
			}
			return sqlite.Open(ctx, at.Path, sqlite.Options{Clock: func() time.Time { return now }})
		},
	}, args)
}
