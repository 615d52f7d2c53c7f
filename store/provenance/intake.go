package provenance

import (
	"bytes"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/internal/git"
)

// into is what an intake is of: a commit, and the file as it was before.
type into struct {
	commit *git.Commit
	was    string
}

// An intake is what sessions did to a file between two commits: the writes that can have
// come into the second one, by time.
type intake struct {
	of     *Attributor
	line   git.Line // one that the commit adds
	writes []*Write
	became map[string]*Write // nil if not worked out yet
	texts  []string          // of the writes, letters and digits only; nil if not worked out yet
}

const (
	mostText    = 8 << 20  // bytes of a file, and of what it becomes, that are looked at
	mostScanned = 64 << 20 // bytes in which formatted lines are looked for, in all
	mostTwins   = 1000     // places where a text is replaced
)

// into returns the intake of the commit that a line is from.
func (r *Attributor) into(l *git.Line) (*intake, error) {
	key := into{l.Commit, l.Was}
	if in := r.intos[key]; in != nil {
		return in, nil
	}
	in := &intake{of: r, line: *l}
	goesOn := map[skein.SessionID]bool{} // whether the writes before the author's last commit count, by session
	for i := len(r.Writes) - 1; i >= 0; i-- {
		w := &r.Writes[i]
		if l.Commit.Hash != "" && w.Time > l.Commit.Time+slack {
			continue
		}
		ok, known := goesOn[w.Session]
		if !known {
			var err error
			if ok, err = r.inTime(w, l.Commit, Partial); err != nil {
				return nil, err
			}
			before, err := r.Before(l.Commit)
			if err != nil {
				return nil, err
			}
			if w.Time < before || l.Commit.OfRequest() {
				goesOn[w.Session] = ok
			}
		}
		if !ok {
			continue
		}
		happened, err := r.Happened(w)
		if err != nil {
			return nil, err
		}
		if happened {
			in.writes = append(in.writes, w)
		}
	}
	slices.Reverse(in.writes)
	r.intos[key] = in
	return in, nil
}

// replaced returns what lines became of which a write replaced a part, each with the
// last one that did: of those that were in the file before, and of those that came in.
func (in *intake) replaced() (map[string]*Write, error) {
	if in.became != nil {
		return in.became, nil
	}
	in.became = map[string]*Write{}
	if !slices.ContainsFunc(in.writes, func(w *Write) bool { return slices.ContainsFunc(w.Edit.Hunks, replaces) }) {
		return in.became, nil
	}
	was, err := in.of.Was(&in.line)
	if err != nil || len(was) > mostText {
		return in.became, err
	}
	text := []byte(unix(was) + "\n")
	for _, w := range in.writes {
		for _, l := range w.Edit.Added {
			text = append(append(text, l...), '\n')
		}
		for i := range w.Edit.Hunks {
			if h := &w.Edit.Hunks[i]; replaces(*h) && len(text) < mostText {
				text = in.replace(text, w, h)
			}
		}
	}
	return in.became, nil
}

// replaces reports whether a hunk may replace a part of a line.
func replaces(h edits.Hunk) bool { return h.Old != "" && !h.Lines }

func unix(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// replace notes what lines of a text become by a hunk, and returns the text with these
// lines after it.
func (in *intake) replace(text []byte, w *Write, h *edits.Hunk) []byte {
	old, now := []byte(unix(h.Old)), unix(h.New)
	var out []byte
	for at, n := 0, 0; n < mostTwins && len(text)+len(out) < mostText; n++ {
		next := bytes.Index(text[at:], old)
		if next < 0 {
			break
		}
		begin := bytes.LastIndexByte(text[:at+next], '\n') + 1
		stop := at + next + len(old)
		end := len(text)
		if i := bytes.IndexByte(text[stop:], '\n'); i >= 0 {
			end = stop + i
		}
		was := string(text[begin:end])
		is := string(text[begin:at+next]) + now + string(text[stop:end])
		if h.All { // the rest of the line, too
			is = strings.ReplaceAll(was, string(old), now)
		}
		had := edits.Lines(was)
		for _, l := range edits.Lines(is) {
			if !slices.Contains(had, l) {
				in.became[source(w.Edit.Path, l)] = w
				out = append(append(out, l...), '\n')
			}
		}
		at = max(end, stop)
	}
	return append(text, out...)
}

// reformatted answers for lines that a formatter made of what a session wrote: together,
// their letters and digits stand in its text as they are. The lines of one commit that follow each
// other count together.
func (r *Attributor) reformatted(lines []git.Line, all []Answer) error {
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && lines[end].Commit == lines[i].Commit && all[end].Certainty == "" && !all[end].spare {
			end++
		}
		if end > i && !lines[i].Commit.ByBot() {
			in, err := r.into(&lines[i])
			if err != nil {
				return err
			}
			in.reformatted(lines[i:end], all[i:end])
		}
		i = max(end, i+1)
	}
	return nil
}

// reformatted is as that of the Attributor, for lines of the commit that nobody is known
// to have written.
func (in *intake) reformatted(lines []git.Line, all []Answer) {
	if in.texts == nil {
		for _, w := range in.writes {
			in.texts = append(in.texts, letters(strings.Join(w.Edit.Added, "")))
		}
	}
	for k, w := range slices.Backward(in.writes) {
		for i := 0; i < len(lines); {
			run, end := "", i
			for end < len(lines) && all[end].Certainty == "" {
				longer := run + letters(textOf(&lines[end]))
				if in.of.scans -= len(in.texts[k]); in.of.scans < 0 {
					return
				}
				if !strings.Contains(in.texts[k], longer) {
					break
				}
				run, end = longer, end+1
			}
			for j := i; j < end && len(run) >= formatted; j++ {
				all[j] = Answer{Certainty: Partial, Write: w}
			}
			i = max(end, i+1)
		}
	}
}
