package claudecode

import (
	"path"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// tools turns calls into those of Claude Code's own tools.
type tools struct {
	cwd  string
	ours bool // the session is Claude Code's own
}

// asTool returns a call as one of Claude Code's own tools; "" if none fits.
func (t tools) asTool(c *skein.Call) (name string, input []byte) {
	in := parseObject(c.Input)
	if len(c.Input) == 0 || string(c.Input) == "null" {
		in = loose.Object{}
	}
	switch {
	case in == nil && !t.ours:
		if s, ok := skein.Unquote(c.Input); ok { // a string that holds the input
			in = parseObject([]byte(s))
		}
		if in == nil {
			return "", nil
		}
	case in == nil:
		in = loose.Object{{Name: "input", Value: []byte(c.Input)}}
	}
	plain := plainID(c.Name) == c.Name && c.Name != ""
	if plain && (t.ours || strings.HasPrefix(c.Name, "mcp__") || in.Has(needs(c.Name)...)) {
		if len(in) == 0 {
			return c.Name, []byte("{}")
		}
		return c.Name, in.Without()
	}
	if server, tool, ok := strings.Cut(c.Name, "__"); ok && plain && server != "" && tool != "" && len(c.Name) < maxID-len("mcp__") {
		return "mcp__" + c.Name, in.Without()
	}
	name, out := t.translate(strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(c.Name)), in)
	if name == "" {
		return "", nil
	}
	return name, skein.MustJSON(out)
}

// needs returns the members that the input of one of Claude Code's tools must have;
// for any other name, one that no input has.
func needs(name string) []string {
	switch name {
	case "Bash":
		return []string{"command"}
	case "Read", "NotebookRead":
		return []string{"file_path"}
	case "Write":
		return []string{"file_path", "content"}
	case "Edit":
		return []string{"file_path", "old_string", "new_string"}
	case "MultiEdit":
		return []string{"file_path", "edits"}
	case "NotebookEdit":
		return []string{"notebook_path", "new_source"}
	case "Glob", "Grep":
		return []string{"pattern"}
	case "LS":
		return []string{"path"}
	case "WebFetch":
		return []string{"url", "prompt"}
	case "WebSearch":
		return []string{"query"}
	case "Task", "Agent":
		return []string{"description", "prompt"}
	case "TodoWrite":
		return []string{"todos"}
	}
	return []string{"\x00"}
}

// translate returns the tool and the input that correspond to another agent's tool,
// by its name without case and punctuation; "" if there is none.
func (t tools) translate(name string, in loose.Object) (string, any) {
	file := t.absolute(in.Str("file_path", "path", "filePath", "absolute_path", "target_file", "filename", "file"))
	switch name {
	case "bash", "shell", "runshellcommand", "executecommand", "execcommand", "localshell", "developershell", "runterminalcmd", "runterminalcommand", "runinterminal", "runcommand", "terminal", "containerexec", "execute", "exec":
		return t.shell(in)
	case "read", "readfile", "view", "viewfile", "openfile", "readtextfile":
		if file != "" {
			return "Read", reads(file, in)
		}
	case "write", "writefile", "createfile", "create", "writetofile", "newfile":
		if text, ok := member(in, "content", "contents", "file_text", "text"); ok && file != "" {
			return "Write", writeIn{file, text}
		}
	case "edit", "editfile", "replace", "strreplace", "searchreplace", "replacestring", "stringreplace":
		return edits(file, in)
	case "strreplaceeditor", "strreplacebasededittool", "texteditor", "developertexteditor":
		switch in.Str("command") {
		case "view":
			return t.translate("read", in)
		case "create", "write":
			return t.translate("write", in)
		case "str_replace":
			return t.translate("edit", in)
		}
	case "glob", "findfiles", "find", "filesearch", "globsearch", "searchfilesbyname":
		if p := in.Str("pattern", "glob_pattern", "query", "glob"); p != "" {
			return "Glob", globIn{p, t.absolute(in.Str("path", "dir", "directory", "dir_path"))}
		}
	case "listfiles", "listdirectory", "listdir", "ls", "list":
		return "Glob", globIn{first(in.Str("pattern", "glob"), "*"), t.absolute(in.Str("path", "dir_path", "directory", "dir", "relative_workspace_path"))}
	case "grep", "searchfiles", "grepsearch", "searchfilecontent", "rg", "ripgrep", "search", "searchtext":
		if p := in.Str("pattern", "regex", "query"); p != "" {
			return "Grep", grepIn{p, t.absolute(in.Str("path", "dir_path", "directory")), in.Str("glob", "include", "file_pattern", "include_pattern"), "content", in.Yes("ignore_case"), in.Count("context")}
		}
	case "webfetch", "fetch", "fetchurl", "urlfetch", "readurl":
		if u := in.Str("url", "uri"); u != "" {
			return "WebFetch", fetchIn{u, first(in.Str("prompt"), "What does the page say?")}
		}
	case "websearch", "googlewebsearch", "searchweb":
		if q := in.Str("query", "q", "search_term"); q != "" {
			return "WebSearch", searchIn{q}
		}
	case "task", "agent", "delegate", "subagent", "spawnagent", "runsubagent", "dispatchagent":
		if p := in.Str("prompt", "task", "message", "instruction", "instructions"); p != "" {
			return "Task", taskIn{first(in.Str("description", "title", "task_name"), skein.FirstWords(p)), p, first(in.Str("subagent_type", "agent", "agent_type", "agentName"), "general-purpose")}
		}
	case "todowrite", "updateplan", "updatetodolist", "managetodolist":
		return todos(in)
	}
	return "", nil
}

// shell returns a command as input for Bash.
func (t tools) shell(in loose.Object) (string, any) {
	out := bashIn{Command: in.Str("command", "cmd", "script"), Description: in.Str("description", "justification", "explanation")}
	if list := in.List("command"); len(list) > 0 {
		var argv []string
		for _, a := range list {
			argv = append(argv, skein.Text(loose.Str(a)).UTF8())
		}
		if n := len(argv); n == 3 && (argv[1] == "-lc" || argv[1] == "-c") {
			out.Command = argv[2]
		} else {
			for i, a := range argv {
				argv[i] = quoted(a)
			}
			out.Command = strings.Join(argv, " ")
		}
	}
	if out.Command == "" {
		return "", nil
	}
	if dir := in.Str("workdir", "cwd", "directory", "dir_path", "working_directory"); dir != "" && dir != t.cwd && dir != "." {
		out.Command = "cd " + quoted(dir) + " && " + out.Command
	}
	if out.Timeout = in.Count("timeout_ms"); out.Timeout == 0 {
		out.Timeout = 1000 * in.Count("timeout_seconds")
	}
	return "Bash", out
}

// quoted returns s as one word of a shell.
func quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("/._-+:@%=,", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func reads(file string, in loose.Object) readIn {
	out := readIn{Path: file, Offset: in.Count("offset", "start_line", "first_line"), Limit: in.Count("limit", "max_lines")}
	if end := in.Count("end_line", "last_line", "end_line_one_indexed_inclusive"); end > 0 && out.Limit == 0 {
		out.Limit = max(1, end-max(out.Offset, 1)+1)
	}
	return out
}

// edits returns the tool that changes a file in one place; "" if the input does not
// say what changes.
func edits(file string, in loose.Object) (string, any) {
	if list := in.List("edits"); len(list) == 1 {
		in = append(slices.Clone(parseObject(list[0])), in...)
	}
	was, some := member(in, "old_string", "oldString", "old_str", "old_text", "oldText")
	is, ok := member(in, "new_string", "newString", "new_str", "new_text", "newText")
	if file == "" || !ok || !some {
		return "", nil
	}
	return "Edit", editIn{file, was, is, in.Yes("replace_all") || in.Yes("replaceAll") || in.Yes("allow_multiple")}
}

// todos returns a to-do list.
func todos(in loose.Object) (string, any) {
	var out todoIn
	for _, name := range []string{"todos", "plan", "todoList"} {
		for _, v := range in.List(name) {
			o := parseObject(v)
			text := o.Str("content", "step", "title", "description")
			if text == "" {
				return "", nil
			}
			status := strings.ReplaceAll(o.Str("status"), "-", "_")
			if status != "in_progress" && status != "completed" {
				status = "pending"
			}
			out.Todos = append(out.Todos, todo{text, status, first(o.Str("activeForm"), text)})
		}
	}
	if len(out.Todos) == 0 {
		return "", nil
	}
	return "TodoWrite", out
}

// member returns the first of these members that is a string, and false if there is
// none.
func member(o loose.Object, names ...string) (string, bool) {
	for _, n := range names {
		if s, ok := o.Text(n); ok {
			return skein.Text(s).UTF8(), true
		}
	}
	return "", false
}

// absolute returns an absolute path, as Claude Code's tools require.
func (t tools) absolute(p string) string {
	if p == "" || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || strings.HasPrefix(p, `\`) || len(p) > 1 && p[1] == ':' {
		return p
	}
	if strings.Contains(t.cwd, `\`) {
		return strings.TrimRight(t.cwd, `\`) + `\` + strings.ReplaceAll(p, "/", `\`)
	}
	return path.Join(t.cwd, p)
}
