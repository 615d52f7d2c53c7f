package exchange

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/transfer"
)

// An importReport is the result of an import, in JSON.
type importReport struct {
	Files     int            `json:"files"`
	Unchanged int            `json:"unchanged"`
	Unmatched int            `json:"unmatched"`
	Alike     int            `json:"alike"`
	Others    []importOther  `json:"others,omitempty"` // of these
	Forced    []importForced `json:"forced,omitempty"`
	Sessions  int            `json:"sessions"`
	Grown     int            `json:"grown"`
	Messages  int            `json:"messages"`
	Events    int            `json:"events"`
	Amended   int            `json:"amended"`
	Copies    int            `json:"copied_records"`
	Damaged   int            `json:"damaged_records"`
	Damage    []importDamage `json:"damage,omitempty"`
	importSkips
	Removed int     `json:"deleted_here"`
	Waiting int     `json:"locked"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`

	Changed []skein.SessionID `json:"changed,omitempty"`
}

// importSkips are the files that were not imported, or not in full.
type importSkips struct {
	Skipped int          `json:"skipped_files"`
	Skips   []importSkip `json:"skips,omitempty"`
	Failed  int          `json:"failed"` // of these
}

type importDamage struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	What string `json:"what"`
}

type importSkip struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// An importOther is a file that looks like one of a format but is another
// program's.
type importOther struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Of     string `json:"of"`
	Why    string `json:"why"`
}

// An importForced is a file that was taken as the format that the user named.
type importForced struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Looks  string `json:"looks"`
	Why    string `json:"why"`
}

// WriteImportReport prints a report as JSON. The error is that of writing to stdout.
func WriteImportReport(j *job.Job, r interop.Report) error {
	out := importReport{
		Files: r.Files, Unchanged: r.Unchanged, Unmatched: r.Unmatched, Alike: r.Alike, Sessions: r.Sessions, Grown: r.Grown, Messages: r.Messages, Events: r.Events,
		Amended: r.Amended, Copies: r.Copies, Damaged: r.Damaged, Removed: r.Removed, Waiting: r.Waiting, importSkips: importSkips{Skipped: r.Skipped, Failed: r.Failed},
		Bytes: r.Bytes, Seconds: r.Elapsed.Seconds(), Changed: r.Changed,
	}
	for _, d := range r.Damage {
		out.Damage = append(out.Damage, importDamage(d))
	}
	for _, o := range r.Others {
		out.Others = append(out.Others, importOther(o))
	}
	for _, f := range r.Forced {
		out.Forced = append(out.Forced, importForced(f))
	}
	for _, s := range r.Skips {
		out.Skips = append(out.Skips, importSkip(s))
	}
	return job.WriteJSON(j.Stdout, out)
}

// An Reporter says what an import or an export did.
type Reporter struct {
	JSON   bool
	Format string // the only one that was imported; "" for all
}

// Failed returns the error of an import that has already said what it could not
// import.
func Failed(r interop.Report) error {
	if r.Failed > 0 {
		return fault.ErrSilent
	}
	return nil
}

// Report shows the result of an import.
//
// The error is that of the store or of writing to stdout.
func (o *Reporter) Report(ctx context.Context, j *job.Job, r interop.Report) error {
	replaced, err := Replaced(ctx, j, r)
	if err != nil {
		return err
	}
	if o.JSON {
		return WriteImportReport(j, r)
	}
	lines := []string{NewIn(r) + " in " + terminal.Count(r.Files, "file")}
	if r.Bytes > 0 {
		lines[0] += fmt.Sprintf(" (%s in %.2f s, %.1f MB/s)", terminal.BytesText(r.Bytes), r.Elapsed.Seconds(), r.Rate()/1e6)
	}
	lines = append(append(lines, Changed(ctx, j, r)...), o.Remarks(j, r)...)
	if replaced > 0 {
		lines = append(lines, fmt.Sprintf("  %s of prompts put in the bin: the transcript was imported", terminal.Count(replaced, "recovered session")))
	}
	if r.Sessions > 0 {
		lines = append(lines, "see them: skein list --all")
	}
	j.Say("%s", strings.Join(lines, "\n"))
	return nil
}

// Broken shows the result of an import that ended early.
//
// The error is that of writing to stdout.
func (o *Reporter) Broken(j *job.Job, r interop.Report) error {
	if o.JSON {
		return WriteImportReport(j, r)
	}
	lines := append([]string{"imported so far: " + NewIn(r)}, o.Remarks(j, r)...)
	lines = append(lines, "this is stored; the next import continues with the rest")
	j.Say("%s", strings.Join(lines, "\n"))
	return nil
}

// Change says in one line what a watch has just imported, and below it what was
// wrong. A record that adds nothing, such as a repeated title, is not shown.
//
// The error is that of the store or of writing to stdout.
func (o *Reporter) Change(ctx context.Context, j *job.Job, r interop.Report) error {
	if _, err := Replaced(ctx, j, r); err != nil {
		return err
	}
	if o.JSON {
		return WriteImportReport(j, r)
	}
	r.Unchanged, r.Unmatched, r.Alike, r.Others = 0, 0, 0, nil // these are the usual case
	news := append(Changed(ctx, j, r), o.Remarks(j, r)...)
	if what := NewIn(r); what != nothingNew || len(news) > 0 {
		j.Say("%s", strings.Join(append([]string{j.Now().Format("15:04:05") + "  " + what}, news...), "\n"))
	}
	return nil
}

const nothingNew = "nothing new"

// maxChanged is how many new or grown sessions are named one by one; if there are
// more, none is named.
const maxChanged = 3

// Changed names the sessions that are new or have grown, one a line, if they are
// few.
func Changed(ctx context.Context, j *job.Job, r interop.Report) (lines []string) {
	if len(r.Changed) > maxChanged {
		return nil
	}
	for i, short := range lookup.ShortIDs(r.Changed) {
		s, err := j.Store.Session(ctx, r.Changed[i])
		if err != nil {
			continue // it is gone already, which is not an error here
		}
		lines = append(lines, "  "+short+"  "+terminal.Cut(render.Line(sessions.Secrets(false).Mask().Text(s.Name())), 60))
	}
	return lines
}

// NewIn says what is new: 2 new sessions, 1 session grew, 5 messages, 11 events.
func NewIn(r interop.Report) string {
	var parts []string
	if r.Sessions > 0 {
		parts = append(parts, terminal.Count(r.Sessions, "new session"))
	}
	if r.Grown > 0 {
		parts = append(parts, terminal.Count(r.Grown, "session")+" grew")
	}
	if r.Messages > 0 {
		parts = append(parts, terminal.Count(r.Messages, "message"))
	}
	if r.Events > 0 {
		parts = append(parts, terminal.Count(r.Events, "event"))
	}
	if len(parts) == 0 {
		return nothingNew
	}
	return strings.Join(parts, ", ")
}

// Remarks says what is unusual about an import, one remark a line.
func (o *Reporter) Remarks(j *job.Job, r interop.Report) (lines []string) {
	known := "that no format recognizes"
	if o.Format != "" {
		known = "that " + o.Format + " does not recognize"
	}
	for _, x := range []struct {
		n          int
		what, text string
	}{
		{r.Unchanged, "file", "unchanged since the last import"},
		{r.Unmatched, "file", known},
		{r.Removed, "file", "left out: the session was destroyed here; --again imports it"},
		{r.Waiting, "file", "left out: the session is locked by another program; import again later"},
		{r.Amended, "event", "whose source record changed since it was read"},
		{r.Gone, "session", "whose source is gone: what was stored stays"},
		{r.Back, "session", "whose source is there again"},
		{r.Copies, "record", "also in another file: stored once"},
	} {
		if x.n > 0 {
			lines = append(lines, fmt.Sprintf("  %s %s", terminal.Count(x.n, x.what), x.text))
		}
	}
	lines = append(lines, others(j, r)...)
	for _, f := range r.Forced[:min(len(r.Forced), maxNamed)] {
		lines = append(lines, fmt.Sprintf("  %s: taken as %s because --format says so; it looks like one of %s (%s)", j.Tilde(f.Path), f.Format, f.Looks, f.Why))
	}
	if r.Damaged > 0 {
		kept := "kept as they are"
		if r.Damaged == 1 {
			kept = "kept as it is"
		}
		lines = append(lines, fmt.Sprintf("  %s damaged, %s:", terminal.Count(r.Damaged, "record"), kept))
		for _, d := range r.Damage[:min(len(r.Damage), maxNamed)] {
			lines = append(lines, fmt.Sprintf("    %s:%d: %s", j.Tilde(d.Path), d.Line, d.What))
		}
	}
	if r.Skipped > 0 {
		lines = append(lines, fmt.Sprintf("  %s not imported:", terminal.Count(r.Skipped, "thing")))
		for _, s := range r.Skips[:min(len(r.Skips), maxNamed)] {
			lines = append(lines, fmt.Sprintf("    %s: %s", j.Tilde(s.Path), s.Why))
		}
	}
	switch {
	case r.Retried == 0:
	case r.Retried == r.Failed:
		lines = append(lines, "  the next import tries again")
	default:
		lines = append(lines, fmt.Sprintf("  the next import tries %d of these again", r.Retried))
	}
	if r.Damaged > maxNamed || r.Skipped > maxNamed || len(r.Forced) > maxNamed {
		lines = append(lines, "    … and more; --json names up to a thousand")
	}
	return lines
}

// others says which files look like those of a format but are another program's,
// one line for each program, and how to import them.
func others(j *job.Job, r interop.Report) (lines []string) {
	type kind struct{ of, format string }
	all := map[kind][]interop.Other{}
	var kinds []kind
	for _, o := range r.Others {
		k := kind{o.Of, o.Format}
		if all[k] == nil {
			kinds = append(kinds, k)
		}
		all[k] = append(all[k], o)
	}
	for _, k := range kinds {
		first, look := all[k][0], "they look"
		if len(all[k]) == 1 {
			look = "it looks"
		}
		lines = append(lines,
			fmt.Sprintf("  %s of %s left alone: %s like %s (%s: %s)", terminal.Count(len(all[k]), "file"), k.of, look, k.format, j.Tilde(first.Path), first.Why),
			fmt.Sprintf("    to import such a file: skein import --format %s PATH", k.format))
	}
	return lines
}

// maxNamed is how many damaged records and skipped files people are shown.
const maxNamed = 10

// barEvery is the shortest time between two drawings of a progress bar.
const barEvery = 100 * time.Millisecond

// A Bar shows progress on one line of stderr, which is cleared at the end.
// If stderr is not a terminal, it shows nothing.
type Bar struct {
	Job   *job.Job
	doing string
	drawn time.Time
}

// Imported shows how far an import is.
func (b *Bar) Imported(p interop.Progress) { b.show("importing", p.Bytes, p.Size, terminal.BytesText) }

// Transferred shows how far a transfer between stores is.
func (b *Bar) Transferred(p transfer.Progress) {
	b.show(p.Doing, int64(p.Done), int64(p.Of), func(n int64) string { return strconv.FormatInt(n, 10) })
}

// show draws the bar for done out of the total, of; text formats both numbers.
func (b *Bar) show(doing string, done, of int64, text func(int64) string) {
	if !b.Job.Terminal.Err || of <= 0 {
		return
	}
	done = min(max(done, 0), of)
	if now := time.Now(); b.doing != doing || done == of || now.Sub(b.drawn) >= barEvery {
		b.doing, b.drawn = doing, now
		fmt.Fprint(b.Job.Stderr, clearLine+barLine(doing, done, of, text, terminal.CmpOr(b.Job.Terminal.Width, 80)))
	}
}

// End removes the bar.
func (b *Bar) End() {
	if b.doing != "" {
		fmt.Fprint(b.Job.Stderr, clearLine)
		b.doing = ""
	}
}

// clearLine goes to the beginning of the line and clears it.
const clearLine = "\r\x1b[K"

// barLine returns a bar that fits into columns. If there is not enough room, the
// numbers are left out first, then the bar.
func barLine(doing string, done, of int64, text func(int64) string, columns int) string {
	const cells = 30
	full := int(float64(done) / float64(of) * cells)
	line := fmt.Sprintf("%s %3d%%", doing, int(float64(done)/float64(of)*100))
	for _, more := range []string{" [" + strings.Repeat("=", full) + strings.Repeat(" ", cells-full) + "]", " " + text(done) + " of " + text(of)} {
		if len(line)+len(more) >= columns {
			break
		}
		line += more
	}
	return line
}

// TellSynced says what was written.
func TellSynced(j *job.Job, f interop.Format, done writeback.Synced) {
	what := "nothing new for " + j.Tilde(done.Path)
	if done.Events > 0 {
		what = fmt.Sprintf("wrote %s to %s", terminal.Count(done.Events, "event"), j.Tilde(done.Path))
	}
	j.Say("%s", strings.Join(append([]string{sessions.ShortID(done.Session) + ": " + what}, lossLines(f, done.Losses, "stays here")...), "\n"))
	tellDamaged(j, done.Damaged)
}
