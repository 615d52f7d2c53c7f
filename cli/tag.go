package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
)

// maxTag is the longest tag, in bytes.
const maxTag = 64

type tagOptions struct{ json bool }

func newTag(f *frame) *cobra.Command {
	var o tagOptions
	c := &cobra.Command{
		Use:   "tag NAME [TAG | +TAG | -TAG]... [flags]",
		Short: "add tags to a session, or remove them",
		Long: `Add tags to a session (TAG or +TAG), remove tags (-TAG), and print the tags that
it has, one per line. Without tags, only print. To find the sessions with a tag,
use skein list --tag.`,
		Example: `skein tag - parser +urgent -later`,
		Args:    words(1, -1, "the NAME of a session"),
		RunE:    f.withStore(o.run),
	}
	jsonFlag(c, &o.json)
	return c
}

func (o *tagOptions) run(ctx context.Context, j *job, args []string) error {
	add, remove, err := parseTags(args[1:])
	if err != nil {
		return err
	}
	s, err := j.session(ctx, unprotect(args[0]))
	if err != nil {
		return err
	}
	tags, err := j.retag(ctx, s, add, remove)
	if err != nil {
		return err
	}
	if o.json {
		return j.writeSession(ctx, s.ID)
	}
	for _, t := range tags {
		if _, err := fmt.Fprintln(j.Stdout, t); err != nil {
			return err
		}
	}
	return nil
}

// retag changes the tags of s and returns the new ones. If another program changes
// the session meanwhile, it starts over.
func (j *job) retag(ctx context.Context, s skein.Session, add, remove []string) ([]string, error) {
	for {
		tags := slices.DeleteFunc(append(slices.Clone(s.Tags), add...), func(t string) bool { return slices.Contains(remove, t) })
		slices.Sort(tags)
		tags = slices.Compact(tags)
		if slices.Equal(tags, s.Tags) {
			return tags, nil
		}
		changed := skein.NewEvent(skein.KindChanged, skein.At(j.Now()), skein.Changed{Tags: &tags})
		_, err := j.store.Append(ctx, skein.Batch{Session: s.ID, After: s.Last, Events: []skein.Event{changed}})
		if err == nil {
			j.catchUp(ctx, &s)
		}
		if !errors.Is(err, skein.ErrConflict) {
			return tags, err
		}
		if s, err = j.store.Session(ctx, s.ID); err != nil {
			return nil, err
		}
	}
}

// parseTags parses tags as people type them.
func parseTags(words []string) (add, remove []string, err error) {
	for _, w := range words {
		tag, off := strings.CutPrefix(unprotect(w), "-")
		tag = strings.TrimPrefix(tag, "+")
		bad := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == ',' }
		switch {
		case tag == "" || len(tag) > maxTag || strings.ContainsFunc(tag, bad) || strings.ContainsAny(tag[:1], "+-"):
			return nil, nil, usagef("tag %q: want a word of at most %d bytes without spaces and commas", unprotect(w), maxTag)
		case off:
			remove = append(remove, tag)
		default:
			add = append(add, tag)
		}
	}
	return add, remove, nil
}
