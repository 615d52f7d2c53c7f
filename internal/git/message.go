package git

import (
	"context"
	"fmt"
	"strings"
)

// Notes returns the objects of the notes under a reference, by the commits that they are
// about; none if there is no such reference. The error is Git's.
func (r WorkTree) Notes(ctx context.Context, ref string) (map[string]string, error) {
	if !r.has(ctx, ref) {
		return nil, ctx.Err()
	}
	out, err := r.run(ctx, "notes", "--ref="+ref, "list")
	all := map[string]string{}
	for l := range strings.Lines(string(out)) {
		if object, commit, ok := strings.Cut(strings.TrimSpace(l), " "); ok {
			all[commit] = object
		}
	}
	return all, err
}

// Object returns the bytes of an object. The error is Git's.
func (r WorkTree) Object(ctx context.Context, hash string) (string, error) {
	out, err := r.run(ctx, "cat-file", "blob", hash)
	return string(out), err
}

// AddNote adds a note about a commit under a reference. The error is Git's, also if the
// commit has one.
func (r WorkTree) AddNote(ctx context.Context, ref, commit, text string) error {
	c := r.command(ctx, "notes", "--ref="+ref, "add", "--file=-", commit)
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
