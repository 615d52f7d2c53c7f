package files

import (
	"encoding/json"
	"os"
	"strconv"

	"github.com/skein-dev/skein/agent/tool"
)

// Options say where the files are. The zero value is the usual.
type Options struct {
	Home string // the user's; "" is the process's own

	// Shut are SQLite databases that this process has open: no tool opens or
	// replaces one, nor what lies beside it. SQLite's locks on a file would
	// end when the process closes it, whoever had opened it.
	Shut []string
}

// New returns the tools.
func New(o Options) []tool.Tool {
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // without one, ~ stays as it is
	}
	return []tool.Tool{o.readTool(), o.writeTool(), o.editTool(), o.listTool(), o.searchTool()}
}

// titled returns a title that is the named text of the input, cleaned.
func titled(of func(in struct{ Path, Pattern string }) string) func(json.RawMessage) string {
	return func(input json.RawMessage) string {
		var in struct{ Path, Pattern string }
		if json.Unmarshal(input, &in) != nil { // Run says what is wrong with it
			return ""
		}
		return tool.Line(of(in))
	}
}

func pathTitle() func(json.RawMessage) string {
	return titled(func(in struct{ Path, Pattern string }) string { return in.Path })
}

// count says how many of something there are.
func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return strconv.Itoa(n) + " " + of + "s"
}
