package keep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/lenient"
	"github.com/skein-dev/skein/store/lookup"
)

type scrubOptions struct {
	file              string
	found, json, wait bool
	met               []skein.Seq // damaged events
	job.Consent
}

// NewScrub returns the command scrub.
func NewScrub(f *job.Frame) *cobra.Command {
	var o scrubOptions
	c := &cobra.Command{
		Use:   "scrub NAME [flags]",
		Short: "remove secrets from a session for good",
		Long: `Remove secrets from a session for good: from its events, the records that they
were imported from, the index, attached files, the log, and the history of chat
prompts. Asterisks of the same length replace them. This cannot be undone, so it
asks for confirmation on the terminal, or needs --yes; it does not accept a part
of a title, - or last as the name. The session keeps a note of when it was
scrubbed, without the secrets.

The secrets are read from stdin, one per line, or from a file with
--secret-file, but never from the command line, where others can read them. With
--found, scrub removes what skein scan finds, if it is at least 8 bytes long;
try it with --dry-run first.

scrub names the copies that it cannot reach: backups, and the file of the
program that the session came from. It cannot scrub damaged events, which may
still contain the secret: it names them, scrubs the rest, and exits with code 1.
While another program reads from the store, the store's write-ahead log keeps
old bytes; scrub says so, and --wait waits until they are gone. Replace a secret
that has leaked in the service that issued it, too.`,
		Example: `skein scrub 4f1d22a0 --found --dry-run
	pass show acme/key | skein scrub 4f1d22a0 --yes
	skein scrub 4f1d22a0 --secret-file secrets.txt`,
		Args: job.Words(1, 1, "the NAME of a session"),
		RunE: f.WithStore(o.run),
	}
	c.Flags().StringVar(&o.file, "secret-file", "", "read the secrets from `FILE`, one per line")
	c.Flags().BoolVar(&o.found, "found", false, "remove what skein scan finds")
	c.Flags().BoolVar(&o.wait, "wait", false, "wait until old bytes are gone from the store's write-ahead log")
	o.Flags(c)
	job.JSONFlag(c, &o.json)
	c.MarkFlagsMutuallyExclusive("secret-file", "found")
	return c
}

// leastFound is the length of the shortest secret that --found removes, in bytes:
// anything shorter may well be a common word.
const leastFound = 8

// A scrubbed is what scrub did, in JSON.
type scrubbed struct {
	ID      skein.SessionID   `json:"id"`
	DryRun  bool              `json:"dry_run,omitempty"`
	Secrets int               `json:"secrets"`
	Events  int               `json:"events"`
	Records int               `json:"records"`
	Blobs   int               `json:"blobs"`
	Typed   int               `json:"typed"`             // lines of chat input history
	Forks   []skein.SessionID `json:"forks,omitempty"`   // forks that show a changed event too; with DryRun, all forks
	Beyond  []string          `json:"beyond,omitempty"`  // backups that it cannot reach
	Moved   []string          `json:"moved,omitempty"`   // backups that were moved since
	Pending string            `json:"pending,omitempty"` // where its old bytes still are, and until when
	Sources []string          `json:"sources,omitempty"` // files of other programs, left unchanged

	Unread        []skein.Seq  `json:"unread_events,omitempty"` // damaged: they may still have secrets
	UnreadRecords int          `json:"unread_records,omitempty"`
	UnreadBlobs   []skein.Hash `json:"unread_blobs,omitempty"`
}

func (o *scrubOptions) run(ctx context.Context, j *job.Job, args []string) error {
	find := func(name string) (skein.Session, error) {
		if !o.DryRun {
			return sessions.ToDestroy(ctx, j, name)
		}
		return sessions.SessionOrBinned(ctx, j, name)
	}
	s, err := find(args[0])
	if err != nil {
		return err
	}
	files, err := filesOf(ctx, j)
	if err != nil {
		return err
	}
	j.Store = lenient.Store(j.Store, func(_ skein.SessionID, e *skein.DamagedError) {
		if !slices.Contains(o.met, e.Seq) {
			o.met = append(o.met, e.Seq)
		}
	})
	sweeper, ok := skein.PartOf[skein.Sweeper](j.Whole)
	if o.wait && !ok {
		return fault.Usage("scrub --wait: the store %s does not say when old bytes are gone", j.Place)
	}
	secrets, err := o.secrets(ctx, j, s, files[s.ID])
	if err != nil {
		return err
	}
	if len(secrets) == 0 {
		return o.nothing(ctx, j, s, sweeper)
	}
	done := scrubbed{ID: s.ID, DryRun: o.DryRun, Secrets: len(secrets), Sources: paths(files[s.ID])}
	if o.DryRun {
		if err := o.count(ctx, j, files[s.ID], secrets, &done); err != nil {
			return err
		}
		return o.report(j, s, done)
	}
	if ok, err := o.Given(ctx, j, func() (job.Destruction, error) {
		err := o.count(ctx, j, files[s.ID], secrets, &done)
		return job.Destruction{Lines: would(j, &s, done), Question: "Remove them for good?", Would: removal(done)}, err
	}); !ok {
		return err
	}
	out, err := skein.LifecycleOf(j.Store).Scrub(ctx, s.ID, secrets)
	if err != nil {
		return err
	}
	done.Events, done.Records, done.Blobs, done.Forks = out.Events, out.Records, out.Blobs, out.Forks
	done.Beyond, done.Moved, done.Pending = out.Beyond, out.Moved, out.Pending
	done.Unread, done.UnreadRecords, done.UnreadBlobs = out.Unread, out.UnreadRecords, out.UnreadBlobs
	if done.Typed, err = scrubHistory(j, secrets); err != nil {
		return err
	}
	if err := mendLogs(ctx, j, append([]skein.SessionID{s.ID}, out.Forks...)); err != nil {
		return err
	}
	err = o.await(ctx, j, sweeper, &done.Pending)
	return errors.Join(err, o.report(j, s, done))
}

// nothing says that there is nothing to remove from session s; old bytes of what
// an earlier command removed may still be in the file.
func (o *scrubOptions) nothing(ctx context.Context, j *job.Job, s skein.Session, sweeper skein.Sweeper) (err error) {
	done := scrubbed{ID: s.ID, DryRun: o.DryRun, Unread: o.met}
	if sweeper != nil {
		if done.Pending, err = sweeper.Left(ctx); err != nil {
			return err
		}
	}
	j.Say("nothing in session %s looks like a secret of %d bytes or more", sessions.ShortID(s.ID), leastFound)
	if err := o.await(ctx, j, sweeper, &done.Pending); err != nil {
		return err
	}
	sayPending(j, done.Pending)
	if o.json {
		if err := job.WriteJSON(j.Stdout, done); err != nil {
			return err
		}
	}
	return o.missed(j, s, done)
}

// await waits until old bytes are gone from the file, if that was asked for.
func (o *scrubOptions) await(ctx context.Context, j *job.Job, sweeper skein.Sweeper, pending *string) error {
	if !o.wait || o.DryRun || *pending == "" {
		return nil
	}
	j.Say("waiting: %s", *pending)
	err := sweeper.Swept(ctx)
	if err == nil {
		*pending = ""
	}
	return err
}

// sayPending says where old bytes of what was removed still are.
func sayPending(j *job.Job, pending string) {
	if pending != "" {
		j.Say("  not yet gone from the file: %s", pending)
	}
}

// mendLogs removes what was scrubbed from the logs of sessions.
func mendLogs(ctx context.Context, j *job.Job, ids []skein.SessionID) error {
	for _, id := range ids {
		s, err := j.Store.Session(ctx, id)
		if err != nil {
			return err
		}
		sessions.CatchUpLog(ctx, j, &s) // if a program works on the session, that program does it
	}
	return nil
}

func paths(files []skein.SourceFile) (all []string) {
	for _, f := range files {
		all = append(all, f.Path)
	}
	return all
}

// secrets returns what is to be removed.
func (o *scrubOptions) secrets(ctx context.Context, j *job.Job, s skein.Session, files []skein.SourceFile) (all []string, err error) {
	if o.found {
		leaks, err := leaks(ctx, j, redact.New(), s, files)
		short := 0
		for _, l := range leaks {
			if len(l.value) < leastFound {
				short++
				continue
			}
			all = append(all, l.value)
		}
		if short > 0 {
			j.Say("%s of fewer than %d bytes left unchanged: they may be ordinary words", terminal.Count(short, "secret"), leastFound)
		}
		return all, err
	}
	text, err := o.text(j)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			all = append(all, line)
		}
	}
	if len(all) == 0 {
		return nil, fault.Advise(fault.Usage("scrub: no secret was given"), "give one per line on stdin, or: skein scrub %s --found", sessions.ShortID(s.ID))
	}
	return all, nil
}

// maxSecrets is how much of a file of secrets is read, in bytes.
const maxSecrets = 1 << 20

func (o *scrubOptions) text(j *job.Job) (string, error) {
	in := j.Stdin
	if o.file != "" {
		path, err := j.Absolute(o.file)
		if err != nil {
			return "", err
		}
		f, err := fault.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	} else if j.Terminal.In {
		j.Say("type the secrets, one per line, then Ctrl-D:")
	}
	b, err := io.ReadAll(io.LimitReader(in, maxSecrets+1))
	if err == nil && len(b) > maxSecrets {
		err = fault.Usage("scrub: more than %d bytes of secrets", maxSecrets)
	}
	return string(b), err
}

// count works out what would change, and what would not.
func (o *scrubOptions) count(ctx context.Context, j *job.Job, files []skein.SourceFile, secrets []string, done *scrubbed) error {
	for e, err := range j.Store.Events(ctx, done.ID, 0) {
		if err != nil {
			return err
		}
		if _, found := erase.Mask(e.Payload, secrets); found {
			done.Events++
		}
	}
	done.Unread = o.met
	var err error
	if done.Forks, err = sessions.ForksOf(ctx, j, done.ID); err != nil {
		return err
	}
	if k, ok := skein.PartOf[inspect.Backups](j.Whole); ok {
		all, err := k.Copies(ctx)
		if err != nil {
			return err
		}
		for _, c := range all {
			if c.Gone {
				done.Moved = append(done.Moved, c.Path)
			} else {
				done.Beyond = append(done.Beyond, c.Path)
			}
		}
	}
	j.Lost = func(bad *skein.DamagedRecordsError) { done.UnreadRecords += bad.Last - bad.First + 1 }
	return records(ctx, j, files, func(raw []byte) {
		if _, found := erase.Mask(raw, secrets); found {
			done.Records++
		}
	})
}

// removal says how much of a session would change.
func removal(d scrubbed) string {
	return fmt.Sprintf("%s would be removed from %s and %s", terminal.Count(d.Secrets, "secret"), terminal.Count(d.Events, "event"), terminal.Count(d.Records, "source record"))
}

// would names the session, and says what of it would change and what would not, for
// the question and for --dry-run.
func would(j *job.Job, s *skein.Session, d scrubbed) []string {
	lines := []string{sessions.Describe(j, s, nil), removal(d)}
	if len(d.Forks) > 0 {
		lines = append(lines, "  also from what its forks show of it: "+strings.Join(lookup.ShortIDs(d.Forks), " "))
	}
	return append(lines, unreached(j, d)...)
}

// report shows what was done.
func (o *scrubOptions) report(j *job.Job, s skein.Session, d scrubbed) error {
	if o.json {
		if err := job.WriteJSON(j.Stdout, d); err != nil {
			return err
		}
	} else {
		o.tell(j, s, d)
	}
	return o.missed(j, s, d)
}

// missed says what is damaged and could not be searched, which makes the command
// fail.
func (o *scrubOptions) missed(j *job.Job, s skein.Session, d scrubbed) error {
	var all []string
	if len(d.Unread) > 0 {
		all = append(all, terminal.Count(len(d.Unread), "event")+": "+sessions.Ranges(d.Unread))
	}
	if d.UnreadRecords > 0 {
		all = append(all, terminal.Count(d.UnreadRecords, "source record"))
	}
	for _, h := range d.UnreadBlobs {
		all = append(all, "file "+string(h))
	}
	if len(all) == 0 {
		return nil
	}
	for _, what := range all {
		j.Say("  damaged, may still contain them: %s", what)
	}
	j.Say("repair the store, then scrub again: skein doctor --repair\nor destroy the session: skein rm %s --purge", sessions.ShortID(s.ID))
	return fault.ErrSilent
}

func (o *scrubOptions) tell(j *job.Job, s skein.Session, d scrubbed) {
	if d.DryRun {
		for _, line := range would(j, &s, d) {
			job.Tell(j.Env, line)
		}
		return
	}
	what := fmt.Sprintf("%s of session %s %q", terminal.Count(d.Secrets, "secret"), sessions.ShortID(s.ID), sessions.Called(s))
	changed := fmt.Sprintf("%s, %s and %s", terminal.Count(d.Events, "event"), terminal.Count(d.Records, "source record"), terminal.Count(d.Blobs, "file"))
	j.Say("removed %s from %s", what, changed)
	if d.Typed > 0 {
		j.Say("  also from %s of what was typed in chats", terminal.Count(d.Typed, "line"))
	}
	for _, id := range d.Forks {
		j.Say("  also from what fork %s shows", sessions.ShortID(id))
	}
	sayPending(j, d.Pending)
	for _, line := range unreached(j, d) {
		j.Say("%s", line)
	}
}

// unreached names the files that keep the secrets.
func unreached(j *job.Job, d scrubbed) (lines []string) {
	for _, path := range d.Beyond {
		lines = append(lines, "  a backup that may contain them: "+j.Tilde(path))
	}
	for _, path := range d.Moved {
		lines = append(lines, "  a missing backup that may contain them (removed, moved, or on a disk that is not connected): "+j.Tilde(path))
	}
	for _, path := range d.Sources {
		lines = append(lines, "  not changed, as another program owns it: "+j.Tilde(path))
	}
	return lines
}

// scrubHistory removes secrets from the chat input history of all projects, and
// returns how many lines had any.
func scrubHistory(j *job.Job, secrets []string) (lines int, err error) {
	files, err := filepath.Glob(filepath.Join(j.Dirs.State, "history", "*.jsonl"))
	if err != nil {
		return 0, err
	}
	for _, path := range files {
		n, err := scrubLines(path, secrets)
		if lines += n; err != nil {
			return lines, err
		}
	}
	return lines, nil
}

// scrubLines rewrites the JSON Lines file at path without the secrets, if it has
// any.
func scrubLines(path string, secrets []string) (changed int, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var out bytes.Buffer
	for line := range bytes.Lines(b) {
		clean, found := erase.Mask(line, secrets)
		if found {
			changed++
		}
		out.Write(clean)
	}
	if changed == 0 {
		return 0, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".history-*") // 0600
	if err != nil {
		return 0, err
	}
	_, err = f.Write(out.Bytes())
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(f.Name()))
	}
	return changed, nil
}
