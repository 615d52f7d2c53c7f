package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
)

type logOptions struct {
	follow  bool
	format  string
	json    bool
	secrets secretsShown
}

func newLog(f *frame) *cobra.Command {
	var o logOptions
	c := &cobra.Command{
		Use:   "log NAME [flags]",
		Short: "read the log of a session that skein ran",
		Long: `Read the log of a session that skein ran: who said what, when each agent and
tool started and ended, and with what result. The log is a JSON Lines file that
is derived from the session and repaired if it is damaged; log = "off" in the
settings turns logs off. --format jsonl prints the lines unchanged. Secrets are
hidden; --raw shows them. To read a session that another program ran, use skein
show.`,
		Example: `skein log -
	skein log - --follow
	skein log 4f1d22a0 --format jsonl | jq -r 'select(.kind == "final_result").finalResult.text'`,
		Args: words(1, 1, "the NAME of a session"),
		RunE: f.withStore(o.run),
	}
	c.Flags().BoolVarP(&o.follow, "follow", "f", false, "keep printing new entries until Ctrl-C")
	c.Flags().StringVar(&o.format, "format", "text", "output `FORMAT`: text, or jsonl, the lines unchanged")
	c.Flags().BoolVar(&o.json, "json", false, "the same as --format jsonl")
	secretsFlag(c, &o.secrets)
	fixed(c, "format", "text", "jsonl")
	c.AddGroup(&cobra.Group{ID: "all", Title: "of all sessions"})
	stream := newLogStream(f)
	stream.GroupID = "all"
	c.AddCommand(stream)
	return c
}

func (o *logOptions) run(ctx context.Context, j *job, args []string) error {
	switch o.format {
	case "jsonl":
		o.json = true
	case "text":
	default:
		return usagef("--format %q: want text or jsonl", o.format)
	}
	s, err := j.session(ctx, args[0])
	if err != nil {
		return err
	}
	path, err := j.logOf(ctx, s)
	if err != nil {
		return err
	}
	if o.follow {
		return o.print(j, j.Stdout, sessionlog.Follow(ctx, path))
	}
	return j.page(ctx, func(w io.Writer) (err error) {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		if o.json && bool(o.secrets) {
			_, err := io.Copy(w, f)
			return err
		}
		return o.print(j, w, sessionlog.Read(f))
	})
}

// logOf returns the path of the log of s; a log that was lost is rebuilt first.
func (j *job) logOf(ctx context.Context, s skein.Session) (string, error) {
	path, err := sessionlog.Path(j.logDir(), s.User, s.ID)
	if err != nil {
		return "", err
	}
	_, err = os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		ran, ranErr := sessionlog.Ran(ctx, j.store, s)
		if ran && ranErr == nil {
			ranErr = j.logs(j.store).Mend(ctx, s.ID)
		}
		if ranErr != nil {
			return "", ranErr
		}
		_, err = os.Stat(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", advise(missing("session %s has no log: only those that skein ran have one", shortID(s.ID)),
			"read it with: skein show %s", shortID(s.ID))
	}
	return path, err
}

// print prints entries as they arrive.
func (o *logOptions) print(j *job, w io.Writer, entries iter.Seq2[sessionlog.Entry, error]) error {
	text, hide := logText{w: w, j: j, steps: true, events: true}, o.secrets.curtain()
	for e, err := range entries {
		if err == nil {
			hide.log(&e)
		}
		switch {
		case err != nil:
			return err
		case o.json:
			_, err = w.Write(append(e.Raw, '\n'))
		default:
			err = text.entry(&e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
