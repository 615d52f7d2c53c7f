package repository

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxCommits is how many commits firstCommit reads before it gives up.
const maxCommits = 20_000

// firstCommit follows the first parents of a commit to the one that has none;
// "" if the repository does not have it, or it is too far away.
func (r *repo) firstCommit(commit string, c rootCache) (string, error) {
	cut, err := small(filepath.Join(r.common, "shallow"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	ends, known := strings.Fields(string(cut)), c.read()
	var marks []string
	o := newObjects(filepath.Join(r.common, "objects"), len(commit)/2)
	defer o.close()
	for n := range maxCommits {
		if root := known[commit]; root != "" {
			c.add(marks, root)
			return root, nil
		}
		if slices.Contains(ends, commit) {
			return "", nil
		}
		if n%markEvery == 0 {
			marks = append(marks, commit)
		}
		b, err := o.commit(commit)
		if err != nil {
			return "", fmt.Errorf("commit %s: %w", commit, err)
		}
		parent, err := firstParent(b)
		if err != nil {
			return "", fmt.Errorf("commit %s: %w", commit, err)
		}
		if parent == "" {
			c.add(marks, commit)
			return commit, nil
		}
		commit = parent
	}
	return "", nil
}

// firstParent returns the first parent that a commit names, "" if it has none.
func firstParent(b []byte) (string, error) {
	line, rest, _ := bytes.Cut(b, []byte{'\n'})
	if !bytes.HasPrefix(line, []byte("tree ")) {
		return "", errors.New("it does not begin with a tree")
	}
	line, _, _ = bytes.Cut(rest, []byte{'\n'})
	parent, is := bytes.CutPrefix(line, []byte("parent "))
	if !is {
		return "", nil
	}
	return hash(parent)
}

// markEvery is how many commits lie between two that a cache remembers: so many are read
// at most, once the way was gone.
const markEvery = 32

// A rootCache remembers which commits lead to which first one. It is a file of lines, each
// of the hash of a commit and that of the first one, separated by a space.
type rootCache struct{ dir, repository string }

func (c rootCache) file() string {
	sum := sha256.Sum256([]byte(c.repository))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16]))
}

// read returns the first commits by the commits that lead to them.
func (c rootCache) read() map[string]string {
	if c.dir == "" {
		return nil
	}
	b, err := os.ReadFile(c.file())
	if err != nil {
		return nil
	}
	known := map[string]string{}
	for line := range strings.Lines(string(b)) {
		commit, root, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if len(root) == len(commit) { // else the line is torn
			known[commit] = root
		}
	}
	return known
}

// add remembers where commits lead to, if the way was long. What cannot be written is
// found again.
func (c rootCache) add(marks []string, root string) {
	if c.dir == "" || len(marks) < 2 || os.MkdirAll(c.dir, 0o700) != nil {
		return
	}
	f, err := os.OpenFile(c.file(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // a torn line is left out
	_, _ = f.WriteString(strings.Join(marks, " "+root+"\n") + " " + root + "\n")
}
