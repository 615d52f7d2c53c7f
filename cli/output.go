package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/render"
)

// jsonFlag gives c the flag --json.
func jsonFlag(c *cobra.Command, to *bool) {
	c.Flags().BoolVar(to, "json", false, "print JSON, one object per line, with exact text")
}

// writeJSON writes v as JSON on one line.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// say writes a message that is not a result to stderr.
func (j *job) say(format string, args ...any) { j.tell(fmt.Sprintf(format, args...)) }

// tell writes text to stderr, cleaned; on a terminal, wrapped to its width.
func (e *Env) tell(text string) {
	text = render.Clean(text)
	if e.Terminal.Err && e.Terminal.Width > 0 {
		text = helpText{width: e.Terminal.Width + 1}.wrap(text, 0)
	}
	fmt.Fprintln(e.Stderr, text)
}
