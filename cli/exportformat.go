package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/store/lookup"
)

// agentFormats returns the names of the formats of other programs.
func agentFormats() (names []string) {
	for _, f := range formats() {
		if f.Open != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// writtenFormats returns the names of the formats that a session can be written as.
func writtenFormats() (names []string) {
	for _, f := range formats() {
		if f.Write != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// formatNamed returns the format of another program that flag names.
func formatNamed(flag, name string) (interop.Format, error) {
	for _, f := range formats() {
		if f.Name == name && f.Open != nil {
			return f, nil
		}
	}
	want := agentFormats()
	if flag == "TO" || flag == "--to" {
		want = writtenFormats()
	}
	return interop.Format{}, usagef("%s %q: want one of %s", flag, name, strings.Join(want, ", "))
}

// home returns where formats look for their places.
func (j *job) home() interop.Home {
	cwd, err := j.Getwd()
	if err != nil {
		cwd = "" // the directory was removed, so there is no repository
	}
	return interop.Home{Dir: j.dirs.Home, Cwd: cwd, Env: j.Getenv}
}

// place writes s, and the sessions that it started, as another program's files.
func (o *exportOptions) place(ctx context.Context, j *job, s skein.Session) error {
	f, err := formatNamed("--to", o.to)
	if err != nil {
		return err
	}
	if o.file == "" || o.file == "-" {
		return usagef("--to %s: name the folder for its files with -o FOLDER", o.to)
	}
	home, err := j.absolute(o.file)
	if err != nil {
		return err
	}
	done, err := interop.Export(ctx, j.store, f, s.ID, home, interop.Exports{Now: j.Now(), Over: o.over})
	if err := (&importTeller{json: o.json}).exported(j, f, home, done); err != nil {
		return err
	}
	if err == nil && slices.ContainsFunc(done, func(d interop.Exported) bool { return len(d.Damaged) > 0 }) {
		err = errSilent
	}
	return adviseExport(err, f)
}

// adviseExport adds to err what to do about an export that failed.
func adviseExport(err error, f interop.Format) error {
	if err != nil && f.Write == nil {
		return advise(err, "skein writes a session as %s only if it came from there and has not gone on here", f.Name)
	}
	return adviseOver(err)
}

// overFlag adds --over.
func overFlag(c *cobra.Command, over *bool) {
	c.Flags().BoolVar(over, "over", false, "overwrite files that another program has changed")
}

// adviseOver adds to err what to do about a file in the place of a session.
func adviseOver(err error) error {
	if errors.Is(err, interop.ErrChanged) || errors.Is(err, skein.ErrExists) {
		return advise(err, "replace it: the same command with --over; or take in what is there first: skein import")
	}
	return err
}

// exported says what an export has written.
//
// The error is that of writing to stdout.
func (o *importTeller) exported(j *job, f interop.Format, home string, done []interop.Exported) error {
	var ids []skein.SessionID
	for _, d := range done {
		ids = append(ids, d.Session)
	}
	return o.written(j, f, home, done, shortNames(ids))
}

// written says what was written; names has the sessions' names.
//
// The error is that of writing to stdout.
func (o *importTeller) written(j *job, f interop.Format, home string, done []interop.Exported, names map[skein.SessionID]string) error {
	if o.json {
		for _, d := range done {
			if err := writeJSON(j.Stdout, d); err != nil {
				return err
			}
		}
		return nil
	}
	for _, d := range done {
		if d.Spot.Path == "" {
			continue // it is in its parent's file
		}
		at := j.tilde(home) + "/" + d.Spot.Path
		if d.Unchanged {
			j.say("%s: nothing new for %s", names[d.Session], at)
			j.tellDamaged(d.Damaged)
			continue
		}
		how := "as it was read"
		if !d.Exact {
			how = "as " + f.Name
		}
		lines := []string{fmt.Sprintf("wrote %s %s to %s", names[d.Session], how, at)}
		j.say("%s", strings.Join(append(lines, lossLines(f, d.Losses, "is kept beside it, for the way back")...), "\n"))
		j.tellDamaged(d.Damaged)
	}
	return nil
}

// tellDamaged says what of a session is damaged in this store.
func (j *job) tellDamaged(what []string) {
	if len(what) > 0 {
		j.say("  damaged in the store:\n  %s\n  see what can be mended: skein doctor", strings.Join(what, "\n  "))
	}
}

// shortNames returns short names for sessions that are listed together.
func shortNames(ids []skein.SessionID) map[skein.SessionID]string {
	names := make(map[skein.SessionID]string, len(ids))
	for i, short := range lookup.ShortIDs(ids) {
		names[ids[i]] = short
	}
	return names
}

// lossLines says what a format cannot hold, and where it was lost.
func lossLines(f interop.Format, ls interop.Losses, where string) (lines []string) {
	if len(ls) == 0 {
		return nil
	}
	lines = append(lines, "  what "+f.Name+" cannot hold "+where+":")
	for _, l := range ls {
		line := "  " + l.What
		if l.Count > 1 {
			line += fmt.Sprintf(" (%d times)", l.Count)
		}
		lines = append(lines, line)
	}
	return lines
}
