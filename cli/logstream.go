package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/render"
)

type streamOptions struct {
	steps, json bool
	secrets     secretsShown
	dir         string
}

func newLogStream(f *frame) *cobra.Command {
	var o streamOptions
	c := &cobra.Command{
		Use:   "stream [flags]",
		Short: "read all logs, then follow them",
		Long: `Read the logs of all sessions, the one with the oldest change first, then follow
all of them, including those of new sessions, until Ctrl-C. A line announces
each switch to another session. If the folder does not exist yet, the command
waits for it. --logs-dir can also name a folder of Skillet's logs. With --json,
each line is an object with log, the USER/SESSION of the log, and either line,
the line unchanged, or damage, what is wrong with it. Secrets are hidden; --raw
shows them.`,
		Example: `skein log stream
	skein log stream --steps
	skein log stream --logs-dir ~/skillet/logs`,
		Args: words(0, 0, ""),
		RunE: f.plain(o.run),

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().BoolVar(&o.steps, "steps", false, "include when agents and tools started and ended")
	c.Flags().StringVar(&o.dir, "logs-dir", "", "read the logs below this `FOLDER`")
	secretsFlag(c, &o.secrets)
	jsonFlag(c, &o.json)
	return c
}

// A streamLine is a line of a log in JSON.
type streamLine struct {
	Log    string          `json:"log"`            // USER/SESSION
	Line   json.RawMessage `json:"line,omitempty"` // as it is in the log
	Damage string          `json:"damage,omitempty"`
}

func (o *streamOptions) run(ctx context.Context, j *job, _ []string) error {
	dir := o.dir
	if dir == "" {
		dir = j.logDir()
	} else if !filepath.IsAbs(dir) {
		cwd, err := j.Getwd()
		if err != nil {
			return err
		}
		dir = filepath.Join(cwd, dir)
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		j.say("waiting for the first log in %s", j.tilde(dir))
	case err != nil:
		return err
	case !info.IsDir():
		return usagef("--logs-dir %q: it is no folder", o.dir)
	}
	return o.print(ctx, j, dir)
}

func (o *streamOptions) print(ctx context.Context, j *job, dir string) error {
	text, hide := logText{w: j.Stdout, j: j, steps: o.steps}, o.secrets.curtain()
	last := ""
	for e, err := range sessionlog.Stream(ctx, dir) {
		if err == nil {
			hide.log(&e.Entry)
		}
		switch {
		case err != nil:
			return err
		case o.json:
			if err := writeJSON(j.Stdout, jsonOf(e)); err != nil {
				return err
			}
			continue
		case e.Kind == "" && e.Damage == "", e.Kind == sessionlog.Step && !o.steps:
			continue
		case e.Log != last && e.Damage == "":
			head := "── " + render.Line(e.Log) + " ──"
			if last != "" {
				head = "\n" + head
			}
			if _, err := fmt.Fprintln(j.Stdout, j.paint.Bold(head)); err != nil {
				return err
			}
			last, text.said = e.Log, ""
		}
		text.name = e.Log + ": "
		if err := text.entry(&e.Entry); err != nil {
			return err
		}
	}
	return nil
}

func jsonOf(e sessionlog.Streamed) streamLine {
	l := streamLine{Log: e.Log, Damage: e.Damage}
	if e.Damage == "" {
		l.Line = e.Raw
	}
	return l
}
