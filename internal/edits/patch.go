package edits

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"strings"
)

// Patch returns the edits of a patch.
func Patch(text string) []Edit { return parsePatch(text, "") }

// parsePatch returns the edits of the patches in a text: those between "*** Begin Patch"
// and "*** End Patch" that several agents write, and unified diffs.
func parsePatch(text, dir string) []Edit {
	p := patchParser{dir: dir}
	if strings.Contains(text, beginPatch) {
		p.agents(text)
	} else {
		p.unified(Lines(text))
	}
	p.end()
	return p.all
}

const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
)

type patchParser struct {
	dir      string
	all      []Edit
	hunk     *Hunk  // that goes on; nil if there is none
	old, now []byte // of the hunk
	sign     byte   // of its last line
}

func (p *patchParser) last() *Edit {
	if len(p.all) == 0 {
		return nil
	}
	return &p.all[len(p.all)-1]
}

func (p *patchParser) add(path string) *Edit {
	p.end()
	p.all = append(p.all, Edit{Path: path, Dir: p.dir})
	return p.last()
}

// begin begins a hunk of the last edit.
func (p *patchParser) begin(h Hunk) {
	p.end()
	p.hunk = &h
}

// end ends the hunk that goes on.
func (p *patchParser) end() {
	if e := p.last(); p.hunk != nil && e != nil && len(p.old)+len(p.now) > 0 {
		p.hunk.Old, p.hunk.New = string(p.old), string(p.now)
		e.Hunks = append(e.Hunks, *p.hunk)
	}
	p.hunk, p.old, p.now = nil, nil, nil
}

// line adds a line of a patch's body to the last edit.
func (p *patchParser) line(l string) {
	e := p.last()
	if e == nil {
		return
	}
	if p.hunk == nil {
		p.begin(Hunk{Lines: !e.Whole})
	}
	sign, text := byte(Kept), l
	if l != "" && strings.IndexByte("+- \\", l[0]) >= 0 {
		sign, text = l[0], l[1:]
	}
	switch Sign(sign) {
	case Added:
		e.Added = append(e.Added, text)
		p.now = append(append(p.now, text...), '\n')
	case Removed:
		e.Removed = append(e.Removed, text)
		p.old = append(append(p.old, text...), '\n')
	case Kept:
		p.old = append(append(p.old, text...), '\n')
		p.now = append(append(p.now, text...), '\n')
	default: // the line before has no end
		if Sign(p.sign) != Added {
			p.old = bytes.TrimSuffix(p.old, []byte{'\n'})
		}
		if Sign(p.sign) != Removed {
			p.now = bytes.TrimSuffix(p.now, []byte{'\n'})
		}
	}
	p.sign = sign
}

// agents reads a patch as the tool apply_patch takes it.
func (p *patchParser) agents(text string) {
	inside := false
	for _, l := range Lines(text) {
		l = strings.TrimSuffix(l, "\r")
		switch {
		case strings.HasSuffix(strings.TrimSpace(l), beginPatch):
			inside = true
		case strings.HasPrefix(l, endPatch):
			inside = false
		case !inside:
		case strings.HasPrefix(l, "*** Update File: "):
			p.add(strings.TrimPrefix(l, "*** Update File: "))
		case strings.HasPrefix(l, "*** Add File: "):
			p.add(strings.TrimPrefix(l, "*** Add File: ")).Whole = true
		case strings.HasPrefix(l, "*** Delete File: "):
			p.add(strings.TrimPrefix(l, "*** Delete File: ")).Deleted = true
		case strings.HasPrefix(l, "*** Move to: ") && p.last() != nil:
			e := p.last()
			e.From, e.Path = e.Path, strings.TrimPrefix(l, "*** Move to: ")
		case strings.HasPrefix(l, "@@"):
			p.begin(Hunk{Lines: true, After: strings.TrimSpace(l[len("@@"):])})
		case strings.HasPrefix(l, "*** "):
		default:
			p.line(l)
		}
	}
}

// ranges are the line numbers of a hunk, as a unified diff has them.
var ranges = compiled(`^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// unified reads a unified diff. Other text before it, after it and between its files does
// not matter.
func (p *patchParser) unified(lines []string) {
	from := "" // where the file was before, if the diff says that it was moved
	for i := 0; i < len(lines); {
		l := strings.TrimSuffix(lines[i], "\r")
		switch {
		case strings.HasPrefix(l, "rename from "):
			from = strings.TrimPrefix(l, "rename from ")
		case strings.HasPrefix(l, "rename to ") && from != "":
			p.add(strings.TrimPrefix(l, "rename to ")).From = from
			from = ""
		case strings.HasPrefix(l, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ "):
			p.file(diffPath(l, "a/"), diffPath(strings.TrimSuffix(lines[i+1], "\r"), "b/"))
			i += 2
			for i < len(lines) && strings.HasPrefix(lines[i], "@@") {
				i += p.body(lines[i:])
			}
			continue
		}
		i++
	}
}

// file begins the edit of a file that was called from and is called to.
func (p *patchParser) file(from, to string) {
	switch e := p.last(); {
	case from == "" || to == "":
	case to == "/dev/null":
		p.add(from).Deleted = true
	case from == "/dev/null":
		p.add(to).Whole = true
	case from == to:
		p.add(to)
	case e == nil || e.Path != to || e.From != from:
		p.add(to).From = from
	}
}

// body reads one hunk, and returns how many lines it has. If the hunk does not say that,
// it goes on for as long as lines begin as those of a hunk do.
func (p *patchParser) body(lines []string) int {
	h, old, now := Hunk{Lines: true}, math.MaxInt, math.MaxInt
	if m := ranges().FindStringSubmatch(lines[0]); m != nil {
		count := func(s string) int {
			n, err := strconv.Atoi(cmp.Or(s, "1"))
			if err != nil {
				return math.MaxInt
			}
			return n
		}
		h.Line, old, now = count(m[1]), count(m[2]), count(m[3])
		if old == 0 {
			h.Line++ // it names the line before
		}
	}
	if e := p.last(); e != nil && e.Whole {
		h = Hunk{}
	}
	p.begin(h)
	for n, l := range lines[1:] {
		l = strings.TrimSuffix(l, "\r")
		switch {
		case strings.HasPrefix(l, "\\"):
		case old <= 0 && now <= 0:
			return 1 + n
		case l == "" || l[0] == ' ':
			old--
			now--
		case l[0] == '-' && !(old > len(lines) && strings.HasPrefix(l, "--- ")):
			old--
		case l[0] == '+':
			now--
		default:
			return 1 + n
		}
		p.line(l)
	}
	return len(lines)
}

// diffPath returns the path in a line such as "+++ b/main.go", which may have a time
// after a tab.
func diffPath(line, prefix string) string {
	path, _, _ := strings.Cut(line[len("+++ "):], "\t")
	return strings.TrimPrefix(path, prefix)
}

// parseBlocks reads the replacements of Cline's tools: a line of at least five < and
// SEARCH, the old text, a line of =, the new text, and a line of > and REPLACE.
func parseBlocks(path, text string) (all []Edit) {
	var was, is []string
	into := (*[]string)(nil)
	mark := func(l, sign, word string) bool {
		return strings.HasPrefix(l, strings.Repeat(sign, 5)) && strings.Contains(l, word)
	}
	for _, l := range Lines(text) {
		l = strings.TrimSuffix(l, "\r")
		switch {
		case mark(l, "<", "SEARCH"), mark(l, "-", "SEARCH"):
			was, is, into = nil, nil, &was
		case into == &was && len(was) == 0 && (strings.HasPrefix(l, ":start_line:") || l == "-------"): // Roo Code's
		case into == &was && strings.Trim(l, "=") == "" && len(l) >= 5:
			into = &is
		case into == &is && (mark(l, ">", "REPLACE") || mark(l, "+", "REPLACE")):
			all, into = append(all, replace(path, strings.Join(was, "\n"), strings.Join(is, "\n"))), nil
		case into != nil:
			*into = append(*into, l)
		}
	}
	return all
}
