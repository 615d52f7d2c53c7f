package write

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
)

type renameOptions struct {
	description string
	json        bool
	described   func() bool // whether --description was given
}

// NewRename returns the command rename.
func NewRename(f *job.Frame) *cobra.Command {
	var o renameOptions
	c := &cobra.Command{
		Use:   "rename NAME TITLE [flags]",
		Short: "give a session a title",
		Long: `Give a session a title and, optionally, a description. Its ID does not change. A
title from a person is never replaced by one from a model or an import.`,
		Example: `skein rename - "the parser, third try"`,
		Args:    job.Words(2, -1, "the NAME of a session and a TITLE"),
		RunE:    f.WithStore(o.run),
	}
	c.Flags().StringVar(&o.description, "description", "", "`text` that describes the session")
	job.MustComplete(c.Flags().SetAnnotation("description", job.MayBeEmpty, nil))
	o.described = func() bool { return c.Flags().Changed("description") }
	job.JSONFlag(c, &o.json)
	return c
}

func (o *renameOptions) run(ctx context.Context, j *job.Job, args []string) error {
	s, err := sessions.Named(ctx, j, args[0])
	if err != nil {
		return err
	}
	to := skein.Titled{Title: skein.ShortTitle(strings.Join(args[1:], " ")), Description: s.Description, By: skein.ByPerson}
	if to.Title == "" {
		return fault.Usage("rename %s: the title is empty", args[0])
	}
	if o.described() {
		to.Description = o.description
	}
	if _, err := skein.Add(ctx, j.Store, s.ID, skein.NewEvent(skein.KindTitled, skein.At(j.Now()), to)); err != nil {
		return err
	}
	sessions.CatchUpLog(ctx, j, &s)
	if o.json {
		return sessions.Write(ctx, j, s.ID)
	}
	now := s
	now.Title = to.Title
	j.Say("%s is now %q, it was %q", sessions.ShortID(s.ID), sessions.Called(now), sessions.Called(s))
	return nil
}

// maxTag is the longest tag, in bytes.
const maxTag = 64

type tagOptions struct{ json bool }

// NewTag returns the command tag.
func NewTag(f *job.Frame) *cobra.Command {
	var o tagOptions
	c := &cobra.Command{
		Use:   "tag NAME [TAG | +TAG | -TAG]... [flags]",
		Short: "add tags to a session, or remove them",
		Long: `Add tags to a session (TAG or +TAG), remove tags (-TAG), and print the tags that
it has, one per line. Without tags, only print. To find the sessions with a tag,
use skein list --tag.`,
		Example: `skein tag - parser +urgent -later`,
		Args:    job.Words(1, -1, "the NAME of a session"),
		RunE:    f.WithStore(o.run),
	}
	job.JSONFlag(c, &o.json)
	return c
}

func (o *tagOptions) run(ctx context.Context, j *job.Job, args []string) error {
	add, remove, err := parseTags(args[1:])
	if err != nil {
		return err
	}
	s, err := sessions.Named(ctx, j, job.Unprotect(args[0]))
	if err != nil {
		return err
	}
	tags, err := retag(ctx, j, s, add, remove)
	if err != nil {
		return err
	}
	if o.json {
		return sessions.Write(ctx, j, s.ID)
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
func retag(ctx context.Context, j *job.Job, s skein.Session, add, remove []string) ([]string, error) {
	for {
		tags := slices.DeleteFunc(append(slices.Clone(s.Tags), add...), func(t string) bool { return slices.Contains(remove, t) })
		slices.Sort(tags)
		tags = slices.Compact(tags)
		if slices.Equal(tags, s.Tags) {
			return tags, nil
		}
		changed := skein.NewEvent(skein.KindChanged, skein.At(j.Now()), skein.Changed{Tags: &tags})
		_, err := j.Store.Append(ctx, skein.Batch{Session: s.ID, After: s.Last, Events: []skein.Event{changed}})
		if err == nil {
			sessions.CatchUpLog(ctx, j, &s)
		}
		if !errors.Is(err, skein.ErrConflict) {
			return tags, err
		}
		if s, err = j.Store.Session(ctx, s.ID); err != nil {
			return nil, err
		}
	}
}

// parseTags parses tags as people type them.
func parseTags(words []string) (add, remove []string, err error) {
	for _, w := range words {
		tag, off := strings.CutPrefix(job.Unprotect(w), "-")
		tag = strings.TrimPrefix(tag, "+")
		bad := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == ',' }
		switch {
		case tag == "" || len(tag) > maxTag || strings.ContainsFunc(tag, bad) || strings.ContainsAny(tag[:1], "+-"):
			return nil, nil, fault.Usage("tag %q: want a word of at most %d bytes without spaces and commas", job.Unprotect(w), maxTag)
		case off:
			remove = append(remove, tag)
		default:
			add = append(add, tag)
		}
	}
	return add, remove, nil
}

type pinOptions struct {
	pinned bool // what to set it to
	json   bool
}

// NewPin returns the command pin.
func NewPin(f *job.Frame) *cobra.Command {
	return pinCommand(f, &pinOptions{pinned: true}, &cobra.Command{
		Use:   "pin NAME... [flags]",
		Short: "pin sessions, for list --pinned and prune --keep-pinned",
	})
}

// NewUnpin returns the command unpin.
func NewUnpin(f *job.Frame) *cobra.Command {
	return pinCommand(f, &pinOptions{}, &cobra.Command{
		Use:   "unpin NAME... [flags]",
		Short: "unpin sessions",
	})
}

func pinCommand(f *job.Frame, o *pinOptions, c *cobra.Command) *cobra.Command {
	c.Args, c.RunE = job.Words(1, -1, "the NAME of a session"), f.WithStore(o.run)
	job.JSONFlag(c, &o.json)
	return c
}

func (o *pinOptions) run(ctx context.Context, j *job.Job, args []string) error {
	found := make([]skein.Session, len(args))
	for i, name := range args { // resolve all names first, so that a wrong one changes nothing
		s, err := sessions.Named(ctx, j, name)
		if err != nil {
			return err
		}
		found[i] = s
	}
	for _, s := range found {
		if err := o.pin(ctx, j, s); err != nil {
			return err
		}
	}
	return nil
}

func (o *pinOptions) pin(ctx context.Context, j *job.Job, s skein.Session) error {
	if s.Pinned != o.pinned {
		changed := skein.NewEvent(skein.KindChanged, skein.At(j.Now()), skein.Changed{Pinned: &o.pinned})
		if _, err := skein.Add(ctx, j.Store, s.ID, changed); err != nil {
			return err
		}
		sessions.CatchUpLog(ctx, j, &s)
	}
	if o.json {
		return sessions.Write(ctx, j, s.ID)
	}
	how := "pinned"
	if !o.pinned {
		how = "not pinned any more"
	}
	j.Say("%s %q is %s", sessions.ShortID(s.ID), sessions.Called(s), how)
	return nil
}
