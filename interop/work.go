package interop

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/reconcile"
)

// fileState is what the engine keeps in SourceFile.State.
type fileState struct {
	Records   int                        `json:"records,omitempty"` // of the file that will not change
	Bytes     int64                      `json:"bytes,omitempty"`   // of these
	Sum       string                     `json:"sum,omitempty"`     // SHA-256 of these, hexadecimal
	Rewriting bool                       `json:"rewriting,omitempty"`
	Removed   reconcile.RemovedKeys      `json:"lost,omitempty"`     // while rewriting, or Unread: what is to be withdrawn at the end
	Shrunk    reconcile.RemovedKeys      `json:"fewer,omitempty"`    // likewise: records that make fewer events now, with how many they made
	Unread    bool                       `json:"unread,omitempty"`   // what is in Removed and Shrunk may be in the part of the file that cannot be read
	Withdrew  bool                       `json:"withdrew,omitempty"` // some records were withdrawn, and may come again
	Sessions  map[string]skein.SessionID `json:"sessions,omitempty"` // by name in the file, if not the wanted ID
	Apart     []apart                    `json:"apart,omitempty"`    // events that wait for a file that has not been read
	Tail      int                        `json:"tail,omitempty"`     // while rewriting: how many records are stored, if those after the last are to be dropped at the end
	Echoes    echoes                     `json:"told,omitempty"`     // records that were written here, from existing events
	Lone      bool                       `json:"lone,omitempty"`     // a file that is not in its program's place for it, read alone
	Plain     bool                       `json:"plain,omitempty"`    // not a unit, although the format has units
	Back      skein.Seq                  `json:"back,omitempty"`     // the session is a fork that first goes back to this event of its parent
	Seq       skein.Seq                  `json:"seq,omitempty"`      // where the session ended when it was last stored to, if nobody else wrote to it
	Intent    *intent                    `json:"intent,omitempty"`   // what a sync is writing to it
	Reread    *reread                    `json:"yields,omitempty"`   // copies of this file, to be read again after it
}

// apart is an Apart as it is stored.
type apart struct {
	Of      skein.ClientID  `json:"of"`
	Kind    skein.Kind      `json:"kind"`
	Time    skein.Time      `json:"time"`
	Payload json.RawMessage `json:"payload"`
}

// maxState is the longest State, in bytes.
const maxState = 1 << 20

func (s fileState) encode() []byte {
	if s.Intent != nil {
		return s.encodeIntent()
	}
	b := skein.MustJSON(s)
	if len(b) > maxState {
		s.Apart, s.Shrunk = nil, nil
		b = skein.MustJSON(s)
	}
	if over := len(b) - maxState; over > 0 { // some 87,000 records were removed
		s.Removed = s.Removed.Shorter(over)
		b = skein.MustJSON(s)
	}
	return b
}

func decodeState(b []byte) (s fileState) {
	line, rest := splitIntent(b)
	if json.Unmarshal(line, &s) != nil {
		return fileState{}
	}
	if s.Intent != nil {
		s.Intent.bytes = rest
	}
	s.Removed, s.Shrunk = s.Removed.Whole(), s.Shrunk.Whole()
	return s
}

// fileJob is a file to be read.
type fileJob struct {
	format  Format
	now     candidate
	known   skein.SourceFile // as it was last stored; zero if it is new
	state   fileState        // of known
	stream  *fileStream
	old     int  // records before this one are stored and have not changed
	verify  int  // the first verify records must have the sum in state; 0 for no check
	patient bool // leave a torn end for later
	forget  bool // the stored records from old on are no longer in the file
	head    skein.Hash
	packed  bool               // the file is read through [Unpack]
	unit    *opened            // the unit that the file is a source of; nil if it is a file
	name    string             // of the source
	stored  *reconcile.Records // what is stored of a source of a unit, while it is read again; otherwise nil
	dead    atomic.Bool        // its session cannot be written to; stop reading
}

func (w *fileJob) file() File {
	if w.unit != nil {
		return w.unit.file(w.name)
	}
	return File{Path: plain(w.now.path), Beside: func(rel string) ([]byte, bool) { return beside(w.now.path, rel) }}
}

// unchanged reports whether a file is as it was when it was last read whole.
func unchanged(c candidate, f skein.SourceFile) bool {
	return c.size == f.Size && c.mtime == f.Mtime && c.inode == f.Inode
}

// A chunk is a run of records of one file, small enough for one transaction.
type chunk struct {
	w      *fileJob
	reads  []read
	at     fileState // where the stream is after it: Records, Bytes, Sum
	bytes  int64
	end    bool  // it is the file's last
	err    error // with end: why reading ended before the file did
	failed error // with end: why the file cannot be read at all; nothing is known about it
	skips  []Skip
	took   *Took         // what was imported from a side file
	other  bool          // with end: it turned out not to be a unit
	torn   bool          // with skips: it is being written
	taken  chan struct{} // closed when it was stored, if it is so big that the next is not to be read before
}

// A chunk ends with the record that takes it over one of these.
const (
	chunkBytes   = 768 << 10
	chunkRecords = 768
)

// bigChunk is the most bytes that a chunk may have to wait for its turn while the
// next one is read.
const bigChunk = 2 << 20

var errRestart = errors.New("not the content that was read before")

// produce reads a file, from where its stream is, and hands it to sink in
// chunks, the last one with end set. Its errors are sink's.
func (w *fileJob) produce(ctx context.Context, sink func(chunk) error) error {
	c := chunk{w: w}
	var sinkErr error
	send := func() error {
		c.at = w.stream.state()
		sinkErr = sink(c)
		c = chunk{w: w}
		return sinkErr
	}
	err := w.read(ctx, func(r read) error {
		if r.rec.N == w.verify && !w.verified() {
			return errRestart
		}
		if w.dead.Load() {
			return errDead
		}
		c.reads = append(c.reads, r)
		if c.bytes += int64(len(r.rec.Raw)); c.bytes < chunkBytes && len(c.reads) < chunkRecords {
			return nil
		}
		return send()
	})
	if err == nil && w.stream.n <= w.verify && !w.verified() {
		err = errRestart
	}
	switch {
	case sinkErr != nil:
		return sinkErr
	case errors.Is(err, errRestart):
		return err
	}
	w.verify = 0
	c.end, c.err = true, err
	return send()
}

var errDead = errors.New("stopped")

// read opens the file and runs its stream over the content.
func (w *fileJob) read(ctx context.Context, emit func(read) error) error {
	if w.unit != nil {
		return w.readSource(ctx, emit)
	}
	f, now, err := open(w.now.path)
	if err != nil {
		return err
	}
	defer f.Close()
	w.now = now
	b, err := head(f)
	if err != nil {
		return err
	}
	w.head = skein.Hash(digest(b))
	var r io.Reader = io.LimitReader(f, now.size-w.stream.at.Offset)
	var packed io.ReadCloser
	if packed, w.packed, err = Unpack(now.path, cancelable(ctx, f)); err != nil {
		return err
	}
	var unpacked readable
	if w.packed {
		defer packed.Close()
		unpacked.r = packed
		r = &unpacked
		if _, err = io.CopyN(io.Discard, r, w.stream.at.Offset); errors.Is(err, io.EOF) {
			err = cmp.Or(unpacked.damage, err)
		}
	} else {
		_, err = f.Seek(w.stream.at.Offset, io.SeekStart)
	}
	if err != nil {
		return err
	}
	return cmp.Or(w.stream.run(cancelable(ctx, r), emit), unpacked.damage)
}

// state returns how far s has read.
func (s *fileStream) state() fileState {
	return fileState{Records: s.n, Bytes: s.ended, Sum: hex.EncodeToString(s.sum.Sum(nil))}
}

// verified reports whether the records read so far are the stored ones.
func (w *fileJob) verified() bool {
	return w.verify == 0 || w.stream.n == w.verify && w.stream.state().Sum == w.state.Sum
}

// begin plans how to read a file: the stored part is given to the reader once more,
// and checked by its sum, before what is new. It returns w.
func (w *fileJob) begin() *fileJob {
	w.state = decodeState(w.known.State)
	w.stream = newStream(w.format, w.file())
	w.old, w.verify = w.state.Records, w.state.Records
	return w
}

// rewritten plans how to read a file whose beginning has changed: what it has
// in common with what was stored stays, and what follows is stored again. What is
// no longer in it counts as removed if the file was read whole, but not if part of
// it cannot be read.
//
// Errors are the store's, or those of reading the file.
func rewritten(ctx context.Context, s skein.Store, w *fileJob) (*fileJob, error) {
	next := &fileJob{format: w.format, now: w.now, known: w.known, patient: w.patient, forget: w.unit == nil, unit: w.unit, name: w.name}
	next.state = fileState{Rewriting: true, Withdrew: w.state.Withdrew, Sessions: w.state.Sessions, Apart: w.state.Apart, Echoes: w.state.Echoes, Seq: w.state.Seq, Back: w.state.Back, Intent: w.state.Intent, Reread: w.state.Reread}
	diff := reconcile.NewRecords()
	diff.WasUnread = w.state.Unread
	for r, err := range skein.SourcesOf(s).Records(ctx, w.format.Name, w.known.Path, 0) {
		if err != nil {
			return nil, err
		}
		diff.Stored(r)
	}
	if w.unit != nil {
		next.stored, next.state.Tail = diff, diff.Len()
	}
	next.stream = newStream(w.format, next.file())
	claims := newUniqueKeys()
	err := next.read(ctx, func(r read) error {
		rec := r.rec
		if rec.Events = len(r.made.Items); rec.Events > 0 {
			rec.Key, _ = claims.keyOf(r)
		}
		if r.torn {
			rec.Damage = ""
		}
		diff.Now(rec)
		return nil
	})
	diff.Close(w.state.Removed, w.state.Shrunk) // and those of a reading that was stopped
	next.old, next.state.Removed, next.state.Shrunk = diff.Prefix, diff.Removed, diff.Shrunk
	next.state.Unread = diff.Unread || w.unit != nil && len(w.unit.unit.Skips()) > 0
	next.stream = newStream(w.format, next.file())
	return next, err
}

// dies stops reading the source. Its unit counts as changed, so that the next
// import reads it again.
func (w *fileJob) dies() {
	w.dead.Store(true)
	if w.unit != nil {
		w.unit.left.Store(true)
	}
}

// An ended is a session to be taken out if it still ends there: what somebody has
// added since stays.
type ended struct {
	ID   skein.SessionID `json:"id"`
	Last skein.Seq       `json:"last"`
}

// A reread is what is to be read again after a file.
type reread struct {
	Files    []string `json:"files"`
	Sessions []ended  `json:"sessions,omitempty"` // in these files, to be taken out; forks before their parents
	Kids     []ended  `json:"kids,omitempty"`     // children in these files, to be taken out with them
}

// aside is a work for reporting something that concerns none of its records.
func (w *fileJob) aside() *fileJob {
	return &fileJob{format: w.format, now: w.now, unit: w.unit, name: w.name}
}

// says returns a chunk that reports w, and why.
func (w *fileJob) says(err error) chunk {
	return chunk{w: w.aside(), skips: []Skip{{w.now.path, why(err)}}}
}

func (w *fileJob) unfinished() bool { return w.unit != nil && w.name == "" && w.unit.left.Load() }

// tailStands reports whether the last bytes that were read are still where they were.
func (w *fileJob) tailStands() bool {
	f, _, err := open(w.now.path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(w.stream.tail))
	_, err = f.ReadAt(b, w.stream.ended-int64(len(b)))
	return err == nil && bytes.Equal(b, w.stream.tail)
}

// hand sends a chunk, and if it is big, waits until it was stored.
func (c chunk) hand(ctx context.Context, to chan<- chunk) error {
	if c.bytes > bigChunk {
		c.taken = make(chan struct{})
	}
	select {
	case to <- c:
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.taken == nil {
		return nil
	}
	select {
	case <-c.taken:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (y *reread) has(id skein.SessionID) bool {
	return slices.ContainsFunc(slices.Concat(y.Sessions, y.Kids), func(x ended) bool { return x.ID == id })
}
