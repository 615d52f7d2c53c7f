package keep

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lenient"
)

type scanOptions struct {
	json bool
	raw  sessions.Secrets
}

// NewScan returns the command scan.
func NewScan(f *job.Frame) *cobra.Command {
	var o scanOptions
	c := &cobra.Command{
		Use:   "scan [NAME…] [flags]",
		Short: "list what looks like a secret",
		Long: `List what looks like a secret in the named sessions, or in all of them: keys and
tokens of common services, private keys, passwords in URLs, and values assigned
to a name such as API_KEY. scan reads events and the files that they were
imported from. It guesses: it misses a password that is a plain word, and may
report a random value that is not a secret. To remove secrets for good, use
skein scrub.`,
		Example: `skein scan
	skein scan 4f1d22a0 --raw
	skein scan --json | jq -r .kind | sort | uniq -c`,
		Args: job.Words(0, -1, ""),
		RunE: f.WithStore(o.run),
	}
	sessions.SecretsFlag(c, &o.raw)
	f.WideFlag(c)
	job.JSONFlag(c, &o.json)
	return c
}

// A leak is a secret found in a session.
type leak struct {
	Session skein.SessionID `json:"session"`
	Kind    redact.Kind     `json:"kind"`
	Seq     skein.Seq       `json:"seq,omitempty"` // of the first event with it; 0 if only source records have it
	Events  int             `json:"events"`        // events with it
	Records int             `json:"records"`       // source records with it
	Bytes   int             `json:"bytes"`         // its length
	Begins  string          `json:"begins"`        // its beginning, to identify it
	Secret  string          `json:"secret,omitempty"`
	value   string
}

func (o *scanOptions) run(ctx context.Context, j *job.Job, args []string) (err error) {
	told := sessions.AroundDamage(j)
	defer func() { err = told(err) }()
	found, sessions := 0, 0
	files, err := filesOf(ctx, j)
	if err != nil {
		return err
	}
	r := redact.New()
	look := func(s skein.Session) error {
		leaks, err := leaks(ctx, j, r, s, files[s.ID])
		if sessions++; err != nil || len(leaks) == 0 {
			return err
		}
		found += len(leaks)
		return o.write(j, s, leaks)
	}
	if err := o.each(ctx, j, args, look); err != nil {
		return err
	}
	switch {
	case found == 0:
		j.Say("nothing in %s looks like a secret", terminal.Count(sessions, "session"))
	case !o.json:
		j.Say("remove them for good: skein scrub NAME --found")
	}
	return nil
}

// each calls look for the sessions in args, or for all, including those in the bin.
func (o *scanOptions) each(ctx context.Context, j *job.Job, args []string, look func(skein.Session) error) error {
	for _, name := range args {
		s, err := sessions.SessionOrBinned(ctx, j, name)
		if err == nil {
			err = look(s)
		}
		if err != nil {
			return err
		}
	}
	if len(args) > 0 {
		return nil
	}
	for _, bin := range []bool{false, true} {
		for s, err := range j.Store.Sessions(ctx, skein.Filter{Bin: bin, IncludeEmpty: true}) {
			if err == nil {
				err = look(s)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *scanOptions) write(j *job.Job, s skein.Session, leaks []leak) error {
	t := &terminal.Table{Columns: []terminal.Column{{Title: "KIND"}, {Title: "SEQ", Right: true}, {Title: "EVENTS", Right: true}, {Title: "RECORDS", Right: true}, {Title: "BYTES", Right: true}, {Title: "SECRET"}}}
	for i := range leaks {
		l := &leaks[i]
		if o.raw {
			l.Secret = l.value
		}
		if o.json {
			if err := job.WriteJSON(j.Stdout, l); err != nil {
				return err
			}
			continue
		}
		seq, text := "", l.Begins+"…"
		if l.Seq > 0 {
			seq = strconv.FormatInt(int64(l.Seq), 10)
		}
		if o.raw {
			text = strings.ReplaceAll(l.value, "\n", `\n`)
		}
		t.Rows = append(t.Rows, []string{string(l.Kind), seq, strconv.Itoa(l.Events), strconv.Itoa(l.Records), strconv.Itoa(l.Bytes), render.Line(text)})
	}
	if o.json {
		return nil
	}
	_, err := fmt.Fprintf(j.Stdout, "%s\n", j.Paint.Bold(sessions.ShortID(s.ID)+"  "+sessions.Called(s)))
	if err == nil {
		err = j.Table(j.Stdout, t)
	}
	return err
}

// leaks returns the secrets of s, each once, in order.
func leaks(ctx context.Context, j *job.Job, r *redact.Redactor, s skein.Session, files []skein.SourceFile) (all []leak, err error) {
	at := map[string]int{}
	note := func(v redact.KnownSecret) *leak {
		i, ok := at[v.Text]
		if !ok {
			i = len(all)
			at[v.Text] = i
			all = append(all, leak{Session: s.ID, Kind: v.Kind, Bytes: len(v.Text), Begins: v.Text[:min(4, len(v.Text)/4)], value: v.Text})
		}
		return &all[i]
	}
	for e, err := range j.Store.Events(ctx, s.ID, 0) {
		if err != nil {
			return nil, err
		}
		for _, v := range once(r.Values(e.Payload)) {
			l := note(v)
			if l.Events++; l.Seq == 0 {
				l.Seq = e.Seq
			}
		}
	}
	err = records(ctx, j, files, func(raw []byte) {
		for _, v := range once(r.Values(raw)) {
			note(v).Records++
		}
	})
	return all, err
}

// filesOf returns the source files of each session, including those that only copy
// it.
func filesOf(ctx context.Context, j *job.Job) (map[skein.SessionID][]skein.SourceFile, error) {
	all := map[skein.SessionID][]skein.SourceFile{}
	for f, err := range skein.SourcesOf(j.Store).Files(ctx, "") {
		if err != nil {
			return nil, err
		}
		id := f.Session
		if f.CopyOf != "" {
			id = f.CopyOf
		}
		all[id] = append(all[id], f)
	}
	return all, nil
}

// records calls look with the source records of files, and skips damaged ones.
func records(ctx context.Context, j *job.Job, files []skein.SourceFile, look func(raw []byte)) error {
	for _, f := range files {
		for r, err := range lenient.Records(ctx, j.Store, f.Format, f.Path, func(bad *skein.DamagedRecordsError) { sessions.Unread(j, bad) }) {
			if err != nil {
				return err
			}
			look(r.Raw)
		}
	}
	return nil
}

// once returns each value once.
func once(all []redact.KnownSecret) (out []redact.KnownSecret) {
	seen := map[string]bool{}
	for _, v := range all {
		if !seen[v.Text] {
			seen[v.Text] = true
			out = append(out, v)
		}
	}
	return out
}
