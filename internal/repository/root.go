package repository

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// maxCommits is how many commits firstCommit reads before it gives up.
const maxCommits = 20_000

// firstCommit follows the first parents of a commit to the one that has none;
// "" if the repository does not have it, or it is too far away.
func (r *repo) firstCommit(commit string) (string, error) {
	cut, err := small(filepath.Join(r.common, "shallow"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	ends := strings.Fields(string(cut))
	o := newObjects(filepath.Join(r.common, "objects"), len(commit)/2)
	defer o.close()
	for range maxCommits {
		if slices.Contains(ends, commit) {
			return "", nil
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
