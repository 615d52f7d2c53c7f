package git

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// AddedLines are what a commit adds.
type AddedLines struct {
	Commit *Commit
	Files  []string // that it changes, relative to the root
	Lines  []Line   // that it adds, by file
}

// Added returns the lines that a commit adds; of a merge none. The error is Git's.
func (r WorkTree) Added(ctx context.Context, hash string) (*AddedLines, error) {
	out, err := r.run(ctx, append(slices.Concat([]string{"show"}, bare(), []string{"--diff-merges=off", "--format=%H%n%an%n%ae%n%at%n%ct%n%s"}), hash, "--")...)
	if err != nil {
		return nil, err
	}
	return parseAdded(out)
}

// Staged returns the lines that the commit adds that would be made now. It has no Hash.
// The error is Git's.
func (r WorkTree) Staged(ctx context.Context) (*AddedLines, error) {
	out, err := r.run(ctx, append(append([]string{"diff", "--cached"}, bare()...), "--")...)
	if err != nil {
		return nil, err
	}
	a := &AddedLines{Commit: &Commit{}}
	a.patch(string(out))
	return a, nil
}

// bare are the options for a patch without context, whatever the settings.
func bare() []string {
	return []string{"--no-color", "--no-ext-diff", "--no-textconv", "--unified=0", "--find-renames", "--src-prefix=a/", "--dst-prefix=b/", "--inter-hunk-context=0"}
}

// parseAdded reads a commit's hash, author, address, both times and subject, one a line, and
// a patch without context.
func parseAdded(out []byte) (*AddedLines, error) {
	head := strings.SplitN(string(out), "\n", 7)
	if len(head) < 7 {
		return nil, fmt.Errorf("git show: %q is no commit", out[:min(len(out), 40)])
	}
	a := &AddedLines{Commit: &Commit{Hash: head[0], Author: head[1], Mail: head[2], Time: seconds(head[3]), Put: seconds(head[4]), Subject: head[5]}}
	a.patch(head[6])
	return a, nil
}

// patch reads a patch without context.
func (a *AddedLines) patch(text string) {
	file, was, number := "", "", 0
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		switch {
		case number == 0 && strings.HasPrefix(l, "--- "):
			was = ""
			from, _, _ := strings.Cut(unquoted(strings.TrimPrefix(l, "--- ")), "\t")
			if name, ok := strings.CutPrefix(from, "a/"); ok && a.Commit.Hash != "" {
				was = a.Commit.Hash + "^:" + name
			} else if ok {
				was = "HEAD:" + name
			}
		case number == 0 && strings.HasPrefix(l, "+++ "):
			to, _, _ := strings.Cut(unquoted(strings.TrimPrefix(l, "+++ ")), "\t") // a tab follows a name with spaces
			if name, ok := strings.CutPrefix(to, "b/"); ok {
				file, a.Files = name, append(a.Files, name)
			}
		case strings.HasPrefix(l, "@@ "):
			_, at, _ := strings.Cut(l, " +")
			at, _, _ = strings.Cut(at, " ")
			at, _, _ = strings.Cut(at, ",")
			number, _ = strconv.Atoi(at)
		case strings.HasPrefix(l, "diff --git "):
			number = 0
		case number > 0 && strings.HasPrefix(l, "+"):
			a.Lines = append(a.Lines, Line{number, number, a.Commit, file, was, strings.TrimSuffix(l[1:], "\r")})
			number++
		}
	}
}

// Revisions returns the hashes of the commits that a revision or a range names, the
// newest first: of a range all, of a branch those that the branch main or master does not
// have, here or at origin, if there are any, and else the commit and those before it; at most so many. The
// error is Git's.
func (r WorkTree) Revisions(ctx context.Context, name string, most int) ([]string, error) {
	list := func(args ...string) ([]string, error) {
		out, err := r.run(ctx, append([]string{"rev-list", "--no-merges", "--max-count=" + strconv.Itoa(most)}, args...)...)
		return strings.Fields(string(out)), err
	}
	if strings.HasPrefix(name, "-") {
		return nil, &saidError{fmt.Sprintf("%q is not a revision", name)}
	}
	if !strings.Contains(name, "..") && r.has(ctx, "refs/heads/"+name) {
		for _, trunk := range []string{"refs/heads/main", "refs/heads/master", "refs/remotes/origin/main", "refs/remotes/origin/master"} {
			if trunk == "refs/heads/"+name || !r.has(ctx, trunk) {
				continue
			}
			if all, err := list(name, "^"+trunk, "--"); err != nil || len(all) > 0 {
				return all, err
			}
		}
	}
	return list(name, "--")
}

// has reports whether there is such a reference.
func (r WorkTree) has(ctx context.Context, ref string) bool {
	_, err := r.run(ctx, "rev-parse", "--verify", "--quiet", ref)
	return err == nil
}

// IsBranch reports whether there is a branch with this name.
func (r WorkTree) IsBranch(ctx context.Context, name string) bool {
	return r.has(ctx, "refs/heads/"+name)
}

// Branch returns the branch that is checked out; HEAD if none is.
func (r WorkTree) Branch(ctx context.Context) string {
	out, err := r.run(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil {
		return "HEAD"
	}
	return strings.TrimSpace(string(out))
}

// Touching returns the hashes of the commits of all branches since a time that change
// one of these files, the oldest first. The error is Git's.
func (r WorkTree) Touching(ctx context.Context, files []string, since skein.Time) ([]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	args := []string{"--literal-pathspecs", "log", "--branches", "--remotes", "--no-merges", "--reverse", "--format=%H", "--since=" + since.Std().Format(time.RFC3339), "HEAD", "--"}
	out, err := r.run(ctx, append(args, files...)...)
	return strings.Fields(string(out)), err
}

// Since returns the commits of HEAD and of these references since a time, the oldest first,
// without Author and Mail. The error is Git's.
func (r WorkTree) Since(ctx context.Context, since skein.Time, refs ...string) (all []Commit, err error) {
	args := append([]string{"log", "--no-merges", "--reverse", "--format=%H %at %s", "--since=" + since.Std().Format(time.RFC3339)}, refs...)
	out, err := r.run(ctx, append(args, "HEAD", "--")...)
	for l := range strings.Lines(string(out)) {
		hash, rest, _ := strings.Cut(strings.TrimSuffix(l, "\n"), " ")
		at, subject, _ := strings.Cut(rest, " ")
		all = append(all, Commit{Hash: hash, Time: seconds(at), Subject: subject})
	}
	return all, err
}

// The references of [WorkTree.Since].
const (
	Branches = "--branches"
	Remotes  = "--remotes"
)

// EachAdded passes the lines that commits add to take, commit by commit; of a merge none.
// The error is Git's; in a partial clone, lines may not be there.
func (r WorkTree) EachAdded(ctx context.Context, hashes []string, take func(hash, line string)) (err error) {
	if len(hashes) == 0 {
		return nil
	}
	c := r.command(ctx, append(append([]string{"log", "--no-walk=unsorted", "--stdin"}, bare()...), "--patch", "--diff-merges=off", "--format=%x00%H")...)
	c.Stdin = strings.NewReader(strings.Join(hashes, "\n") + "\n")
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	hash, read := "", bufio.NewReader(out)
	for {
		l, err := read.ReadString('\n')
		l = strings.TrimSuffix(l, "\n")
		if name, ok := strings.CutPrefix(l, "\x00"); ok {
			hash = name
		} else if added, ok := strings.CutPrefix(l, "+"); ok {
			take(hash, added)
		}
		if err != nil {
			return c.Wait()
		}
	}
}
