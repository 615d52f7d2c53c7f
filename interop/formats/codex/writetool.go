package codex

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// A same is the call of a Codex tool that does what another agent's call did.
type same struct {
	name  string
	exec  *execIn         // for exec_command
	args  json.RawMessage // for another function
	patch string          // for apply_patch

	changes map[string]changeOut // of the patch, by file
}

type execIn struct {
	Cmd     string `json:"cmd"`
	Workdir string `json:"workdir,omitempty"`
}

func (s *same) input() json.RawMessage {
	if s.exec != nil {
		return skein.MustJSON(s.exec)
	}
	return s.args
}

func run(cmd string) *same { return &same{name: "exec_command", exec: &execIn{Cmd: utf8(cmd)}} }

// An input is a tool's input. Agents use several names for the same things.
type input struct{ loose.Object }

// sameTool returns the Codex call that does what c does, nil if there is none.
func sameTool(c *skein.Call) *same {
	o, err := loose.Parse(c.Input)
	in := input{o}
	if err != nil {
		if c.Name == "apply_patch" && jsontext.Value(c.Input).Kind() == '"' {
			text, _ := skein.Unquote(c.Input)
			return &same{name: c.Name, patch: text}
		}
		return nil
	}
	name := strings.TrimPrefix(strings.ToLower(c.Name), "tools__")
	name = strings.NewReplacer("_", "", "-", "", ".", "").Replace(name[strings.LastIndexByte(name, '/')+1:])
	switch name {
	case "bash", "shell", "sh", "exec", "execcommand", "runshellcommand", "runcommand", "runcommandline", "runterminalcmd", "executecommand", "shellcommand", "terminal", "localshell", "powershell":
		return in.shell()
	case "read", "readfile", "filesystemread", "view", "viewfile", "openfile", "cat":
		return in.read()
	case "write", "writefile", "writetofile", "filesystemwrite", "createfile", "create":
		return in.write()
	case "edit", "editfile", "filesystemedit", "replace", "strreplace", "searchreplace", "multiedit":
		return in.edit()
	case "strreplaceeditor", "strreplacebasededittool", "texteditor":
		return in.editor()
	case "ls", "list", "listfiles", "listdirectory", "listdir":
		return in.list()
	case "grep", "search", "searchfiles", "searchfilecontent", "grepsearch", "ripgrep":
		return in.search()
	case "glob", "findfiles", "filesearch":
		return in.glob()
	case "todowrite", "updatetodos", "updateplan":
		return in.plan()
	case "viewimage":
		if p := in.path(); p != "" {
			return &same{name: "view_image", args: skein.MustJSON(map[string]string{"path": utf8(p)})}
		}
	}
	return nil
}

func (in input) path() string {
	return in.Str("file_path", "filePath", "absolute_path", "path", "file", "filename", "target_file", "dir_path", "dir", "directory")
}

// quote returns s as one word for a shell.
func quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("/._-+:@%,", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func (in input) shell() *same {
	cmd := ""
	for _, name := range []string{"command", "cmd", "script"} {
		if cmd == "" {
			cmd = commandLine(in.Get(name))
		}
	}
	if cmd == "" {
		return nil
	}
	s := run(cmd)
	s.exec.Workdir = in.Str("workdir", "cwd", "working_directory", "directory", "dir_path")
	return s
}

// commandLine returns a command: a string, or a list of words; if the list calls a
// shell, the third word is the command.
func commandLine(v jsontext.Value) string {
	if v.Kind() != '[' {
		return loose.Str(v)
	}
	words, err := unmarshal[[]string](v)
	switch {
	case err != nil:
		return ""
	case len(words) == 3 && (words[1] == "-c" || words[1] == "-lc"):
		return words[2]
	}
	for i := range words {
		words[i] = quote(words[i])
	}
	return strings.Join(words, " ")
}

func (in input) read() *same {
	p, from, limit := in.path(), max(in.Count("offset", "start_line"), 1), in.Count("limit")
	if to := in.Count("end_line"); limit == 0 && to >= from {
		limit = to - from + 1
	}
	switch {
	case p == "":
		return nil
	case from > 1 || limit > 0:
		to := "$"
		if limit > 0 {
			to = strconv.FormatInt(from+limit-1, 10)
		}
		return run("sed -n " + quote(strconv.FormatInt(from, 10)+","+to+"p") + " " + quote(p))
	}
	return run("cat " + quote(p))
}

func (in input) list() *same {
	if p := in.path(); p != "" {
		return run("ls -la " + quote(p))
	}
	return run("ls -la")
}

func (in input) search() *same {
	what := in.Str("pattern", "query", "regex")
	if what == "" {
		return nil
	}
	cmd := "rg -n"
	if g := in.Str("glob", "include", "file_pattern"); g != "" {
		cmd += " -g " + quote(g)
	}
	cmd += " -e " + quote(what)
	if p := in.path(); p != "" {
		cmd += " " + quote(p)
	}
	return run(cmd)
}

func (in input) glob() *same {
	what := in.Str("pattern", "glob", "query")
	if what == "" {
		return nil
	}
	cmd := "rg --files -g " + quote(what)
	if p := in.path(); p != "" {
		cmd += " " + quote(p)
	}
	return run(cmd)
}

type stepOut struct {
	Step   string `json:"step"`
	Status string `json:"status"`
}

func (in input) plan() *same {
	var steps []stepOut
	for _, name := range []string{"todos", "plan", "items"} {
		for _, v := range in.List(name) {
			t, err := loose.Parse(v)
			s := stepOut{input{t}.Str("content", "step", "title", "task", "text"), t.Str("status")}
			if err != nil || s.Step == "" {
				return nil
			}
			if s.Status != "completed" && s.Status != "in_progress" {
				s.Status = "pending"
			}
			steps = append(steps, s)
		}
	}
	if len(steps) == 0 {
		return nil
	}
	return &same{name: "update_plan", args: skein.MustJSON(map[string][]stepOut{"plan": steps})}
}

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
