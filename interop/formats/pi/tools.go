package pi

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// A tool is one of pi's tools, with the names that other programs give it and its
// inputs.
type tool struct {
	name    string
	others  []string // other programs' names, in lower case
	inputs  []input
	replace bool // it replaces text
}

// An input is one of a tool's inputs, with the names that other programs give it.
type input struct {
	name   string
	others []string
	must   bool
	number bool
}

// tools returns pi's tools.
func tools() []tool {
	file := input{"path", []string{"file_path", "filePath", "absolute_path", "target_file", "filename"}, true, false}
	dir := input{"path", []string{"dir_path", "directory", "dir", "target_directory"}, false, false}
	limit := input{"limit", []string{"head_limit", "max_results"}, false, true}
	return []tool{
		{name: "bash", others: []string{"shell", "exec_command", "run_shell_command", "run_terminal_cmd", "local_shell", "execute_command", "shell_command", "terminal"}, inputs: []input{
			{"command", []string{"cmd", "script"}, true, false}, {"timeout", []string{"timeout_seconds"}, false, true},
		}},
		{name: "read", others: []string{"read_file", "readfile", "view", "view_file"}, inputs: []input{file, {"offset", []string{"start_line"}, false, true}, limit}},
		{name: "edit", others: []string{"edit_file", "replace", "str_replace"}, inputs: []input{file}, replace: true},
		{name: "write", others: []string{"write_file", "create_file", "write_to_file"}, inputs: []input{file, {"content", []string{"contents", "text"}, true, false}}},
		{name: "grep", others: []string{"search_files", "search_file_content", "grep_search", "ripgrep"}, inputs: []input{
			{"pattern", []string{"query", "regex"}, true, false}, dir, {"glob", []string{"include"}, false, false}, {"context", []string{"-C"}, false, true}, limit,
		}},
		{name: "find", others: []string{"glob", "find_files", "file_search"}, inputs: []input{{"pattern", []string{"glob_pattern", "query"}, true, false}, dir, limit}},
		{name: "ls", others: []string{"list_files", "list_directory", "list_dir", "list"}, inputs: []input{dir, limit}},
	}
}

// toolOf returns a call as one of pi's tools, with "" if none fits. same says that it
// already was one, with its input unchanged.
func toolOf(c *skein.Call) (name string, in json.RawMessage, same bool) {
	o, err := loose.Parse(c.Input)
	if err != nil {
		return "", nil, false
	}
	for _, t := range tools() {
		if t.name == c.Name && t.takes(o) {
			return c.Name, c.Input, true
		}
	}
	low := strings.ToLower(c.Name)
	for _, t := range tools() {
		if t.name != low && !slices.Contains(t.others, low) {
			continue
		}
		if in, ok := t.input(o); ok {
			return t.name, in, false
		}
	}
	return "", nil, false
}

// takes reports whether o has what the tool requires, under its own names.
func (t *tool) takes(o loose.Object) bool {
	if t.replace && !o.Has("edits") && !o.Has("oldText", "newText") {
		return false
	}
	return !slices.ContainsFunc(t.inputs, func(i input) bool { return i.must && o.Get(i.name).Kind() != '"' })
}

// input converts another tool's input to pi's, and returns false if something is
// missing.
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
	if t.replace {
		edits := edits(o)
		if edits == nil {
			return nil, false
		}
		out = append(out, edits...)
	}
	if t.name == "grep" && (o.Yes("-i") || o.Yes("ignore_case") || o.Yes("ignoreCase")) {
		out = append(out, loose.Member{Name: "ignoreCase", Value: jsontext.Value("true")})
	}
	return json.RawMessage(out.Without()), true
}

// of returns the input's value in o: a string or a number; nil if there is none.
func (i *input) of(o loose.Object) jsontext.Value {
	for _, n := range append([]string{i.name}, i.others...) {
		v := o.Get(n)
		switch {
		case v.Kind() == '"' && !i.number, v.Kind() == '0' && i.number:
			if i.name != "timeout" || n != "timeout" { // other programs count that in milliseconds
				return v
			}
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
	for i, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`&|;<>()*?[]{}~#!") {
			args[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	if len(args) == 0 {
		return nil
	}
	return skein.AppendQuoted(nil, strings.Join(args, " "))
}

// edits returns what an edit replaces: one text, or several.
func edits(o loose.Object) loose.Object {
	if one := edit(o); one != nil {
		return one
	}
	list := []byte{'['}
	for _, v := range o.List("edits") {
		e, _ := loose.Parse(v)
		one := edit(e)
		if one == nil {
			return nil
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, one.Without()...)
	}
	if len(list) == 1 {
		return nil
	}
	return loose.Object{{Name: "edits", Value: append(list, ']')}}
}

func edit(o loose.Object) loose.Object {
	before := input{"oldText", []string{"old_string", "oldString", "old_str"}, true, false}
	after := input{"newText", []string{"new_string", "newString", "new_str"}, true, false}
	was, is := before.of(o), after.of(o)
	if was == nil || is == nil {
		return nil
	}
	return loose.Object{{Name: "oldText", Value: was}, {Name: "newText", Value: is}}
}
