package interop

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/hooknews"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/reconcile"
)

// Options say how to import. The zero value is the usual case.
type Options struct {
	Again    bool           // import sessions again that were deleted here
	Named    bool           // the user named the paths: a file among them that yields nothing has failed
	All      []Format       // every format there is: to say what a file looks like if the user named it, and the format to take it as; may be nil
	Progress func(Progress) // called from time to time, from one goroutine; may be nil
	News     hooknews.Board // for a watch: the board whose news name files to look at; "" for none

	// Checkout returns what a folder of this machine, which exists, says about a session
	// that worked there: that is what its records do not say about the repository. nil if
	// the sessions were made on another machine.
	Checkout func(dir string) skein.Checkout
}

// Progress is how far an import has come.
type Progress struct {
	Path        string // file that is being read
	Files, Of   int    // files done, and all that are to be read
	Bytes, Size int64  // bytes done, and all that are to be read
	Report      Report // what was imported so far; its lists may be read, and grow later
}

// maxNamed bounds how many damaged records and skipped files a Report names;
// it counts all.
const maxNamed = 1000

// A Report says what an import did.
type Report struct {
	Files     int           // that some format knows
	Unchanged int           // of these, not read because they have not changed
	Unmatched int           // files that no format knows
	Removed   int           // files that were left out because their session was deleted here
	Waiting   int           // files whose session is locked, or that another import is reading; the next import takes them
	Sessions  int           // new ones
	Grown     int           // existing sessions that have new events
	Messages  int           // new ones, each counted once, in however many pieces it came
	Events    int           // new ones, of every kind
	Copies    int           // records that repeat another file's
	Amended   int           // events whose record was changed or removed since it was read
	Gone      int           // sessions whose source was found to be gone; they stay
	Back      int           // sessions whose source is there again
	Damaged   int           // new records that are damaged
	Damage    []Damage      // these, the first thousand
	Bytes     int64         // of new records
	Elapsed   time.Duration // wall clock

	Ambiguous
	Unimported

	Changed []skein.SessionID // the new sessions and those that have grown, the first thousand
	changed map[skein.SessionID]bool
}

// Unimported is what an import could not import.
type Unimported struct {
	Skipped int    // paths that are neither file nor folder, lead out of the tree or cannot be imported
	Skips   []Skip // these, the first thousand
	Failed  int    // of these, what an error kept from being imported, or in whole, and files that were named but yielded nothing
	Retried int    // of these, what the next import tries again, although its file has not changed
	Err     error  // the first such error, without the path
}

// Add adds what a part of the import could not import.
func (u *Unimported) Add(more Unimported) {
	u.Skipped, u.Failed, u.Retried = u.Skipped+more.Skipped, u.Failed+more.Failed, u.Retried+more.Retried
	u.Skips, u.Err = append(u.Skips, more.Skips...), cmp.Or(u.Err, more.Err)
}

// Ambiguous are files whose content fits one program and whose name or place fits
// another.
type Ambiguous struct {
	Alike  int      // files that look like a format's but are another program's
	Others []Other  // these, the first thousand
	Forced []Forced // files that were taken as the only format although they look like another's, the first thousand
}

// Rate returns how many bytes were imported in a second.
func (r Report) Rate() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Bytes) / r.Elapsed.Seconds()
}

// A Damage is a damaged record. Its bytes are kept.
type Damage struct {
	Path string
	Line int // 1 for the first
	What string
}

// A Skip is something that was not imported, or not in full.
type Skip struct {
	Path string
	Why  string
}

// AddDamage reports a damaged record.
func (r *Report) AddDamage(path string, line int, what string) {
	if r.Damaged++; len(r.Damage) < maxNamed {
		r.Damage = append(r.Damage, Damage{path, line, what})
	}
}

// AddSkip reports a path that was left out.
func (r *Report) AddSkip(path, why string) {
	for _, what := range []string{"file ", "folder ", "database "} { // whatever opened it may have named it already
		why = strings.TrimPrefix(why, what+path+": ")
	}
	if r.Skipped++; len(r.Skips) < maxNamed {
		r.Skips = append(r.Skips, Skip{path, why})
	}
}

// AddFailure reports a path that an error kept from being imported.
func (r *Report) AddFailure(path string, err error) {
	r.Retried++
	r.AddPartial(path, err)
}

// AddPartial reports a path that an error kept from being imported in whole: the rest
// is stored now, and the file is not read again before it changes.
func (r *Report) AddPartial(path string, err error) {
	r.AddSkip(path, disk.Why(err))
	if r.Failed++; r.Err == nil {
		r.Err = err
	}
}

// AddForced reports a file that was taken as the format that the user named.
func (r *Report) AddForced(f Forced) {
	if len(r.Forced) < maxNamed {
		r.Forced = append(r.Forced, f)
	}
}

// AddOther reports another program's file.
func (r *Report) AddOther(o Other) {
	if r.Alike++; len(r.Others) < maxNamed {
		r.Others = append(r.Others, o)
	}
}

// fileCounts is how many files have been reported so far.
type fileCounts struct{ files, unmatched, alike int }

// Counts returns how many files have been reported so far.
func (r *Report) Counts() fileCounts { return fileCounts{r.Files, r.Unmatched, r.Alike} }

// CountAsOne counts all files since was that no format knows as one.
func (r *Report) CountAsOne(was fileCounts) {
	if r.Unmatched = was.unmatched; r.Files == was.files && r.Alike == was.alike {
		r.Unmatched++
	}
}

// AddBatch adds what a batch with this receipt added.
func (r *Report) AddBatch(b skein.Batch, got skein.Receipt) {
	if got.New == 0 {
		return
	}
	old := slices.Max(got.Seqs) - skein.Seq(got.New) // the last one that was there before
	n := Growth{Session: b.Session, Events: got.New, Messages: got.Messages}
	for i, e := range b.Events {
		switch {
		case got.Seqs[i] <= old:
		case e.Kind == skein.KindCreated:
			n.Created = true
		case e.Kind == skein.KindAmended && reconcile.ByRecord(e.ClientID): // otherwise a later record amends an earlier one
			r.Amended++
		}
	}
	r.AddGrowth(n)
}

// Growth is what was added to a session.
type Growth struct {
	Session  skein.SessionID
	Created  bool // it is new
	Events   int  // that were appended
	Messages int  // that these events began
}

// AddGrowth reports what was added to a session.
func (r *Report) AddGrowth(n Growth) {
	if n.Events == 0 {
		return
	}
	r.Events += n.Events
	r.Messages += n.Messages
	if r.changed[n.Session] {
		return
	}
	if r.changed == nil {
		r.changed = map[skein.SessionID]bool{}
	}
	r.changed[n.Session] = true
	if len(r.Changed) < maxNamed {
		r.Changed = append(r.Changed, n.Session)
	}
	if n.Created {
		r.Sessions++
	} else {
		r.Grown++
	}
}
