package edits

import "strings"

// parsePatch returns the edits of the patches in a text: those between "*** Begin Patch"
// and "*** End Patch" that several agents write, and unified diffs.
func parsePatch(text, dir string) []Edit {
	p := patchParser{dir: dir}
	switch {
	case strings.Contains(text, "*** Begin Patch"):
		p.agents(text)
	case strings.HasPrefix(text, "--- ") || strings.Contains(text, "\n--- ") && strings.Contains(text, "\n+++ "):
		p.unified(text)
	}
	return p.all
}

type patchParser struct {
	dir  string
	all  []Edit
	open bool // the last hunk of the last edit goes on
}

func (p *patchParser) last() *Edit {
	if len(p.all) == 0 {
		return nil
	}
	return &p.all[len(p.all)-1]
}

func (p *patchParser) add(path string) *Edit {
	p.all, p.open = append(p.all, Edit{Path: path, Dir: p.dir}), false
	return p.last()
}

// line adds a line of a patch's body to the last edit.
func (p *patchParser) line(l string) {
	e := p.last()
	if e == nil || l == "\\ No newline at end of file" {
		return
	}
	if !p.open {
		p.open = true
		e.Hunks = append(e.Hunks, Hunk{})
	}
	h := &e.Hunks[len(e.Hunks)-1]
	text := l + "\n"
	if l != "" && (l[0] == '+' || l[0] == '-' || l[0] == ' ') {
		text = text[1:]
	}
	switch {
	case strings.HasPrefix(l, "+"):
		e.Added = append(e.Added, l[1:])
		h.New += text
	case strings.HasPrefix(l, "-"):
		e.Removed = append(e.Removed, l[1:])
		h.Old += text
	default:
		h.Old += text
		h.New += text
	}
}

// agents reads a patch as the tool apply_patch takes it.
func (p *patchParser) agents(text string) {
	inside := false
	for _, l := range Lines(text) {
		l = strings.TrimSuffix(l, "\r")
		switch {
		case strings.HasPrefix(strings.TrimSpace(l), "*** Begin Patch"), strings.HasSuffix(l, "*** Begin Patch"):
			inside = true
		case strings.HasPrefix(l, "*** End Patch"):
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
			p.open = false
		case strings.HasPrefix(l, "*** "):
		default:
			p.line(l)
		}
	}
}

// unified reads a unified diff.
func (p *patchParser) unified(text string) {
	from, inside := "", false
	for _, l := range Lines(text) {
		l = strings.TrimSuffix(l, "\r")
		switch {
		case strings.HasPrefix(l, "--- "):
			from, inside = diffPath(l, "a/"), false
		case strings.HasPrefix(l, "+++ "):
			to := diffPath(l, "b/")
			switch {
			case to == "/dev/null" && from != "":
				p.add(from).Deleted = true
			case to != "":
				e := p.add(to)
				if e.Whole = from == "/dev/null"; !e.Whole && from != to {
					e.From = from
				}
			}
		case strings.HasPrefix(l, "@@ "):
			inside, p.open = true, false
		case strings.HasPrefix(l, "diff --git "):
			inside = false
		case inside:
			p.line(l)
		}
	}
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
