package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const branch = "entire/checkpoints/v1"

func main() {
	program := flag.String("skein", "bin/skein", "the program")
	list := flag.Bool("list", false, "list the wrong answers, by file, commit and session")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: provenance [-skein PROGRAM] [-list] REPOSITORY")
		os.Exit(2)
	}
	if err := run(*program, flag.Arg(0), *list); err != nil {
		fmt.Fprintln(os.Stderr, "provenance:", err)
		os.Exit(1)
	}
}

func run(program, repository string, list bool) (err error) {
	m := measurement{sessions: map[string]map[string]bool{}, counts: map[string]*count{}, list: list, wrong: map[string]int{}}
	if m.program, err = filepath.Abs(program); err != nil {
		return err
	}
	if m.repository, err = filepath.Abs(repository); err != nil {
		return err
	}
	if m.dir, err = os.MkdirTemp("", "provenance"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(m.dir)) }()
	m.clone = filepath.Join(m.dir, strings.TrimSuffix(filepath.Base(m.repository), ".git"))
	for _, step := range []func() error{m.cloned, m.transcripts, m.imported, m.commits, m.answers} {
		if err := step(); err != nil {
			return err
		}
	}
	m.print()
	return nil
}

type measurement struct {
	program, repository, dir, clone string

	list     bool
	sessions map[string]map[string]bool // of each checkpoint
	truth    map[string]map[string]bool // of each commit
	counts   map[string]*count          // by certainty
	lines    int                        // that have a truth
	unknown  int                        // that have none, and an answer
	others   int                        // that have none
	bots     int                        // of bots, that have an answer
	slowest  time.Duration
	wrong    map[string]int
}

type count struct{ right, wrong int }

func output(dir, program string, args ...string) ([]byte, error) {
	c := exec.Command(program, args...)
	c.Dir = dir
	out, err := c.Output()
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		return out, fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(args, " "), err, e.Stderr)
	}
	return out, err
}

func (m *measurement) cloned() error {
	_, err := output("", "git", "clone", "-q", m.repository, m.clone)
	return err
}

// transcripts writes the longest transcript of each session into a folder.
func (m *measurement) transcripts() error {
	tree, err := output(m.repository, "git", "ls-tree", "-r", "-l", branch)
	if err != nil {
		return err
	}
	sizes := map[string]int64{}
	for _, l := range lines(tree) {
		about, file, _ := strings.Cut(l, "\t")
		f := strings.Fields(about)
		dir, is := strings.CutSuffix(file, "/full.jsonl")
		if len(f) != 4 || !is || strings.Count(dir, "/") != 2 {
			continue
		}
		meta, err := output(m.repository, "git", "show", branch+":"+dir+"/metadata.json")
		if err != nil {
			return err
		}
		var meta2 struct {
			Session string `json:"session_id"`
		}
		if err := json.Unmarshal(meta, &meta2); err != nil {
			return err
		}
		checkpoint := strings.Replace(path(dir), "/", "", 1)
		if m.sessions[checkpoint] == nil {
			m.sessions[checkpoint] = map[string]bool{}
		}
		m.sessions[checkpoint][meta2.Session] = true
		var size int64
		if _, err := fmt.Sscan(f[3], &size); err != nil || size <= sizes[meta2.Session] {
			continue // absent from this copy, or shorter
		}
		data, err := output(m.repository, "git", "show", f[2])
		if err != nil {
			continue
		}
		sizes[meta2.Session] = size
		to := filepath.Join(m.dir, "transcripts", meta2.Session+".jsonl")
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// path returns the first two folders of dir.
func path(dir string) string { return dir[:strings.LastIndexByte(dir, '/')] }

func lines(b []byte) []string { return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") }

func (m *measurement) store() string { return filepath.Join(m.dir, "skein.db") }

func (m *measurement) imported() error {
	out, err := output(m.dir, m.program, "--store", m.store(), "import", "transcripts")
	fmt.Fprintf(os.Stderr, "%s", out)
	return err
}

// commits finds the sessions that each commit names.
func (m *measurement) commits() error {
	out, err := output(m.clone, "git", "log", "--format=%H %(trailers:key=Entire-Checkpoint,valueonly,separator=%x20)")
	if err != nil {
		return err
	}
	m.truth = map[string]map[string]bool{}
	for _, l := range lines(out) {
		f := strings.Fields(l)
		for _, checkpoint := range f[1:] {
			for s := range m.sessions[checkpoint] {
				if m.truth[f[0]] == nil {
					m.truth[f[0]] = map[string]bool{}
				}
				m.truth[f[0]][s] = true
			}
		}
	}
	return nil
}

type line struct {
	Line      int    `json:"line"`
	Commit    string `json:"commit"`
	Author    string `json:"author"`
	Certainty string `json:"certainty"`
	Session   string `json:"session"`
	Origin    string `json:"origin"`
}

// answers asks whose the lines of every file are.
func (m *measurement) answers() error {
	out, err := output(m.clone, "git", "ls-files", "-z")
	if err != nil {
		return err
	}
	for file := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if info, err := os.Lstat(filepath.Join(m.clone, file)); err != nil || !info.Mode().IsRegular() {
			continue
		}
		begun := time.Now()
		out, err := output(m.clone, m.program, "--store", m.store(), "blame", "--json", "./"+file)
		if err != nil {
			return err
		}
		m.slowest = max(m.slowest, time.Since(begun))
		for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
			var l line
			if err := d.Decode(&l); err != nil {
				return err
			}
			m.compare(file, &l)
		}
	}
	return nil
}

func (m *measurement) compare(file string, l *line) {
	truth := m.truth[l.Commit]
	if strings.HasSuffix(l.Author, "[bot]") && l.Session != "" {
		m.bots++
	}
	if len(truth) == 0 {
		m.others++
		if l.Session != "" {
			m.unknown++
		}
		return
	}
	m.lines++
	if l.Session == "" {
		return
	}
	c := m.counts[l.Certainty]
	if c == nil {
		c = &count{}
		m.counts[l.Certainty] = c
	}
	if truth[l.Session] || truth[l.Origin] {
		c.right++
		return
	}
	c.wrong++
	m.wrong[fmt.Sprintf("%s %s %.8s %s", l.Certainty, file, l.Commit, l.Session)]++
}

func (m *measurement) print() {
	fmt.Printf("%d lines whose commit names a session\n\n| evidence | right | wrong | precision | recall |\n| --- | --- | --- | --- | --- |\n", m.lines)
	var answers count
	row := func(name string, c count) {
		fmt.Printf("| %s | %d | %d | %.4f | %.4f |\n", name, c.right, c.wrong, float64(c.right)/float64(max(1, c.right+c.wrong)), float64(c.right)/float64(max(1, m.lines)))
	}
	for _, name := range slices.Sorted(maps.Keys(m.counts)) {
		c := *m.counts[name]
		row(name, c)
		if name != "earlier" && name != "file" {
			answers.right += c.right
			answers.wrong += c.wrong
		}
	}
	row("all answers (without the hints earlier and file)", answers)
	fmt.Printf("\n%d of %d lines whose commit names none have an answer; %d lines of bots have one; the slowest file took %v\n", m.unknown, m.others, m.bots, m.slowest.Round(time.Millisecond))
	if m.list {
		for _, k := range slices.SortedFunc(maps.Keys(m.wrong), func(a, b string) int { return cmp.Compare(m.wrong[b], m.wrong[a]) }) {
			fmt.Println(m.wrong[k], k)
		}
	}
}
