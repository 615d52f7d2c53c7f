package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
)

// A WorkTree is a working tree of a repository.
type WorkTree struct {
	Root    string   // absolute path of its top folder
	Dir     string   // absolute path of the folder that Git keeps for it, such as ROOT/.git
	Common  string   // absolute path of the folder that all working trees of the repository share; of the main one it is Dir
	Remotes []string // addresses that the repository fetches from, from its configuration
	filters []string // arguments that keep Git from running the filters that the repository itself names
}

// A Commit is what a commit says of itself.
type Commit struct {
	Hash    string // "" if the line is not committed
	Author  string
	Mail    string     // without < and >
	Time    skein.Time // when the author made it
	Put     skein.Time // when it was made as it is, by an amendment or a rebase too; 0 if that is not known
	Subject string
}

// ByBot reports whether the author is a program: GitHub's applications commit as
// name[bot], other programs under a name whose last word is bot, or as GitHub Actions.
func (c *Commit) ByBot() bool {
	words := strings.FieldsFunc(strings.ToLower(c.Author), func(r rune) bool { return r == '-' || r == ' ' || r == '_' })
	user, host, _ := strings.Cut(strings.ToLower(c.Mail), "@")
	return strings.HasSuffix(c.Author, "[bot]") || strings.HasSuffix(user, "[bot]") ||
		len(words) > 1 && words[len(words)-1] == "bot" ||
		strings.EqualFold(c.Author, "GitHub Actions") || user == "actions" && host == "github.com" || user == "bot" && host == "renovateapp.com"
}

// ofRequest is how the subject of a commit ends that a forge made of a whole pull or merge
// request: its number.
var ofRequest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\([#!]\d+\)$`) })

// OfRequest reports whether the commit has all of a pull or merge request, squashed.
func (c *Commit) OfRequest() bool { return ofRequest().MatchString(c.Subject) }

// A Line is a line of a file, with the commit that it is from.
type Line struct {
	Number   int // from 1
	Original int // number that it had in that commit
	Commit   *Commit
	Path     string // of the file in that commit, relative to the root
	Was      string // name of the object with the file as it was before that commit; "" if there was none
	Text     string // without its end
}

// Open returns the working tree that a folder is in. The error wraps [skein.ErrNotFound]
// if there is none, [exec.ErrNotFound] if the git program is missing, and is the system's
// if the folder cannot be read.
func Open(ctx context.Context, dir string) (WorkTree, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return WorkTree{}, err
	}
	out, err := WorkTree{Root: dir}.run(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel", "--absolute-git-dir", "--git-common-dir")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return WorkTree{}, err
	case err != nil:
		return WorkTree{}, fmt.Errorf("%s: %w: %w", dir, skein.ErrNotFound, err)
	}
	paths := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(paths) != 3 {
		return WorkTree{}, fmt.Errorf("%s: git rev-parse prints %q, want three paths", dir, out)
	}
	r := WorkTree{Root: filepath.FromSlash(paths[0]), Dir: filepath.FromSlash(paths[1]), Common: filepath.FromSlash(paths[2])}
	for _, l := range r.settings(ctx, `^(filter\.|remote\..*\.url$)`) {
		if strings.HasPrefix(l[0], "remote.") {
			r.Remotes = append(r.Remotes, l[1])
			continue
		}
		name := l[0][:strings.LastIndexByte(l[0], '.')] // such as filter.lfs
		r.filters = append(r.filters, "-c", name+".clean=", "-c", name+".smudge=", "-c", name+".process=", "-c", name+".required=false")
	}
	return r, nil
}

// settings returns the names and values of the repository's own settings that match.
func (r WorkTree) settings(ctx context.Context, match string) (all [][2]string) {
	out, err := r.run(ctx, "config", "--local", "--includes", "--get-regexp", match)
	if err != nil {
		return nil // there are none
	}
	for l := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(l), " ")
		all = append(all, [2]string{name, value})
	}
	return all
}

// maxOutput bounds what a command of Git prints, in bytes.
const maxOutput = 256 << 20

// run returns what a command of Git prints, at most 256 MiB. The error has what it said.
func (r WorkTree) run(ctx context.Context, args ...string) ([]byte, error) {
	c := r.command(ctx, args...)
	said, out := headBuffer{room: 1 << 10}, headBuffer{room: maxOutput}
	c.Stderr, c.Stdout = &said, &out
	err := c.Run()
	if out.full {
		return nil, &saidError{fmt.Sprintf("git %s: it prints more than %d MiB: too much to look at", args[0], maxOutput>>20)}
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(said.String()), "fatal: "), "\n")
		return nil, &saidError{fmt.Sprintf("git %s: %s", args[0], first)}
	}
	return out.Bytes(), err
}

// A headBuffer keeps the first bytes that are written to it.
type headBuffer struct {
	bytes.Buffer
	room int
	full bool // there were more
}

func (b *headBuffer) Write(p []byte) (int, error) {
	n := min(len(p), b.room-b.Len())
	b.full = b.full || n < len(p)
	b.Buffer.Write(p[:n])
	return len(p), nil
}

// ErrRefused says that Git does not do what it was asked for: there is no such file, line
// or revision, or it does not fit.
var ErrRefused = errors.New("git refused")

// A saidError is what Git says of that. It wraps ErrRefused.
type saidError struct{ text string }

func (e *saidError) Error() string { return e.text }

func (e *saidError) Unwrap() error { return ErrRefused }

func (r WorkTree) command(ctx context.Context, args ...string) *exec.Cmd {
	quiet := []string{"-C", r.Root, "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false", "-c", "log.showSignature=false"}
	quiet = append(quiet, r.filters...)
	c := exec.CommandContext(ctx, "git", append(quiet, args...)...)
	c.Env = append(c.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	return c
}

// Blame returns lines first to last of a file, whose path is relative to the root; last
// 0 is the end. Without a revision, it is the file as it is now. Lines that are not
// committed have a Commit without a Hash. The error is Git's.
func (r WorkTree) Blame(ctx context.Context, revision, path string, first, last int) ([]Line, error) {
	args := []string{"blame", "--porcelain", "--no-textconv"}
	if strings.HasPrefix(revision, "-") {
		return nil, &saidError{fmt.Sprintf("%q is not a revision", revision)}
	}
	if first > 0 {
		to := ""
		if last > 0 {
			to = strconv.Itoa(last)
		}
		args = append(args, "-L", fmt.Sprintf("%d,%s", first, to))
	}
	if revision != "" {
		args = append(args, revision)
	}
	out, err := r.run(ctx, append(args, "--", path)...)
	if err != nil {
		return nil, err
	}
	return parseBlame(out), nil
}

// parseBlame reads the format that git-blame(1) describes as porcelain: for each line a
// header of its commit's hash and line numbers, what is known of the commit when it is
// named first, and the line after a tab.
func parseBlame(out []byte) (all []Line) {
	commits, paths, were := map[string]*Commit{}, map[string]string{}, map[string]string{}
	var at *Commit
	var hash string
	number, original := 0, 0
	for line := range bytes.Lines(out) {
		l := strings.TrimSuffix(string(line), "\n")
		if text, ok := strings.CutPrefix(l, "\t"); ok {
			all = append(all, Line{number, original, at, paths[hash], were[hash], strings.TrimSuffix(text, "\r")})
			continue
		}
		name, value, _ := strings.Cut(l, " ")
		if f := strings.Fields(value); len(name) >= 40 && len(f) >= 2 {
			hash = name
			original, _ = strconv.Atoi(f[0])
			number, _ = strconv.Atoi(f[1])
			if at = commits[hash]; at == nil {
				at = &Commit{Hash: hash}
				if strings.Trim(hash, "0") == "" {
					at.Hash = ""
				}
				commits[hash] = at
			}
			continue
		}
		switch name {
		case "author":
			at.Author = value
		case "author-mail":
			at.Mail = strings.Trim(value, "<>")
		case "author-time":
			at.Time = seconds(value)
		case "committer-time":
			at.Put = seconds(value)
		case "summary":
			at.Subject = value
		case "previous":
			commit, path, _ := strings.Cut(value, " ")
			were[hash] = commit + ":" + unquoted(path)
		case "filename":
			paths[hash] = unquoted(value)
		}
	}
	return all
}

// unquoted returns a path as it is: Git puts one with quotes or control characters in
// quotes, as in C.
func unquoted(path string) string {
	if p, err := strconv.Unquote(path); err == nil {
		return p
	}
	return path
}

func seconds(s string) skein.Time {
	n, _ := strconv.ParseInt(s, 10, 64)
	return skein.At(time.Unix(n, 0))
}

// maxAncestors bounds how many commits are read to find one author's commit before.
const maxAncestors = 2000

// An ObjectReader reads objects, one after the other, through one process. Close it.
type ObjectReader struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	gaveUp  func() error // why the caller gave up; nil if the caller did not
}

// Objects starts to read objects. The error is the system's.
func (r WorkTree) Objects(ctx context.Context) (*ObjectReader, error) {
	o := &ObjectReader{process: r.command(ctx, "cat-file", "--batch"), gaveUp: ctx.Err}
	var err error
	if o.in, err = o.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := o.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	o.out = bufio.NewReader(out)
	return o, o.process.Start()
}

// Close ends the process. The error is the system's.
func (o *ObjectReader) Close() error {
	err := o.in.Close()
	_, _ = io.Copy(io.Discard, o.out)
	if err2 := o.process.Wait(); o.gaveUp() == nil {
		return errors.Join(err, err2)
	}
	return nil // it was killed
}

// A StoredObject is what Git keeps under a hash.
type StoredObject struct {
	Hash, Kind string // Kind is blob, commit, tree or tag
	Body       []byte
}

// Read returns the object that a name means, such as an abbreviated hash; nil if it is not
// there, as in a shallow clone. The error is Git's.
func (o *ObjectReader) Read(name string) (*StoredObject, error) {
	if strings.Contains(name, "\n") {
		return nil, nil
	}
	if _, err := fmt.Fprintln(o.in, name); err != nil {
		return nil, err
	}
	head, err := o.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	f := strings.Fields(head)
	if len(f) != 3 || strings.HasSuffix(head, " missing\n") { // the name may have spaces
		return nil, nil
	}
	size, err := strconv.Atoi(f[2])
	if err != nil {
		return nil, err
	}
	body := make([]byte, size+1)
	if _, err := io.ReadFull(o.out, body); err != nil {
		return nil, err
	}
	return &StoredObject{f[0], f[1], body[:size]}, nil
}

// Ancestry reads commits, one after the other, through one process. Close it.
type Ancestry struct {
	*ObjectReader
	known map[string]*commit
}

type commit struct {
	hash, parent, mail string
	time               skein.Time
}

// Ancestry starts to read commits. The error is the system's.
func (r WorkTree) Ancestry(ctx context.Context) (*Ancestry, error) {
	o, err := r.Objects(ctx)
	return &Ancestry{o, map[string]*commit{}}, err
}

// Before returns when the author of c committed before, on the way through first
// parents: 0 if c is the author's first commit there. Of more than 2,000 commits without
// one of the author it returns when the last of them was made. The error is Git's.
func (a *Ancestry) Before(c *Commit) (skein.Time, error) {
	at, err := a.read(c.Hash)
	for range maxAncestors {
		if err != nil || at == nil || at.parent == "" {
			return 0, err
		}
		if at, err = a.read(at.parent); err == nil && at != nil && at.mail == c.Mail && at.time <= c.Time {
			return at.time, nil
		}
	}
	if err != nil || at == nil {
		return 0, err
	}
	return min(at.time, c.Time), nil
}

// Find returns the whole hash of the commit that an abbreviated one means, and when its
// author made it; "" if it is not there. The error is Git's.
func (a *Ancestry) Find(hash string) (whole string, at skein.Time, err error) {
	o, err := a.read(hash)
	if err != nil || o == nil {
		return "", 0, err
	}
	return o.hash, o.time, nil
}

// read returns a commit; nil if it is not there, as in a shallow clone.
func (a *Ancestry) read(hash string) (*commit, error) {
	if o, ok := a.known[hash]; ok || hash == "" {
		return o, nil
	}
	o, err := a.Read(hash)
	if err != nil {
		return nil, err
	}
	a.known[hash] = nil
	if o != nil && o.Kind == "commit" {
		c := parseCommit(o.Body)
		c.hash = o.Hash
		a.known[hash] = c
	}
	return a.known[hash], nil
}

func parseCommit(body []byte) *commit {
	o := &commit{}
	for line := range bytes.Lines(body) {
		name, value, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		switch {
		case name == "":
			return o
		case name == "parent" && o.parent == "":
			o.parent = value
		case name == "author":
			if open, end := strings.LastIndexByte(value, '<'), strings.LastIndexByte(value, '>'); open >= 0 && end > open {
				o.mail = value[open+1 : end]
				at, _, _ := strings.Cut(strings.TrimSpace(value[end+1:]), " ")
				o.time = seconds(at)
			}
		}
	}
	return o
}

// At returns the hash of the newest commit, on the way from HEAD, that is not younger than
// a time; "" if there is none. The error is Git's.
func (r WorkTree) At(ctx context.Context, t skein.Time) (string, error) {
	out, err := r.run(ctx, "rev-list", "--max-count=1", "--before="+t.Std().Format(time.RFC3339), "HEAD", "--")
	return strings.TrimSpace(string(out)), err
}

const symlink = "120000" // mode of a tree's entry

// Content returns the mode and the text of a file as it is in a commit; "" for both if the
// commit does not have it, has a symbolic link there, or is not there itself. The error is
// Git's.
func (r WorkTree) Content(ctx context.Context, hash, path string) (mode, text string, err error) {
	if hash == "" {
		return "", "", nil
	}
	entry, err := r.run(ctx, "--literal-pathspecs", "ls-tree", "-z", "--full-tree", hash, "--", path)
	f := strings.Fields(string(entry))
	if err != nil || len(f) < 3 || f[1] != "blob" || f[0] == symlink {
		return "", "", err
	}
	out, err := r.run(ctx, "cat-file", "blob", f[2])
	return f[0], string(out), err
}

// Apply changes the files of the working tree as a patch says, all or none. The error is
// Git's, with what does not fit.
func (r WorkTree) Apply(ctx context.Context, patch string, how ...string) error {
	c := r.command(ctx, append([]string{"apply", "--whitespace=nowarn", "--no-ignore-whitespace"}, how...)...)
	c.Stdin = strings.NewReader(patch)
	out, err := c.CombinedOutput()
	if err != nil && len(out) > 0 {
		return &saidError{strings.ReplaceAll(strings.TrimSpace(string(out)), "error: ", "")}
	}
	return err
}
