package provenance

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/internal/git"
)

// A Certainty says how it is known that a line is a session's.
type Certainty string

// From the strongest evidence to the weakest. File and Earlier are hints, not answers.
const (
	Exact   Certainty = "exact"   // the session put this text into this file, before the commit
	Partial Certainty = "partial" // the same, but spaces or punctuation differ: a formatter, or a person
	Noted   Certainty = "note"    // a note of Git AI in the repository names the session
	Moved   Certainty = "moved"   // the session put this text into another file, and it was moved or copied
	Made    Certainty = "commit"  // the session made the commit, and is not known to have written the line
	Earlier Certainty = "earlier" // the session put this text into this file, but its author committed in between without it
	File    Certainty = "file"    // the session changed this file before the commit, and no other one did
)

// Certain reports whether c is an answer, not a hint.
func (c Certainty) Certain() bool { return c != "" && c != Earlier && c != File }

// A Write is a call that changed a file.
type Write struct {
	skein.Place // of the call's message
	Turn        int
	Time        skein.Time
	Call        string // its ID
	Model       string // that called it; "" if the message does not say
	Edit        edits.Edit
}

// An Answer says whose a line is. Without a Certainty, nobody knows.
type Answer struct {
	Certainty Certainty
	Near      bool   // the line is too short to tell: it goes with the lines beside it
	Write     *Write // what wrote it, or, if Certainty is Made, the result that tells of the commit; nil if Certainty is ""
	Earlier   *Write // if Certainty is Made: what may have written it, by the evidence of that name; or nil
	replaced  bool   // the session replaced a part of the line
	spare     bool   // nobody's: the line is there more often than sessions put it there
}

// An Attributor decides whose lines are. Its functions look up what it asks for.
type Attributor struct {
	Writes   []Write                                           // to the file, by time
	Others   func(text string) ([]Write, error)                // to other files of the repository, that have this line, by time
	Before   func(c *git.Commit) (skein.Time, error)           // when the author committed before; 0 if that is not known
	Active   func(w *Write, from, to skein.Time) (bool, error) // whether the session went on after w, between these times
	Noted    func(l *git.Line) (*Write, error)                 // the session that a note of Git AI names, as a place without a seq; nil if there is none
	Maker    func(c *git.Commit) (*Write, error)               // the result of the command that made a commit; nil if no session did
	Happened func(w *Write) (bool, error)                      // whether the call succeeded, as far as is known
	Was      func(l *git.Line) (string, error)                 // the file as it was before the line's commit
	lines    map[string][]*Write
	letters  map[string][]*Write
	removed  map[string][]*Write
	whole    []*Write // that leave nothing of the file as it was
	intos    map[into]*intake
	scans    int // bytes that formatted may still look through
}

const (
	enoughMoved = 3                // lines that one call wrote elsewhere: fewer may stand in two files by chance
	shortLine   = 8                // characters, without space around: shorter ones stand in every file
	longLine    = edits.LongLine   // enough to be recognized in another file
	slack       = skein.Time(60e3) // milliseconds: the clock of an import and that of a commit
	hooks       = 10 * slack       // a commit may take so long until it is reported
	nearby      = 3                // lines
	formatted   = 24               // letters and digits that are not in a text by chance
)

// Answers returns whose each line is. The lines are of one file, in order. The error is
// that of a lookup.
func (r *Attributor) Answers(lines []git.Line) ([]Answer, error) {
	r.index()
	all := make([]Answer, len(lines))
	for i := range lines {
		if lines[i].Commit.ByBot() {
			continue
		}
		var err error
		if all[i], err = r.own(&lines[i]); err != nil {
			return nil, err
		}
		if all[i].Certainty != "" && all[i].Certainty != Earlier {
			continue
		}
		switch noted, err := r.Noted(&lines[i]); {
		case err != nil:
			return nil, err
		case noted != nil:
			all[i] = Answer{Certainty: Noted, Write: noted}
		}
	}
	r.repeated(lines, all)
	if err := r.moved(lines, all); err != nil {
		return nil, err
	}
	if err := r.reformatted(lines, all); err != nil {
		return nil, err
	}
	short(lines, all)
	return all, r.made(lines, all)
}

// index makes the writes known by their lines.
func (r *Attributor) index() {
	r.lines, r.letters, r.removed, r.whole = map[string][]*Write{}, map[string][]*Write{}, map[string][]*Write{}, nil
	r.intos, r.scans = map[into]*intake{}, mostScanned
	for i := range r.Writes {
		w := &r.Writes[i]
		for _, text := range w.Edit.Added {
			l := source(w.Edit.Path, text)
			r.lines[l] = append(r.lines[l], w)
			if p := letters(l); len(p) >= shortLine {
				r.letters[p] = append(r.letters[p], w)
			}
		}
		for _, text := range w.Edit.Removed {
			l := source(w.Edit.Path, text)
			r.removed[l] = append(r.removed[l], w)
		}
		if w.Edit.Whole || w.Edit.Deleted {
			r.whole = append(r.whole, w)
		}
	}
}

// source returns a line without the space around it: of a notebook, which has its
// cells' lines as strings, what stands in the string.
func source(file, line string) string {
	line = strings.TrimSpace(line)
	if text := ""; strings.HasSuffix(file, ".ipynb") && json.Unmarshal([]byte(strings.TrimSuffix(line, ",")), &text) == nil {
		return strings.TrimSpace(text)
	}
	return line
}

func textOf(l *git.Line) string { return source(l.Path, l.Text) }

// letters returns the letters and digits of a line.
func letters(l string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return -1
	}, l)
}

// own answers for a line by the writes to its file.
func (r *Attributor) own(l *git.Line) (Answer, error) {
	text := textOf(l)
	if len(text) < shortLine {
		return Answer{}, nil
	}
	a, err := r.newest(r.lines[text], l.Commit, Exact)
	if err != nil {
		return Answer{}, err
	}
	if a.Certainty == Exact {
		a.Write, err = r.first(a.Write, text, l.Commit)
		return a, err
	}
	b, err := r.amended(r.lines[text], l.Commit)
	if err != nil || b.Certainty != "" {
		return b, err
	}
	in, err := r.into(l)
	if err != nil {
		return Answer{}, err
	}
	became, err := in.replaced()
	if err != nil {
		return Answer{}, err
	}
	if w := became[text]; w != nil {
		return Answer{Certainty: Exact, Write: w, replaced: true}, nil
	}
	if p := letters(text); len(p) >= shortLine {
		b, err := r.newest(r.letters[p], l.Commit, Partial)
		if err != nil || b.Certainty == Partial {
			return b, err
		}
	}
	return a, nil
}

// newest returns the newest of writes that can have come into a commit: with certainty c,
// if its author did not commit anything else between the write and the commit, or the
// session went on after that.
func (r *Attributor) newest(writes []*Write, of *git.Commit, c Certainty) (Answer, error) {
	var earlier *Write
	for _, w := range slices.Backward(writes) {
		if of.Hash != "" && w.Time > of.Time+slack {
			continue
		}
		if ok, err := r.Happened(w); err != nil || !ok {
			if err != nil {
				return Answer{}, err
			}
			continue
		}
		in, err := r.inTime(w, of, c)
		if err != nil {
			return Answer{}, err
		}
		if in {
			return Answer{Certainty: c, Write: w}, nil
		}
		if earlier == nil {
			earlier = w
		}
	}
	if earlier == nil || c != Exact {
		return Answer{}, nil
	}
	return Answer{Certainty: Earlier, Write: earlier}, nil
}

// inTime reports whether the author of a commit did not commit anything else after a write, or its
// session went on after that. Where the text is evidence, too, it does not matter what
// else was committed while a pull request was open.
func (r *Attributor) inTime(w *Write, of *git.Commit, c Certainty) (bool, error) {
	if of.OfRequest() && c != File {
		return true, nil
	}
	before, err := r.Before(of)
	if err != nil || w.Time >= before {
		return err == nil, err
	}
	return r.Active(w, before, of.Time+slack)
}

// first returns the write that put a line there which w found there: of those that write
// the whole file, one after the other, the first one that has it.
func (r *Attributor) first(w *Write, text string, of *git.Commit) (*Write, error) {
	for _, v := range slices.Backward(r.lines[text]) {
		if !w.Edit.Whole {
			break
		}
		if v == w || v.Time > w.Time {
			continue
		}
		if ok, err := r.Happened(v); err != nil || !ok {
			if err != nil {
				return nil, err
			}
			continue
		}
		in, err := r.inTime(v, of, Exact)
		if err != nil {
			return nil, err
		}
		gone, err := r.gone(text, v, w)
		if err != nil {
			return nil, err
		}
		if !in || gone {
			break
		}
		w = v
	}
	return w, nil
}

// gone reports whether a line was taken out of the file between two writes that have it.
func (r *Attributor) gone(text string, from, to *Write) (bool, error) {
	without := func(u *Write) bool {
		return !slices.ContainsFunc(u.Edit.Added, func(l string) bool { return source(u.Edit.Path, l) == text })
	}
	for _, of := range [2][]*Write{r.removed[text], r.whole} {
		for _, u := range of {
			if u.Time <= from.Time || u.Time > to.Time || u == to || !without(u) {
				continue
			}
			if ok, err := r.Happened(u); err != nil || ok {
				return ok, err
			}
		}
	}
	return false, nil
}

// amended answers by the newest edit between the time that the author of a commit gives and that when it
// was amended. One that writes the whole file says nothing: a rebase has these times, too.
func (r *Attributor) amended(writes []*Write, of *git.Commit) (Answer, error) {
	for _, w := range slices.Backward(writes) {
		if of.Hash == "" || w.Edit.Whole || w.Time <= of.Time+slack || w.Time > of.Put+slack {
			continue
		}
		if ok, err := r.Happened(w); err != nil || ok {
			return Answer{Certainty: Exact, Write: w}, err
		}
	}
	return Answer{}, nil
}

// moved answers for lines that a session put into another file. It looks up some lines
// of each run of a commit that nobody is known to have written, and compares the others
// with what it finds.
func (r *Attributor) moved(lines []git.Line, all []Answer) error {
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && lines[end].Commit == lines[i].Commit && all[end].Certainty == "" && !all[end].spare {
			end++
		}
		if end > i {
			if err := r.movedRun(lines[i:end], all[i:end]); err != nil {
				return err
			}
		}
		i = max(end, i+1)
	}
	return nil
}

// movedRun answers for lines of one commit.
func (r *Attributor) movedRun(lines []git.Line, all []Answer) error {
	long := 0
	for i := range lines {
		if len(textOf(&lines[i])) >= shortLine {
			long++
		}
	}
	if long < enoughMoved || lines[0].Commit.ByBot() {
		return nil
	}
	for i, step := 0, 1; i < len(lines); i, step = i+step, step*2 {
		for i < len(lines) && (len(textOf(&lines[i])) < longLine || all[i].Certainty != "") {
			i++
		}
		if i >= len(lines) {
			break
		}
		found, err := r.Others(textOf(&lines[i]))
		if err != nil {
			return err
		}
		writes := make([]*Write, len(found))
		for k := range found {
			writes[k] = &found[k]
		}
		a, err := r.newest(writes, lines[i].Commit, Moved)
		if err != nil {
			return err
		}
		if a.Certainty == Moved {
			same(lines, all, a)
		}
	}
	return nil
}

// same gives answer a to those lines that its write has too, where enough of them follow
// each other, whatever short lines are between them.
func same(lines []git.Line, all []Answer, a Answer) {
	has := map[string]bool{}
	for _, l := range a.Write.Edit.Added {
		has[source(a.Write.Edit.Path, l)] = true
	}
	var run []int
	give := func() {
		if len(run) >= enoughMoved {
			for _, i := range run {
				all[i] = a
			}
		}
		run = nil
	}
	for i := range lines {
		text := textOf(&lines[i])
		switch {
		case all[i].Certainty == "" && len(text) >= shortLine && has[text]:
			run = append(run, i)
		case len(text) >= shortLine:
			give()
		}
	}
	give()
}

// short answers for lines that are too short to tell by those beside them that are of
// the same commit.
func short(lines []git.Line, all []Answer) {
	for i := range lines {
		if all[i].Certainty != "" || len(textOf(&lines[i])) >= shortLine {
			continue
		}
		for d := 1; d <= nearby && all[i].Certainty == ""; d++ {
			for _, j := range [2]int{i - d, i + d} {
				if j >= 0 && j < len(lines) && beside(&lines[i], &lines[j]) && lines[j].Commit == lines[i].Commit && all[j].Certainty != "" && !all[j].Near {
					all[i] = all[j]
					all[i].Near = true
					break
				}
			}
		}
	}
}

// beside reports whether two lines of a file are near each other.
func beside(a, b *git.Line) bool { return max(a.Number-b.Number, b.Number-a.Number) <= nearby }

// made answers for the other lines, and for those with a hint only, by the session that
// made their commit, or else, as a hint, by the one session that changed the file.
func (r *Attributor) made(lines []git.Line, all []Answer) error {
	alone := map[*git.Commit]Answer{}
	for i := range lines {
		c := lines[i].Commit
		if all[i].Certainty != "" && all[i].Certainty != Earlier || c.ByBot() {
			continue
		}
		maker, err := r.Maker(c)
		if err != nil {
			return err
		}
		switch a, known := alone[c]; {
		case maker != nil:
			all[i] = Answer{Certainty: Made, Write: maker, Earlier: all[i].Write}
		case all[i].Certainty == Earlier:
		case known:
			all[i] = a
		default:
			if all[i], err = r.alone(c); err != nil {
				return err
			}
			alone[c] = all[i]
		}
	}
	return nil
}

// alone answers by the newest write of the only session whose writes to the file can have
// come into a commit.
func (r *Attributor) alone(c *git.Commit) (only Answer, err error) {
	for i := range r.Writes {
		a, err := r.newest([]*Write{&r.Writes[i]}, c, File)
		switch {
		case err != nil:
			return Answer{}, err
		case a.Write == nil:
		case only.Write != nil && only.Write.Session != a.Write.Session:
			return Answer{}, nil
		default:
			only = a
		}
	}
	return only, nil
}
