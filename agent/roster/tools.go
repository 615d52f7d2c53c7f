package roster

import (
	"slices"
	"strings"

	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/agent/tool/files"
	"github.com/skein-dev/skein/agent/tool/remember"
	"github.com/skein-dev/skein/agent/tool/sessions"
	"github.com/skein-dev/skein/agent/tool/shell"
)

// groups returns names that stand for several tools.
func groups() map[string][]string {
	return map[string][]string{
		"files":    {"read_file", "write_file", "edit_file", "list_files", "search_files"},
		"read":     {"read_file", "list_files", "search_files"},
		"sessions": {"session_search", "session_read"},
	}
}

// usual returns the tools of an agent that names none.
func usual() []string { return []string{"shell", "files", "sessions", "remember"} }

// built returns every tool that is built in.
func (r *Roster) built() []tool.Tool {
	all := []tool.Tool{shell.New(shell.Options{Environ: r.Environ})}
	all = append(all, files.New(r.Files)...)
	if r.Store != nil {
		all = append(all, sessions.New(r.Store)...)
	}
	if r.Memory != "" {
		all = append(all, remember.New(r.Memory))
	}
	return all
}

// named returns the tools that d names.
func (r *Roster) named(d Definition) ([]tool.Tool, error) {
	names := d.Tools
	if names == nil {
		names = usual()
	}
	built := r.built()
	var all []tool.Tool
	for _, name := range Flat(names) {
		i := slices.IndexFunc(built, func(t tool.Tool) bool { return t.Spec.Name == name })
		switch {
		case i >= 0:
			all = append(all, built[i])
		case d.Tools != nil && name != "delegate" && name != "remember": // these come with the subagents and with a memory
			return nil, unknownTool(d, name, r.ToolNames())
		}
	}
	return all, nil
}

// ToolNames returns the names of the tools and groups that an agent file can
// name, sorted.
func (r *Roster) ToolNames() []string {
	var names []string
	for _, t := range r.built() {
		names = append(names, t.Spec.Name)
	}
	for g := range groups() {
		names = append(names, g)
	}
	slices.Sort(names)
	return names
}

// Flat returns names with each group replaced by its tools, without duplicates.
func Flat(names []string) (all []string) {
	for _, name := range names {
		of, ok := groups()[strings.TrimSpace(name)]
		if !ok {
			of = []string{strings.TrimSpace(name)}
		}
		for _, n := range of {
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}
