package files

import (
	"context"
	"encoding/json"
	"os"
	"strconv"

	"github.com/skein-dev/skein/agent/tool"
)

// Options configure the tools. The zero value is the usual.
type Options struct {
	Home string // the user's home; "" means the process's own

	// Shut are SQLite databases that this process has open: no tool opens or
	// replaces one, or the files beside it. SQLite's locks on a file would be
	// lost when the process closes it, no matter which code opened it.
	Shut []string

	// Memory is the folder whose USER.md and MEMORY.md every later session reads: no
	// tool of this package writes them, whatever a person allowed it. "" for none.
	Memory string

	// Editor is the program in which a person has files open; nil if there is none.
	Editor Buffers
}

// Buffers read and write text files as a person sees them, with changes that are not
// saved yet. They are used for files below the call's folder.
type Buffers interface {
	// ReadText returns the text of the file at an absolute path. It returns false if
	// the file on disk is to be read instead.
	ReadText(ctx context.Context, path string) (text string, ok bool)

	// WriteText writes a file at an absolute path, and reports whether it is the editor
	// that writes. The error says why it could not.
	WriteText(ctx context.Context, path, text string) (did bool, err error)
}

// New returns the tools.
func New(o Options) []tool.Tool {
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // without a home, ~ is left unchanged
	}
	return []tool.Tool{o.readTool(), o.writeTool(), o.editTool(), o.listTool(), o.searchTool()}
}

// titled returns a Title that is the selected text of the input, cleaned.
func titled(of func(in struct{ Path, Pattern string }) string) func(json.RawMessage) string {
	return func(input json.RawMessage) string {
		var in struct{ Path, Pattern string }
		if json.Unmarshal(input, &in) != nil { // Run reports the error
			return ""
		}
		return tool.Line(of(in))
	}
}

func pathTitle() func(json.RawMessage) string {
	return titled(func(in struct{ Path, Pattern string }) string { return in.Path })
}

// count returns a number with its noun.
func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return strconv.Itoa(n) + " " + of + "s"
}
