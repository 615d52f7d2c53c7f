package exchange

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/adk"
	"github.com/skein-dev/skein/interop/formats/agentuse"
	"github.com/skein-dev/skein/interop/formats/agsh"
	"github.com/skein-dev/skein/interop/formats/aider"
	"github.com/skein-dev/skein/interop/formats/amp"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/interop/formats/atif"
	"github.com/skein-dev/skein/interop/formats/claudecode"
	"github.com/skein-dev/skein/interop/formats/cline"
	"github.com/skein-dev/skein/interop/formats/codex"
	"github.com/skein-dev/skein/interop/formats/copilot"
	"github.com/skein-dev/skein/interop/formats/copilotvscode"
	"github.com/skein-dev/skein/interop/formats/crush"
	"github.com/skein-dev/skein/interop/formats/cursor"
	"github.com/skein-dev/skein/interop/formats/entire"
	"github.com/skein-dev/skein/interop/formats/ethos"
	"github.com/skein-dev/skein/interop/formats/gemini"
	"github.com/skein-dev/skein/interop/formats/goose"
	"github.com/skein-dev/skein/interop/formats/llmlogs"
	"github.com/skein-dev/skein/interop/formats/openaiagents"
	"github.com/skein-dev/skein/interop/formats/opencode"
	"github.com/skein-dev/skein/interop/formats/otelgenai"
	"github.com/skein-dev/skein/interop/formats/pi"
	"github.com/skein-dev/skein/interop/formats/qwen"
	"github.com/skein-dev/skein/interop/formats/skeinlog"
	"github.com/skein-dev/skein/interop/formats/skillet"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/lookup"
)

// OfAgents returns the names of the formats of other programs.
func OfAgents() (names []string) {
	for _, f := range All() {
		if f.Open != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// Written returns the names of the formats that a session can be written as.
func Written() (names []string) {
	for _, f := range All() {
		if f.Write != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// Named returns the format of another program that flag names.
//
// The error wraps fault.ErrUsage and names the formats there are.
func Named(flag, name string) (interop.Format, error) {
	for _, f := range All() {
		if f.Name == name && f.Open != nil {
			return f, nil
		}
	}
	want := OfAgents()
	if flag == "TO" || flag == "--to" {
		want = Written()
	}
	return interop.Format{}, fault.Usage("%s %q: want one of %s", flag, name, strings.Join(want, ", "))
}

// Home returns where formats look for their places.
func Home(j *job.Job) interop.Home {
	cwd, err := j.Getwd()
	if err != nil {
		cwd = "" // the directory was removed, so there is no repository
	}
	return interop.Home{Dir: j.Dirs.Home, Cwd: cwd, Env: j.Getenv}
}

// AdviseExport adds to err what to do about an export that failed.
//
// It returns nil if err is nil; the error wraps err.
func AdviseExport(err error, f interop.Format) error {
	if err != nil && f.Write == nil {
		return fault.Advise(err, "skein writes a session as %s only if the session was imported from there and has not continued in skein", f.Name)
	}
	return adviseOver(err)
}

// OverFlag adds --over.
func OverFlag(c *cobra.Command, over *bool) {
	c.Flags().BoolVar(over, "over", false, "overwrite files that another program has changed")
}

// adviseOver adds to err what to do about a file in the place of a session.
func adviseOver(err error) error {
	if errors.Is(err, interop.ErrChanged) || errors.Is(err, skein.ErrExists) {
		return fault.Advise(err, "to replace it, add --over; or import what is there first: skein import")
	}
	return err
}

// Exported says what an export has written.
//
// The error is that of writing to stdout.
func (o *Reporter) Exported(j *job.Job, f interop.Format, home string, done []writeback.Exported) error {
	var ids []skein.SessionID
	for _, d := range done {
		ids = append(ids, d.Session)
	}
	return o.Written(j, f, home, done, ShortNames(ids))
}

// Written says what was written; names has the sessions' names.
//
// The error is that of writing to stdout.
func (o *Reporter) Written(j *job.Job, f interop.Format, home string, done []writeback.Exported, names map[skein.SessionID]string) error {
	if o.JSON {
		for _, d := range done {
			if err := job.WriteJSON(j.Stdout, d); err != nil {
				return err
			}
		}
		return nil
	}
	for _, d := range done {
		if d.Spot.Path == "" {
			continue // it is in its parent's file
		}
		at := j.Tilde(home) + "/" + d.Spot.Path
		if d.Unchanged {
			j.Say("%s: nothing new for %s", names[d.Session], at)
			tellDamaged(j, d.Damaged)
			continue
		}
		how := "as it was read"
		if !d.Exact {
			how = "as " + f.Name
		}
		lines := []string{fmt.Sprintf("wrote %s %s to %s", names[d.Session], how, at)}
		j.Say("%s", strings.Join(append(lines, lossLines(f, d.Losses, "is kept beside it, so that an import restores it")...), "\n"))
		tellDamaged(j, d.Damaged)
	}
	return nil
}

// tellDamaged says what of a session is damaged in this store.
func tellDamaged(j *job.Job, what []string) {
	if len(what) > 0 {
		j.Say("  damaged in the store:\n  %s\n  see what can be repaired: skein doctor", strings.Join(what, "\n  "))
	}
}

// ShortNames returns short names for sessions that are listed together.
func ShortNames(ids []skein.SessionID) map[skein.SessionID]string {
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

// All returns every format that sessions are imported from. If several match a
// file, the first one reads it: a sub-agent of Qwen Code looks like one of Claude
// Code.
func All() []interop.Format {
	all := []interop.Format{skeinlog.Format(), qwen.Format(), claudecode.Format(), codex.Format(), codex.Old(), agsh.Format(), amplifier.Format(), agentuse.Format(), ethos.Format(), skillet.Format(), llmlogs.Format(), amp.Format(), cursor.Format(), cline.Format(), aider.Format(), pi.Format(), gemini.Format(), gemini.Qwen(), goose.Format(), crush.Format(), copilot.Format(), opencode.Format(), copilotvscode.Format(), atif.Format(), otelgenai.Format()}
	all = append(all, entire.Format(all))
	return append(all, openaiagents.Format(), adk.Format()) // last, as these match any unknown database
}

// Names returns the names of all formats.
func Names() (names []string) {
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return names
}

// HandoffNames returns the formats whose program has a place for sessions. Document
// formats have none.
func HandoffNames() (names []string) {
	anywhere := interop.Home{Dir: filepath.FromSlash("/home"), Cwd: filepath.FromSlash("/home"), Env: func(string) string { return "" }}
	for _, f := range All() {
		if f.Write != nil && len(f.Places(anywhere)) > 0 {
			names = append(names, f.Name)
		}
	}
	return names
}

// Called returns the format of another program by the name that people use:
// claude and Claude Code are claude-code.
//
// The error wraps fault.ErrUsage and names the formats there are.
func Called(flag, name string) (interop.Format, error) {
	if f, err := Named(flag, name); err == nil {
		return f, nil
	}
	var found []string
	for _, known := range OfAgents() {
		a, b := bare(known), bare(name)
		if a == b {
			return Named(flag, known)
		}
		if len(b) >= 3 && strings.HasPrefix(a, b) || len(a) >= 3 && strings.Contains(b, a) {
			found = append(found, known)
		}
	}
	if len(found) == 1 {
		return Named(flag, found[0])
	}
	if len(found) > 1 {
		return interop.Format{}, fault.Usage("%s %q: could be %s", flag, name, strings.Join(found, ", "))
	}
	return interop.Format{}, fault.Usage("%s %q: want one of %s", flag, name, strings.Join(HandoffNames(), ", "))
}

// bare returns a name in lower case, without separators between words.
func bare(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "", ".", "").Replace(strings.ToLower(name))
}
