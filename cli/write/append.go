package write

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
)

type appendOptions struct {
	role, id     string
	create, json bool
}

// NewAppend returns the command append.
func NewAppend(f *job.Frame) *cobra.Command {
	var o appendOptions
	c := &cobra.Command{
		Use:   "append NAME [FILE] [flags]",
		Short: "add one message from a file or stdin",
		Long: `Add one message to a session, from FILE, or from stdin if FILE is missing or -.
The command prints the session's ID and the message's seq on stdout once the
message is on disk. With --id a script can safely retry: a message with the same
client ID is stored once, and every attempt prints the same result.`,
		Example: `echo "the build is green" | skein append last
	skein append cli:notes --create --id build-4711 report.md`,
		Args: job.Words(1, 2, "the NAME of a session and perhaps a FILE"),
		RunE: f.WithStore(o.run),
	}
	g := c.Flags()
	g.StringVar(&o.role, "role", "user", "`role` of the speaker: user, assistant, tool, system, steer")
	g.StringVar(&o.id, "id", "", "client `ID`: a retry with the same ID stores nothing twice")
	g.BoolVar(&o.create, "create", false, "if no session has this ID or key, begin one with NAME as its key")
	job.JSONFlag(c, &o.json)
	job.Fixed(c, "role", sessions.RoleNames()...)
	return c
}

func (o *appendOptions) run(ctx context.Context, j *job.Job, args []string) error {
	role := skein.Role(o.role)
	if err := sessions.CheckRole(role); err != nil {
		return err
	}
	text, err := input(ctx, j, args[1:])
	if err != nil {
		return err
	}
	now := skein.At(j.Now())
	say := func() skein.Event {
		e := skein.Say(now, skein.Message{Role: role, Parts: []skein.Part{skein.TextPart(text)}})
		e.ClientID = skein.ClientID(o.id)
		return e
	}
	r, err := o.append(ctx, j, args[0], say)
	if err != nil {
		return err
	}
	if s, err := j.Store.Session(ctx, r.Session); err == nil {
		sessions.CatchUpLog(ctx, j, &s)
	}
	seq := r.Seqs[len(r.Seqs)-1]
	if o.json {
		return job.WriteJSON(j.Stdout, appended{r.Session, seq, r.New > 0})
	}
	_, err = fmt.Fprintln(j.Stdout, r.Session, seq)
	return err
}

// An appended is the answer in JSON.
type appended struct {
	Session skein.SessionID `json:"session"`
	Seq     skein.Seq       `json:"seq"`
	New     bool            `json:"new"` // false if an event with the client ID was stored already
}

// append appends the event that say makes. Each attempt has its own, so that the store
// can release a long one while it writes it.
func (o *appendOptions) append(ctx context.Context, j *job.Job, name string, say func() skein.Event) (skein.Receipt, error) {
	if !o.create {
		s, err := sessions.Live(ctx, j, name)
		if err != nil {
			return skein.Receipt{}, err
		}
		return one(j.Store.Append(ctx, skein.Batch{Session: s.ID, Events: []skein.Event{say()}}))
	}
	for {
		id, err := sessions.Exact(ctx, j, name)
		if err == nil {
			return one(j.Store.Append(ctx, skein.Batch{Session: id, Events: []skein.Event{say()}}))
		}
		if !errors.Is(err, skein.ErrNotFound) {
			return skein.Receipt{}, err
		}
		r, err := one(o.begin(ctx, j, name, say()))
		if !errors.Is(err, skein.ErrExists) {
			return r, err
		} // another program has just created it
	}
}

// begin creates a session with the key name.
func (o *appendOptions) begin(ctx context.Context, j *job.Job, name string, said skein.Event) ([]skein.Receipt, error) {
	cwd, err := j.Getwd()
	if err != nil {
		return nil, err
	}
	checkout, project := j.Here(cwd)
	created := skein.NewEvent(skein.KindCreated, said.Time, skein.Created{
		Key: name, Surface: "cli", Project: project, Cwd: cwd, Checkout: checkout.Known(), Program: "skein", Version: j.Version,
	})
	id := skein.NewSessionID(j.Now())
	return j.Store.Append(ctx, skein.Batch{Session: id, After: skein.Fresh, Events: []skein.Event{created, said}})
}

func one(rs []skein.Receipt, err error) (skein.Receipt, error) {
	if err != nil {
		return skein.Receipt{}, err
	}
	return rs[0], nil
}

// input returns the text of the file that args name, or of stdin.
func input(ctx context.Context, j *job.Job, args []string) (string, error) {
	r, name := j.Stdin, "stdin"
	if len(args) > 0 && args[0] != "-" {
		f, err := fault.Open(args[0])
		if err != nil {
			return "", err
		}
		defer f.Close()
		r, name = f, args[0]
	} else if j.Terminal.In {
		j.Say("type the message, then Ctrl-D")
	}
	text, err := job.ReadAll(ctx, r)
	switch {
	case err != nil:
		return "", err
	case text == "":
		return "", fault.Usage("%s: empty", name)
	case len(text) > skein.MaxPayload:
		return "", fault.Usage("%s: more than %d bytes", name, skein.MaxPayload)
	case !utf8.ValidString(text):
		return "", fault.Usage("%s: not UTF-8 text", name)
	}
	return text, nil
}
