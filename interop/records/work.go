package records

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
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/reconcile"
)

// FileState is what the engine keeps in SourceFile.State.
type FileState struct {
	Records   int                        `json:"records,omitempty"` // of the file that will not change
	Bytes     int64                      `json:"bytes,omitempty"`   // of these
	Sum       string                     `json:"sum,omitempty"`     // SHA-256 of these, hexadecimal
	Rewriting bool                       `json:"rewriting,omitempty"`
	Removed   reconcile.RemovedKeys      `json:"lost,omitempty"`      // while rewriting, or Unread: what is to be withdrawn at the end
	Shrunk    reconcile.RemovedKeys      `json:"fewer,omitempty"`     // likewise: records that make fewer events now, with how many they made
	Unread    bool                       `json:"unread,omitempty"`    // what is in Removed and Shrunk may be in the part of the file that cannot be read
	Withdrew  bool                       `json:"withdrew,omitempty"`  // some records were withdrawn, and may come again
	Sessions  map[string]skein.SessionID `json:"sessions,omitempty"`  // by name in the file, if not the wanted ID
	Apart     []StoredApart              `json:"apart,omitempty"`     // events that wait for a file that has not been read
	Tail      int                        `json:"tail,omitempty"`      // while rewriting: how many records are stored, if those after the last are to be dropped at the end
	Echoes    Echoes                     `json:"told,omitempty"`      // records that were written here, from existing events
	Elsewhere bool                       `json:"elsewhere,omitempty"` // the last prompt is not in the recording of the session
	Spent     []SpentOnTurn              `json:"spent,omitempty"`     // what the recording of the session lacks
	Gone      bool                       `json:"gone,omitempty"`      // the file was gone when it was last looked for, and the session says so
	Lone      bool                       `json:"lone,omitempty"`      // a file that is not in its program's place for it, read alone
	Plain     bool                       `json:"plain,omitempty"`     // not a unit, although the format has units
	Back      skein.Seq                  `json:"back,omitempty"`      // the session is a fork that first goes back to this event of its parent
	Seq       skein.Seq                  `json:"seq,omitempty"`       // where the session ended when it was last stored to, if nobody else wrote to it
	Intent    *Intent                    `json:"intent,omitempty"`    // what a sync is writing to it
	Reread    *Reread                    `json:"yields,omitempty"`    // copies of this file, to be read again after it
}

// A SpentOnTurn is what the records of a source say was spent on a turn that was
// recorded, as long as the session does not say it.
type SpentOnTurn struct {
	Turn     skein.Seq   `json:"turn"` // its first event
	Usage    skein.Usage `json:"usage"`
	Provider string      `json:"provider,omitempty"`
	Model    string      `json:"model,omitempty"`
}

// A StoredApart is an [interop.Apart] as it is stored.
type StoredApart struct {
	Of      skein.ClientID  `json:"of"`
	Kind    skein.Kind      `json:"kind"`
	Time    skein.Time      `json:"time"`
	Payload json.RawMessage `json:"payload"`
	Moved   bool            `json:"moved,omitempty"` // another file gave it to a session that was taken out to be read again
}

// MaxState is the longest State, in bytes.
const MaxState = 1 << 20

// Encode returns the bytes of a SourceFile.State, at most [MaxState].
func (s FileState) Encode() []byte {
	if s.Intent != nil {
		return s.encodeIntent()
	}
	b := skein.MustJSON(s)
	if len(b) > MaxState {
		s.Apart, s.Shrunk = nil, nil
		b = skein.MustJSON(s)
	}
	if over := len(b) - MaxState; over > 0 { // some 87,000 records were removed
		s.Removed = s.Removed.Shorter(over)
		b = skein.MustJSON(s)
	}
	return b
}

// DecodeState parses a SourceFile.State; one that cannot be parsed is zero.
func DecodeState(b []byte) (s FileState) {
	line, rest := splitIntent(b)
	if json.Unmarshal(line, &s) != nil {
		return FileState{}
	}
	if s.Intent != nil {
		s.Intent.bytes = rest
	}
	s.Removed, s.Shrunk = s.Removed.Whole(), s.Shrunk.Whole()
	return s
}

// FileJob is a file to be read.
type FileJob struct {
	Format  interop.Format
	Now     disk.File
	Known   skein.SourceFile // as it was last stored; zero if it is new
	State   FileState        // of known
	Stream  *RecordStream
	Old     int  // records before this one are stored and have not changed
	verify  int  // the first verify records must have the sum in state; 0 for no check
	Patient bool // leave a torn end for later
	Forget  bool // the stored records from old on are no longer in the file
	Head    skein.Hash
	Packed  bool               // the file is read through [disk.Unpack]
	Unit    *Opened            // the unit that the file is a source of; nil if it is a file
	Name    string             // of the source
	Stored  *reconcile.Records // what is stored of a source of a unit, while it is read again; otherwise nil
	Dead    atomic.Bool        // its session cannot be written to; stop reading
}

// File returns the file as the format's reader sees it.
func (w *FileJob) File() interop.File {
	if w.Unit != nil {
		return w.Unit.file(w.Name)
	}
	return interop.File{Path: disk.PlainPath(w.Now.Path), Beside: func(rel string) ([]byte, bool) { return disk.Beside(w.Now.Path, rel) }}
}

// Unchanged reports whether a file is as it was when it was last read whole.
func Unchanged(c disk.File, f skein.SourceFile) bool {
	return c.Size == f.Size && c.Mtime == f.Mtime && c.Inode == f.Inode
}

// A Chunk is a run of records of one file, small enough for one transaction.
type Chunk struct {
	Job    *FileJob
	Reads  []ReadRecord
	At     FileState // where the stream is after it: Records, Bytes, Sum
	Bytes  int64
	End    bool  // it is the file's last
	Err    error // with end: why reading ended before the file did
	Failed error // with end: why the file cannot be read at all; nothing is known about it
	Skips  []interop.Skip
	Took   *interop.Took // what was imported from a side file
	Other  bool          // with end: it turned out not to be a unit
	Torn   bool          // with skips: it is being written
	Taken  chan struct{} // closed when it was stored, if it is so big that the next is not to be read before
}

// A chunk ends with the record that takes it over one of these.
const (
	ChunkBytes   = 768 << 10
	ChunkRecords = 768
)

// bigChunk is the most bytes that a chunk may have to wait for its turn while the
// next one is read.
const bigChunk = 2 << 20

// ErrRestart says that a file does not begin with what was read before.
var ErrRestart = errors.New("not the content that was read before")

// Produce reads a file, from where its stream is, and hands it to sink in
// chunks, the last one with end set. Its errors are sink's.
func (w *FileJob) Produce(ctx context.Context, sink func(Chunk) error) error {
	c := Chunk{Job: w}
	var sinkErr error
	send := func() error {
		c.At = w.Stream.State()
		sinkErr = sink(c)
		c = Chunk{Job: w}
		return sinkErr
	}
	err := w.Read(ctx, func(r ReadRecord) error {
		if r.Rec.N == w.verify && !w.verified() {
			return ErrRestart
		}
		if w.Dead.Load() {
			return errDead
		}
		c.Reads = append(c.Reads, r)
		if c.Bytes += int64(len(r.Rec.Raw)); c.Bytes < ChunkBytes && len(c.Reads) < ChunkRecords {
			return nil
		}
		return send()
	})
	if err == nil && w.Stream.N <= w.verify && !w.verified() {
		err = ErrRestart
	}
	switch {
	case sinkErr != nil:
		return sinkErr
	case errors.Is(err, ErrRestart):
		return err
	}
	w.verify = 0
	c.End, c.Err = true, err
	return send()
}

var errDead = errors.New("stopped")

// Read opens the file and runs its stream over the content.
//
// Errors are take's and the system's, and what is wrong with a packed file.
func (w *FileJob) Read(ctx context.Context, take func(ReadRecord) error) error {
	emit := func(r ReadRecord) error { return take(r.keyed()) }
	if w.Unit != nil {
		return w.readSource(ctx, emit)
	}
	f, now, err := disk.Open(w.Now.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	w.Now = now
	b, err := disk.Head(f)
	if err != nil {
		return err
	}
	w.Head = skein.Hash(Digest(b))
	r := io.LimitReader(f, now.Size-w.Stream.at.Offset)
	var packed io.ReadCloser
	if packed, w.Packed, err = disk.Unpack(now.Path, disk.Cancelable(ctx, f)); err != nil {
		return err
	}
	var unpacked disk.Readable
	if w.Packed {
		defer packed.Close()
		unpacked.From = packed
		r = &unpacked
		if _, err = io.CopyN(io.Discard, r, w.Stream.at.Offset); errors.Is(err, io.EOF) {
			err = cmp.Or(unpacked.Damage, err)
		}
	} else {
		_, err = f.Seek(w.Stream.at.Offset, io.SeekStart)
	}
	if err != nil {
		return err
	}
	return cmp.Or(w.Stream.Run(disk.Cancelable(ctx, r), emit), unpacked.Damage)
}

// State returns how far s has read.
func (s *RecordStream) State() FileState {
	return FileState{Records: s.N, Bytes: s.Ended, Sum: hex.EncodeToString(s.sum.Sum(nil))}
}

// verified reports whether the records read so far are the stored ones.
func (w *FileJob) verified() bool {
	return w.verify == 0 || w.Stream.N == w.verify && w.Stream.State().Sum == w.State.Sum
}

// Begin plans how to read a file: the stored part is given to the reader once more,
// and checked by its sum, before what is new. It returns w.
func (w *FileJob) Begin() *FileJob {
	w.State = DecodeState(w.Known.State)
	w.Stream = NewStream(w.Format, w.File())
	w.Old, w.verify = w.State.Records, w.State.Records
	return w
}

// Rewritten plans how to read a file whose beginning has changed: what it has
// in common with what was stored stays, and what follows is stored again. What is
// no longer in it counts as removed if the file was read whole, but not if part of
// it cannot be read.
//
// Errors are the store's, or those of reading the file.
func Rewritten(ctx context.Context, s skein.Store, w *FileJob) (*FileJob, error) {
	next := &FileJob{Format: w.Format, Now: w.Now, Known: w.Known, Patient: w.Patient, Forget: w.Unit == nil, Unit: w.Unit, Name: w.Name}
	next.State = FileState{Rewriting: true, Withdrew: w.State.Withdrew, Sessions: w.State.Sessions, Apart: w.State.Apart, Echoes: w.State.Echoes, Seq: w.State.Seq, Back: w.State.Back, Intent: w.State.Intent, Reread: w.State.Reread, Spent: w.State.Spent, Gone: w.State.Gone}
	diff := reconcile.NewRecords()
	diff.WasUnread = w.State.Unread
	for r, err := range skein.SourcesOf(s).Records(ctx, w.Format.Name, w.Known.Path, 0) {
		if err != nil {
			return nil, err
		}
		diff.Stored(r)
	}
	if w.Unit != nil {
		next.Stored, next.State.Tail = diff, diff.Len()
	}
	next.Stream = NewStream(w.Format, next.File())
	claims := NewUniqueKeys()
	err := next.Read(ctx, func(r ReadRecord) error {
		rec := r.Rec
		if rec.Events = len(r.Made.Items); rec.Events > 0 {
			rec.Key, _ = claims.KeyOf(r)
		}
		if r.Torn {
			rec.Damage = ""
		}
		diff.Now(rec)
		return nil
	})
	diff.Close(w.State.Removed, w.State.Shrunk) // and those of a reading that was stopped
	next.Old, next.State.Removed, next.State.Shrunk = diff.Prefix, diff.Removed, diff.Shrunk
	next.State.Unread = diff.Unread || w.Unit != nil && len(w.Unit.Unit.Skips()) > 0
	next.Stream = NewStream(w.Format, next.File())
	return next, err
}

// Dies stops reading the source. Its unit counts as changed, so that the next
// import reads it again.
func (w *FileJob) Dies() {
	w.Dead.Store(true)
	if w.Unit != nil {
		w.Unit.Left.Store(true)
	}
}

// An Ended is a session to be taken out if it still ends there: what somebody has
// added since stays.
type Ended struct {
	ID   skein.SessionID `json:"id"`
	Last skein.Seq       `json:"last"`
}

// A Reread is what is to be read again after a file.
type Reread struct {
	Files    []string `json:"files"`
	Sessions []Ended  `json:"sessions,omitempty"` // in these files, to be taken out; forks before their parents
	Kids     []Ended  `json:"kids,omitempty"`     // children in these files, to be taken out with them
}

// Aside is a work for reporting something that concerns none of its records.
func (w *FileJob) Aside() *FileJob {
	return &FileJob{Format: w.Format, Now: w.Now, Unit: w.Unit, Name: w.Name}
}

// Says returns a chunk that reports w, and why.
func (w *FileJob) Says(err error) Chunk {
	return Chunk{Job: w.Aside(), Skips: []interop.Skip{{Path: w.Now.Path, Why: disk.Why(err)}}}
}

// Unfinished reports whether this is a unit some of whose sources were not imported to
// their end.
func (w *FileJob) Unfinished() bool { return w.Unit != nil && w.Name == "" && w.Unit.Left.Load() }

// TailStands reports whether the last bytes that were read are still where they were.
func (w *FileJob) TailStands() bool {
	f, _, err := disk.Open(w.Now.Path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(w.Stream.tail))
	_, err = f.ReadAt(b, w.Stream.Ended-int64(len(b)))
	return err == nil && bytes.Equal(b, w.Stream.tail)
}

// Hand sends a chunk, and if it is big, waits until it was stored.
//
// The error is ctx's.
func (c Chunk) Hand(ctx context.Context, to chan<- Chunk) error {
	if c.Bytes > bigChunk {
		c.Taken = make(chan struct{})
	}
	select {
	case to <- c:
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.Taken == nil {
		return nil
	}
	select {
	case <-c.Taken:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Has reports whether a session is to be taken out.
func (y *Reread) Has(id skein.SessionID) bool {
	return slices.ContainsFunc(slices.Concat(y.Sessions, y.Kids), func(x Ended) bool { return x.ID == id })
}
