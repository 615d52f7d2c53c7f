package opencode

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// A tool is one of opencode's tools, with the names that other programs give it and
// its inputs.
type tool struct {
	name   string
	others []string // other programs' names, in lower case
	inputs []input
}

// An input is one of a tool's inputs, with the names that other programs give it.
type input struct {
	name   string
	others []string
	kind   jsontext.Kind // of its value
	must   bool
}

// tools returns the tools that the program offers its models.
func tools() []tool {
	const str, num = jsontext.Kind('"'), jsontext.Kind('0')
	file := input{"filePath", []string{"file_path", "path", "absolute_path", "target_file", "filename"}, str, true}
	dir := input{"path", []string{"dir_path", "directory", "target_directory"}, str, false}
	pattern := input{"pattern", []string{"query", "regex", "glob_pattern"}, str, true}
	return []tool{
		{"bash", []string{"shell", "exec_command", "run_shell_command", "run_terminal_cmd", "execute_command", "shell_command"}, []input{
			{"command", []string{"cmd", "script"}, str, true}, {"workdir", []string{"cwd", "dir"}, str, false}, {"description", nil, str, false},
		}},
		{"read", []string{"read_file", "view", "view_file"}, []input{file, {"offset", []string{"start_line"}, num, false}, {"limit", nil, num, false}}},
		{"edit", []string{"edit_file", "replace", "str_replace"}, []input{
			file,
			{"oldString", []string{"old_string", "oldText", "old_str"}, str, true},
			{"newString", []string{"new_string", "newText", "new_str"}, str, true},
			{"replaceAll", []string{"replace_all"}, 't', false},
		}},
		{"write", []string{"write_file", "create_file", "write_to_file"}, []input{file, {"content", []string{"contents", "text"}, str, true}}},
		{"grep", []string{"search_files", "search_file_content", "grep_search", "ripgrep"}, []input{pattern, dir, {"include", []string{"glob"}, str, false}}},
		{"glob", []string{"find", "find_files", "file_search"}, []input{pattern, dir}},
		{"list", []string{"ls", "list_files", "list_directory", "list_dir"}, []input{dir}},
		{"webfetch", []string{"web_fetch", "fetch"}, []input{{"url", nil, str, true}, {"format", nil, str, false}}},
		{"task", []string{"agent"}, []input{{"description", nil, str, true}, {"prompt", nil, str, true}, {"subagent_type", nil, str, true}}},
		{"todowrite", nil, []input{{"todos", nil, '[', true}}},
	}
}

// toolOf returns a call as one of opencode's tools; false if none fits.
func toolOf(c *skein.Call) (name string, in json.RawMessage, ok bool) {
	o, err := loose.Parse(c.Input)
	if err != nil {
		return "", nil, false
	}
	low := strings.ToLower(c.Name)
	for _, t := range tools() {
		if t.name != low && !slices.Contains(t.others, low) {
			continue
		}
		if t.name == c.Name && t.takes(o) {
			return c.Name, c.Input, true
		}
		if in, ok := t.input(o); ok {
			return t.name, in, true
		}
	}
	return "", nil, false
}

// takes reports whether o has what the tool requires, under its own names.
func (t *tool) takes(o loose.Object) bool {
	return !slices.ContainsFunc(t.inputs, func(i input) bool { return i.must && o.Get(i.name).Kind() != i.kind })
}

// input converts another tool's input to this tool's, and returns false if something
// is missing.
func (t *tool) input(o loose.Object) (json.RawMessage, bool) {
	var out loose.Object
	for _, i := range t.inputs {
		v := i.of(o)
		switch {
		case v != nil:
			out = append(out, loose.Member{Name: i.name, Value: v})
		case i.must:
			return nil, false
		}
	}
	return json.RawMessage(out.Without()), true
}

// of returns the input's value in o; nil if there is none.
func (i *input) of(o loose.Object) jsontext.Value {
	for _, n := range append([]string{i.name}, i.others...) {
		v := o.Get(n)
		switch {
		case v.Kind() == i.kind, i.kind == 't' && v.Kind() == 'f':
			return v
		case v.Kind() == '[' && i.name == "command":
			return commandOf(v)
		}
	}
	return nil
}

// commandOf returns the command line of a list of arguments: for bash -lc "…", what
// it runs.
func commandOf(v jsontext.Value) jsontext.Value {
	var args []string
	for _, e := range loose.Elements(v) {
		args = append(args, loose.Str(e))
	}
	if len(args) == 3 && strings.HasPrefix(args[1], "-") && strings.HasSuffix(args[1], "c") {
		return skein.AppendQuoted(nil, args[2])
	}
	if len(args) == 0 {
		return nil
	}
	return skein.AppendQuoted(nil, strings.Join(args, " "))
}
