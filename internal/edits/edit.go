package edits

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// An Edit is what one call does to one file.
type Edit struct {
	Path    string // as the call names it: absolute, or relative to Dir
	Dir     string // folder that the call was to run in; "" if it does not say
	From    string // path that the file had before, if the call moves it, or that of the file that it copies
	Copied  bool   // the file at From stays
	Added   []string
	Removed []string
	Whole   bool // Added is all of the file
	Deleted bool // the file is deleted
	Hunks   []Hunk
}

// A Hunk puts one text in the place of another. Without Old, New is all of the file, or,
// if the edit is not Whole, comes at its end, or where Line or After say.
type Hunk struct {
	Old, New string
	All      bool   // everywhere, not only once
	Lines    bool   // Old is whole lines, below the hunk before: a patch's
	Line     int    // where Old begins, as a patch says, from 1; 0 if it does not say
	After    string // a line above Old, without the space around it, as a patch says; or ""
}

// Apply returns what an edit makes of a file with this text, and reports whether it fits:
// whether what it replaces is there.
func (e *Edit) Apply(text string) (string, bool) {
	text, fits, _ := e.ApplyPatch(text)
	return text, fits
}

// ApplyPatch is as Apply, and reports whether the edit fits in one way only: not if it is
// of a patch, and lines that it replaces are not where it says, and are there more than
// once.
func (e *Edit) ApplyPatch(text string) (_ string, fits, sure bool) {
	switch {
	case e.Deleted:
		return "", true, true
	case len(e.Hunks) == 0:
		return text, e.From != "", true // it was only moved
	}
	var p place
	for i := range e.Hunks {
		h := &e.Hunks[i]
		switch {
		case h.Old == "" && e.Whole:
			text = h.New
		case h.Lines:
			if text != "" && !strings.HasSuffix(text, "\n") && strings.HasSuffix(h.Old, "\n") {
				text += "\n" // a patch of an agent does not tell
			}
			at := p.of(h, text)
			if at < 0 {
				return text, false, false
			}
			text = text[:at] + h.New + text[at+len(h.Old):]
			p.next(h, text, at)
		case h.Old == "":
			text += h.New
		case !strings.Contains(text, h.Old):
			return text, false, false
		case h.All:
			text = strings.ReplaceAll(text, h.Old, h.New)
		default:
			text = strings.Replace(text, h.Old, h.New, 1)
		}
	}
	return text, true, !p.unsure
}

// A place is where the next hunk of a patch is looked for.
type place struct {
	offset int // in bytes: the hunks before are above
	line   int // number of the line there, from 0
	moved  int // by how many lines the hunk before was off
	unsure bool
}

// of returns the offset at which hunk h replaces lines of a text: of those where its old
// lines are, the nearest to where it says, or the first; negative if they are not there.
func (p *place) of(h *Hunk, text string) int {
	below := p.offset + lineAfter(text[p.offset:], h.After)
	if h.Old == "" && h.Line == 0 {
		if below == p.offset {
			return len(text)
		}
		return below
	}
	if at := p.nearest(h, text, below); at >= 0 || below == p.offset {
		return at
	}
	return p.nearest(h, text, p.offset)
}

// nearest is as of, from an offset on.
func (p *place) nearest(h *Hunk, text string, at int) int {
	line := p.line + strings.Count(text[p.offset:at], "\n")
	best, apart, twins := -1, 0, 0
	for at <= len(text) {
		if strings.HasPrefix(text[at:], h.Old) {
			far := h.Line - 1 + p.moved - line
			if far = max(far, -far); h.Line == 0 {
				return at
			}
			if twins++; twins == 1 || far < apart {
				best, apart = at, far
			}
		}
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			break
		}
		at, line = at+n+1, line+1
	}
	p.unsure = p.unsure || twins > 1 && apart > 0
	return best
}

// next notes that hunk h was put into a text at an offset.
func (p *place) next(h *Hunk, text string, at int) {
	line := strings.Count(text[:at], "\n")
	now, old := strings.Count(h.New, "\n"), strings.Count(h.Old, "\n")
	if h.Line > 0 {
		p.moved = line - (h.Line - 1) + now - old
	}
	p.offset, p.line = at+len(h.New), line+now
}

// lineAfter returns the offset of what follows the first line that is wanted, but for
// space around it; 0 if there is none.
func lineAfter(text, wanted string) int {
	at := 0
	for l := range strings.Lines(text) {
		at += len(l)
		if wanted != "" && strings.TrimSpace(l) == wanted {
			return at
		}
	}
	return 0
}

// Of returns what a call does to files, in order. It is empty if the call does not
// change a file, or not in a way that its input tells.
func Of(c *skein.Call) (all []Edit) {
	var in map[string]json.RawMessage
	if json.Unmarshal(c.Input, &in) != nil {
		text, ok := skein.Unquote(c.Input)
		if !ok {
			return nil
		}
		return parsePatch(skein.Text(text).UTF8(), "")
	}
	f := fields(in)
	dir := f.text("workdir", "cwd", "workingdirectory", "dir")
	if path := f.path(); path != "" {
		all = f.edits(path)
	} else {
		all = f.inner("")
	}
	if len(all) == 0 {
		all = f.moved(plain(c.Name))
	}
	for _, key := range []string{"input", "patch", "patchtext"} {
		all = append(all, parsePatch(f.words(key), dir)...)
	}
	for _, key := range []string{"command", "cmd", "script", "commands"} {
		all = append(all, parseShell(f.words(key), dir)...)
	}
	for i := range all {
		if all[i].Dir == "" {
			all[i].Dir = dir
		}
	}
	return all
}

// The names of parameters by what they hold, as fields has them.
func paths() []string {
	return []string{"filepath", "path", "targetfile", "absolutepath", "relativepath", "notebookpath", "filename", "file", "relativeworkspacepath", "targetnotebook"}
}

func oldTexts() []string {
	return []string{"oldstring", "oldstr", "oldtext", "old", "search", "before", "find", "targetcontent"}
}

func newTexts() []string {
	return []string{"newstring", "newstr", "newtext", "new", "replace", "replacement", "after", "replacementcontent"}
}

func inserted() []string { return []string{"inserttext", "insertline", "newsource"} }

func contents() []string {
	return []string{"content", "contents", "filetext", "filecontent", "newcontent", "text", "codecontent"}
}

// sketches are for parts of a file that another model puts in.
func sketches() []string { return []string{"codeedit", "code"} }

func lists() []string {
	return []string{"edits", "replacements", "changes", "files", "replacementchunks"}
}

func patches() []string { return []string{"diff", "patch", "patchtext", "input"} }

// PathIn returns the path that a call's input names, of a file to read or to change; "" if
// there is none.
func PathIn(c *skein.Call) string {
	var in map[string]json.RawMessage
	if json.Unmarshal(c.Input, &in) != nil {
		return ""
	}
	return fields(in).path()
}

// Tells reports whether what a parameter of this name holds is in the edits that [Of]
// returns, if it returns any: a path or a text.
func Tells(name string) bool {
	name = plain(name)
	for _, names := range [][]string{paths(), oldTexts(), newTexts(), inserted(), sketches(), contents(), lists(), patches()} {
		if slices.Contains(names, name) {
			return true
		}
	}
	return false
}

// plain returns the name of a parameter in small letters, without - and _.
func plain(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(name), "_", ""), "-", "")
}

// parameters are those of a call by their names, in small letters, without - and _.
type parameters map[string]json.RawMessage

func fields(in map[string]json.RawMessage) parameters {
	f := make(parameters, len(in))
	for name, value := range in {
		f[plain(name)] = value
	}
	return f
}

// text returns the first of the parameters that is a string.
func (f parameters) text(names ...string) string {
	s, _ := f.some(names...)
	return s
}

func (f parameters) some(names ...string) (string, bool) {
	for _, name := range names {
		if s, ok := skein.Unquote(f[name]); ok {
			return skein.Text(s).UTF8(), true
		}
	}
	return "", false
}

// words returns a parameter that is a string, or the strings of one that is a list, one
// a line.
func (f parameters) words(name string) string {
	if s, ok := f.some(name); ok {
		return s
	}
	var list []string
	if json.Unmarshal(f[name], &list) != nil {
		return ""
	}
	return strings.Join(list, "\n")
}

func (f parameters) path() string {
	p := f.text(paths()...)
	if strings.ContainsAny(p, "\n\x00") || len(p) >= 4096 {
		return ""
	}
	return strings.TrimPrefix(p, "file://")
}

// edits returns what a call does to the file at path.
func (f parameters) edits(path string) []Edit {
	if was, is, ok := f.replacement(); ok {
		e := replace(path, was, is)
		for _, name := range []string{"replaceall", "changeall", "allowmultiple"} {
			e.Hunks[0].All = e.Hunks[0].All || string(f[name]) == "true"
		}
		return []Edit{e}
	}
	if all := f.inner(path); len(all) > 0 {
		return all
	}
	if text := f.text("diff", "patch"); text != "" {
		if all := parsePatch(text, ""); len(all) > 0 {
			return all
		}
		return parseBlocks(path, text)
	}
	if text, ok := f.some(sketches()...); ok {
		return []Edit{{Path: path, Added: slices.DeleteFunc(Lines(text), func(l string) bool { return strings.Contains(l, "existing code") })}}
	}
	if f.text("command", "mode") == "append" {
		if text, ok := f.some("newstr", "content", "text"); ok {
			return []Edit{{Path: path, Added: Lines(text), Hunks: []Hunk{{New: text}}}}
		}
	}
	if text, ok := f.some(inserted()...); ok {
		return []Edit{{Path: path, Added: Lines(text)}}
	}
	if f["insertline"] != nil || f["line"] != nil {
		if text, ok := f.some("newstr", "text", "content"); ok {
			return []Edit{{Path: path, Added: Lines(text)}}
		}
	}
	if text, ok := f.some(contents()...); ok {
		return []Edit{{Path: path, Added: Lines(text), Whole: true, Hunks: []Hunk{{New: text}}}}
	}
	return nil
}

// moved returns what a call of a tool does that moves, copies or deletes a file, as the
// tool's name says.
func (f parameters) moved(tool string) []Edit {
	from, to := f.text("source", "sourcepath", "oldpath"), f.text("destination", "destinationpath", "newpath")
	switch {
	case from != "" && to != "" && (strings.Contains(tool, "move") || strings.Contains(tool, "rename")):
		return []Edit{{Path: to, From: from}}
	case from != "" && to != "" && strings.Contains(tool, "copy"):
		return []Edit{{Path: to, From: from, Copied: true}}
	case f.path() != "" && slices.Contains([]string{"delete", "deletefile", "removefile"}, tool):
		return []Edit{{Path: f.path(), Deleted: true}}
	}
	return nil
}

func (f parameters) replacement() (was, is string, ok bool) {
	was, old := f.some(oldTexts()...)
	is, now := f.some(newTexts()...)
	return was, is, old && now
}

// inner returns the edits of a call that has a list of them.
func (f parameters) inner(path string) (all []Edit) {
	for _, name := range lists() {
		var list []map[string]json.RawMessage
		if json.Unmarshal(f[name], &list) != nil {
			continue
		}
		for _, in := range list {
			one := fields(in)
			of := one.path()
			if of == "" {
				of = path
			}
			if of != "" {
				all = append(all, one.edits(of)...)
			}
		}
	}
	return all
}

// replace returns the edit that puts one text in the place of another.
func replace(path, was, is string) Edit {
	e := Edit{Path: path, Hunks: []Hunk{{Old: was, New: is}}}
	Diff(Lines(was), Lines(is), func(s Sign, lines []string) {
		switch s {
		case Added:
			e.Added = append(e.Added, lines...)
		case Removed:
			e.Removed = append(e.Removed, lines...)
		}
	})
	return e
}
