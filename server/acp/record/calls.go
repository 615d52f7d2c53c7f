package record

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
)

// Call returns the update that shows a call before it runs: what kind of work it does,
// on which file, and how it changes that. cwd is the session's folder.
func Call(c *skein.Call, cwd string) json.RawMessage {
	u := map[string]any{
		"sessionUpdate": "tool_call", "toolCallId": c.ID, "status": "pending",
		"title": titleOf(c), "name": cmp.Or(c.Name, "tool"), "kind": toolKind(c.Name),
	}
	if len(c.Input) > 0 {
		u["rawInput"] = c.Input
	}
	if path := edits.PathIn(c); path != "" {
		u["locations"] = []any{map[string]any{"path": within(cwd, path)}}
	}
	if diffs := diffsOf(c, cwd); len(diffs) > 0 {
		u["content"] = diffs
	}
	return skein.MustJSON(u)
}

// maxTitle is the longest title of a call, in bytes.
const maxTitle = 200

// titleOf says in one line what a call does.
func titleOf(c *skein.Call) string {
	title := cmp.Or(c.Name, "tool")
	var in struct{ Command, Pattern, Query string }
	_ = json.Unmarshal(c.Input, &in) // else the input does not name them
	if more := cmp.Or(in.Command, in.Pattern, in.Query, edits.PathIn(c)); more != "" {
		more, _, _ = strings.Cut(strings.TrimSpace(more), "\n")
		title += " " + more
	}
	if len(title) > maxTitle {
		title = strings.ToValidUTF8(title[:maxTitle], "") + "…"
	}
	return title
}

// diffsOf returns how a call changes files; nothing if its tool only may, as a shell.
func diffsOf(c *skein.Call, cwd string) (all []any) {
	if toolKind(c.Name) != "edit" {
		return nil
	}
	for _, e := range edits.Of(c) {
		for _, h := range e.Hunks {
			d := map[string]any{"type": "diff", "path": within(cwd, e.Path), "newText": h.New}
			if h.Old != "" {
				d["oldText"] = h.Old
			}
			all = append(all, d)
		}
	}
	return all
}

func within(cwd, path string) string {
	if filepath.IsAbs(path) || cwd == "" {
		return path
	}
	return filepath.Join(cwd, path)
}

// toolKind returns the protocol's kind of a tool: its name, if that is one.
func toolKind(name string) string {
	switch name {
	case "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode":
		return name
	case "Read", "read_file", "session_read":
		return "read"
	case "Edit", "Write", "MultiEdit", "apply_patch", "write", "edit_file", "write_file":
		return "edit"
	case "Bash", "bash", "shell", "exec_command", "local_shell":
		return "execute"
	case "Grep", "Glob", "grep", "glob", "search_files", "list_files", "session_search":
		return "search"
	case "WebFetch", "webfetch", "WebSearch":
		return "fetch"
	}
	return "other"
}

// Executes reports whether a tool runs commands.
func Executes(name string) bool { return toolKind(name) == "execute" }

// Result returns the update that shows the result of a call. blob returns the bytes of a
// blob, or nil. The diffs of a call that did what it should stay.
func Result(p *skein.Part, blob func(skein.Hash) []byte) json.RawMessage {
	res := p.Result
	known := metaOf(p.Meta).ACP
	u := object{"sessionUpdate": json.RawMessage(`"tool_call_update"`), "toolCallId": skein.MustJSON(res.CallID), "status": json.RawMessage(`"completed"`)}
	for name, v := range known {
		u[name] = v
	}
	if res.Failed {
		u["status"] = json.RawMessage(`"failed"`)
	}
	all := contentOf(res, blob)
	switch {
	case len(all) == 0:
	case known == nil && !res.Failed && toolKind(res.Name) == "edit":
		u["rawOutput"] = skein.MustJSON(res.Text)
	default:
		u["content"] = skein.MustJSON(all)
	}
	return skein.MustJSON(u)
}

// Prompt returns the content of a prompt as the parts of a message, and the bytes in it as
// blobs. A block that is not understood is kept whole.
func Prompt(blocks []json.RawMessage) ([]skein.Part, []skein.Blob) { return partsOf(blocks) }
