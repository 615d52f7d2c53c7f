package git

import (
	"context"
	"fmt"
	"strings"
)

// A NoteRef is the notes under a reference, such as refs/notes/commits.
type NoteRef struct {
	tree WorkTree
	name string
}

// Notes returns the notes under a reference, which need not exist.
func (r WorkTree) Notes(ref string) NoteRef { return NoteRef{r, ref} }

// All returns the objects of the notes, by the commits that they are about; none if the
// reference does not exist. The error is Git's.
func (n NoteRef) All(ctx context.Context) (map[string]string, error) {
	if !n.tree.has(ctx, n.name) {
		return nil, ctx.Err()
	}
	out, err := n.tree.run(ctx, "notes", "--ref="+n.name, "list")
	all := map[string]string{}
	for l := range strings.Lines(string(out)) {
		if object, commit, ok := strings.Cut(strings.TrimSpace(l), " "); ok {
			all[commit] = object
		}
	}
	return all, err
}

// Text returns the text of a note, by its object. The error is Git's.
func (n NoteRef) Text(ctx context.Context, object string) (string, error) {
	out, err := n.tree.run(ctx, "cat-file", "blob", object)
	return string(out), err
}

// Add adds a note about a commit. The error is Git's, also if the commit has one.
func (n NoteRef) Add(ctx context.Context, commit, text string) error {
	c := n.tree.command(ctx, "notes", "--ref="+n.name, "add", "--file=-", commit)
	c.Stdin = strings.NewReader(text)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("git notes: %s", strings.TrimPrefix(strings.TrimSpace(string(out)), "error: "))
	}
	return nil
}

// Merging reports whether the commit that would be made now is a merge.
func (r WorkTree) Merging(ctx context.Context) bool { return r.has(ctx, "MERGE_HEAD") }

// Says reports whether the text of a commit's message is more than comments. The error is
// Git's.
func (r WorkTree) Says(ctx context.Context, text string) (bool, error) {
	c := r.command(ctx, "stripspace", "--strip-comments")
	c.Stdin = strings.NewReader(text)
	out, err := c.Output()
	return len(out) > 0, err
}

// AddTrailers adds trailers, in the form "Name: value", to those at the end of the message
// of a commit in a file; those that it has stay once. The error is Git's.
func (r WorkTree) AddTrailers(ctx context.Context, file string, trailers []string) error {
	args := []string{"interpret-trailers", "--in-place", "--no-divider", "--where=end", "--if-exists=addIfDifferent", "--if-missing=add"}
	for _, t := range trailers {
		args = append(args, "--trailer="+t)
	}
	_, err := r.run(ctx, append(args, file)...)
	return err
}
