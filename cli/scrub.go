package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/lenient"
	"github.com/skein-dev/skein/store/lookup"
)

type scrubOptions struct {
	file              string
	found, json, wait bool
	met               []skein.Seq // damaged events
	consent
}

func newScrub(f *frame) *cobra.Command {
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
		Example: `skein scrub last --found --dry-run
	pass show acme/key | skein scrub 4f1d22a0 --yes
	skein scrub 4f1d22a0 --secret-file secrets.txt`,
		Args: words(1, 1, "the NAME of a session"),
		RunE: f.withStore(o.run),
	}
	c.Flags().StringVar(&o.file, "secret-file", "", "read the secrets from `FILE`, one per line")
	c.Flags().BoolVar(&o.found, "found", false, "remove what skein scan finds")
	c.Flags().BoolVar(&o.wait, "wait", false, "wait until old bytes are gone from the store's write-ahead log")
	o.flags(c)
	jsonFlag(c, &o.json)
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
	Forks   []skein.SessionID `json:"forks,omitempty"`   // forks that show a changed event too
	Beyond  []string          `json:"beyond,omitempty"`  // backups that it cannot reach
	Moved   []string          `json:"moved,omitempty"`   // backups that were moved since
	Pending string            `json:"pending,omitempty"` // where its old bytes still are, and until when
	Sources []string          `json:"sources,omitempty"` // files of other programs, left unchanged

	Unread        []skein.Seq  `json:"unread_events,omitempty"` // damaged: they may still have secrets
	UnreadRecords int          `json:"unread_records,omitempty"`
	UnreadBlobs   []skein.Hash `json:"unread_blobs,omitempty"`
}

func (o *scrubOptions) run(ctx context.Context, j *job, args []string) error {
	find := func(name string) (skein.Session, error) {
		if !o.dryRun {
			return j.doomed(ctx, name)
		}
		return j.sessionOrBinned(ctx, name)
	}
	s, err := find(args[0])
	if err != nil {
		return err
	}
	files, err := j.filesOf(ctx)
	if err != nil {
		return err
	}
	j.store = lenient.Store(j.store, func(_ skein.SessionID, e *skein.DamagedError) {
		if !slices.Contains(o.met, e.Seq) {
			o.met = append(o.met, e.Seq)
		}
	})
	secrets, err := o.secrets(ctx, j, s, files[s.ID])
	if err != nil {
		return err
	}
	if len(secrets) == 0 {
		j.say("nothing in session %s looks like a secret of %d bytes or more", shortID(s.ID), leastFound)
		return o.missed(j, s, scrubbed{Unread: o.met})
	}
	done := scrubbed{ID: s.ID, DryRun: o.dryRun, Secrets: len(secrets), Sources: paths(files[s.ID])}
	if o.dryRun {
		if err := o.count(ctx, j, files[s.ID], secrets, &done); err != nil {
			return err
		}
		return o.report(j, s, done)
	}
	if ok, err := o.given(ctx, j, func() (loss, error) { return o.loss(ctx, j, &s, files[s.ID], secrets) }); !ok {
		return err
	}
	sweeper, ok := skein.PartOf[skein.Sweeper](j.whole)
	if o.wait && !ok {
		return usagef("scrub --wait: it cannot be waited for the store %s", j.place)
	}
	out, err := skein.LifecycleOf(j.store).Scrub(ctx, s.ID, secrets)
	if err != nil {
		return err
	}
	done.Events, done.Records, done.Blobs, done.Forks = out.Events, out.Records, out.Blobs, out.Forks
	done.Beyond, done.Moved, done.Pending = out.Beyond, out.Moved, out.Pending
	done.Unread, done.UnreadRecords, done.UnreadBlobs = out.Unread, out.UnreadRecords, out.UnreadBlobs
	if done.Typed, err = j.scrubHistory(secrets); err != nil {
		return err
	}
	if err := j.mendLogs(ctx, append([]skein.SessionID{s.ID}, out.Forks...)); err != nil {
		return err
	}
	if o.wait && done.Pending != "" {
		j.say("waiting: %s", done.Pending)
		if err := sweeper.Swept(ctx); err != nil {
			return errors.Join(err, o.report(j, s, done))
		}
		done.Pending = ""
	}
	return o.report(j, s, done)
}

// mendLogs removes what was scrubbed from the logs of sessions.
func (j *job) mendLogs(ctx context.Context, ids []skein.SessionID) error {
	for _, id := range ids {
		s, err := j.store.Session(ctx, id)
		if err != nil {
			return err
		}
		j.catchUp(ctx, &s) // if a program works on the session, that program does it
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
func (o *scrubOptions) secrets(ctx context.Context, j *job, s skein.Session, files []skein.SourceFile) (all []string, err error) {
	if o.found {
		leaks, err := j.leaks(ctx, redact.New(), s, files)
		short := 0
		for _, l := range leaks {
			if len(l.value) < leastFound {
				short++
				continue
			}
			all = append(all, l.value)
		}
		if short > 0 {
			j.say("%s of fewer than %d bytes left as they are: they may be words that stand elsewhere too", count(short, "secret"), leastFound)
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
		return nil, advise(usagef("scrub: no secret was given"), "one a line on stdin, or: skein scrub %s --found", shortID(s.ID))
	}
	return all, nil
}

// maxSecrets is how much of a file of secrets is read, in bytes.
const maxSecrets = 1 << 20

func (o *scrubOptions) text(j *job) (string, error) {
	in := j.Stdin
	if o.file != "" {
		path, err := j.absolute(o.file)
		if err != nil {
			return "", err
		}
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	} else if j.Terminal.In {
		j.say("the secrets, one a line; Ctrl-D ends them:")
	}
	b, err := io.ReadAll(io.LimitReader(in, maxSecrets+1))
	if err == nil && len(b) > maxSecrets {
		err = usagef("scrub: more than %d bytes of secrets", maxSecrets)
	}
	return string(b), err
}

// count works out what would change.
func (o *scrubOptions) count(ctx context.Context, j *job, files []skein.SourceFile, secrets []string, done *scrubbed) error {
	for e, err := range j.store.Events(ctx, done.ID, 0) {
		if err != nil {
			return err
		}
		if _, found := erase.Mask(e.Payload, secrets); found {
			done.Events++
		}
	}
	done.Unread = o.met
	j.lost = func(bad *skein.DamagedRecordsError) { done.UnreadRecords += bad.Last - bad.First + 1 }
	return j.records(ctx, files, func(raw []byte) {
		if _, found := erase.Mask(raw, secrets); found {
			done.Records++
		}
	})
}

// loss names the session, and says how much of it would change.
func (o *scrubOptions) loss(ctx context.Context, j *job, s *skein.Session, files []skein.SourceFile, secrets []string) (loss, error) {
	d := scrubbed{ID: s.ID}
	if err := o.count(ctx, j, files, secrets, &d); err != nil {
		return loss{}, err
	}
	forks, err := forksOf(ctx, j, s.ID)
	out := fmt.Sprintf("%s would be taken out of %s and %s", count(len(secrets), "secret"), count(d.Events, "event"), count(d.Records, "source record"))
	lines := []string{j.named(s, nil), out}
	if len(forks) > 0 {
		lines = append(lines, "also out of what its forks show of it: "+strings.Join(lookup.ShortIDs(forks), " "))
	}
	return loss{lines, "Take them out for good?", out}, err
}

// report shows what was done.
func (o *scrubOptions) report(j *job, s skein.Session, d scrubbed) error {
	if o.json {
		if err := writeJSON(j.Stdout, d); err != nil {
			return err
		}
	} else {
		o.tell(j, s, d)
	}
	return o.missed(j, s, d)
}

// missed says what is damaged and could not be searched, which makes the command
// fail.
func (o *scrubOptions) missed(j *job, s skein.Session, d scrubbed) error {
	var all []string
	if len(d.Unread) > 0 {
		all = append(all, count(len(d.Unread), "event")+": "+ranges(d.Unread))
	}
	if d.UnreadRecords > 0 {
		all = append(all, count(d.UnreadRecords, "source record"))
	}
	for _, h := range d.UnreadBlobs {
		all = append(all, "file "+string(h))
	}
	if len(all) == 0 {
		return nil
	}
	for _, what := range all {
		j.say("  damaged, may still have them: %s", what)
	}
	j.say("see what can be mended, then scrub again: skein doctor --repair\nor destroy the session: skein rm %s --purge", shortID(s.ID))
	return errSilent
}

func (o *scrubOptions) tell(j *job, s skein.Session, d scrubbed) {
	what := fmt.Sprintf("%s of session %s %q", count(d.Secrets, "secret"), shortID(s.ID), called(s))
	changed := fmt.Sprintf("%s, %s and %s", count(d.Events, "event"), count(d.Records, "source record"), count(d.Blobs, "file"))
	if d.DryRun {
		j.say("would take %s out of %s and %s", what, count(d.Events, "event"), count(d.Records, "source record"))
	} else {
		j.say("took %s out of %s", what, changed)
	}
	if d.Typed > 0 {
		j.say("  and out of %s of what was typed in chats", count(d.Typed, "line"))
	}
	for _, id := range d.Forks {
		j.say("  also out of what fork %s shows", shortID(id))
	}
	if d.Pending != "" {
		j.say("  not yet out of the file: %s", d.Pending)
	}
	for _, path := range d.Beyond {
		j.say("  a backup that may have them: %s", j.tilde(path))
	}
	for _, path := range d.Moved {
		j.say("  a backup that may have them, not there any more (removed, moved, or on a disk that is not here): %s", j.tilde(path))
	}
	for _, path := range d.Sources {
		j.say("  not changed, another program's: %s", j.tilde(path))
	}
}
