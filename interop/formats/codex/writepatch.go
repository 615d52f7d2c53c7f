package codex

import (
	"strings"

	"github.com/skein-dev/skein/internal/loose"
)

// patch returns a call of apply_patch that changes one file.
func patch(path, head string, lines []string, change changeOut) *same {
	all := append([]string{"*** Begin Patch", head + path}, lines...)
	return &same{
		name: "apply_patch", patch: strings.Join(append(all, "*** End Patch"), "\n"),
		changes: map[string]changeOut{path: change},
	}
}

// fits reports whether a path can be used in a patch, where it is the rest of a line.
func fits(path string) bool { return path != "" && !strings.ContainsAny(path, "\n\r") }

// marked returns the lines of text with a mark before each.
func marked(mark, text string) (lines []string) {
	if text == "" {
		return nil
	}
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		lines = append(lines, mark+l)
	}
	return lines
}

// text returns the first of these members that is a string, even an empty one, and
// false if there is none.
func (in input) text(names ...string) (string, bool) {
	for _, n := range names {
		if t, ok := in.Text(n); ok {
			return utf8(t), true
		}
	}
	return "", false
}

func (in input) write() *same {
	p := in.path()
	text, ok := in.text("content", "contents", "file_text", "text")
	if !ok || !fits(p) {
		return nil
	}
	return patch(p, "*** Add File: ", marked("+", text), changeOut{Type: "add", Content: &text})
}

func (in input) edit() *same {
	p := in.path()
	if !fits(p) {
		return nil
	}
	hunks, ok := in.hunk()
	for _, v := range in.List("edits") {
		o, _ := loose.Parse(v) // anything else has no texts
		h, is := input{o}.hunk()
		if !is {
			return nil
		}
		hunks, ok = append(hunks, h...), true
	}
	if !ok {
		return nil
	}
	diff := strings.Join(hunks, "\n") + "\n"
	return patch(p, "*** Update File: ", hunks, changeOut{Type: "update", Diff: &diff})
}

// hunk returns the lines of a patch for one replacement.
func (in input) hunk() (lines []string, ok bool) {
	was, ok := in.text("old_string", "oldString", "old_str", "old_text", "oldText")
	is, also := in.text("new_string", "newString", "new_str", "new_text", "newText")
	if !ok || !also {
		return nil, false
	}
	return append(append([]string{"@@"}, marked("-", was)...), marked("+", is)...), true
}

// editor is a tool that has several commands.
func (in input) editor() *same {
	switch in.Str("command") {
	case "view":
		return in.read()
	case "create":
		return in.write()
	case "str_replace":
		return in.edit()
	}
	return nil
}
