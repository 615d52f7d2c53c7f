package imports

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
)

// Options are the settings of imports.
type Options struct {
	Store    skein.Store                                 // that sessions are imported into
	Formats  []interop.Format                            // of all agents
	Home     interop.Home                                // where the agents keep their sessions
	Checkout func(dir string) skein.Checkout             // as in [interop.Options]
	Samples  fs.FS                                       // files with sample sessions, as agents keep them; nil: there are none
	After    func(context.Context, interop.Report) error // runs after each import that added something; may be nil
	Purged   func(skein.Session) error                   // removes what is kept of a purged session outside the store; may be nil
}

// Imports are the imports of a server, of which one runs at a time. All methods may be
// called from several goroutines.
type Imports struct {
	Options
	ctx    context.Context //nolint:containedctx // imports outlive the request that began them
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	ended   bool
	stop    context.CancelFunc // of the running import; nil without one
	status  RunStatus
	looking bool
	looked  time.Time // zero: not since the last import
	found   []AgentFiles
	wrong   error // why it is not known what was found
}

// A Kind is what an import imports.
type Kind string

// The kinds of imports.
const (
	Agents  Kind = "agents"  // what the agents keep on this machine
	Files   Kind = "files"   // what a browser sent
	Samples Kind = "samples" // the sample sessions
)

// RunStatus is what the running import does, or what the last one did. The zero value says
// that there was none.
type RunStatus struct {
	Kind    Kind
	Running bool
	Stopped bool             // the person stopped it
	So      interop.Progress // how far it has come; its Report is complete at the end
	Refused []RejectedFile   // files that were sent, and that were not even read
	Err     error            // that ended it early

	within, shown string // the folder of its files, and how it is named to people
}

// A RejectedFile is a file that could not be imported, or not in whole.
type RejectedFile struct{ File, Why string }

// Name returns the name of a file for people.
func (s *RunStatus) Name(path string) string {
	rest, ok := strings.CutPrefix(path, s.within)
	if s.within == "" || !ok || rest != "" && rest[0] != filepath.Separator {
		return path
	}
	rest = filepath.ToSlash(rest)
	if s.shown == "" {
		return strings.TrimPrefix(rest, "/")
	}
	return s.shown + rest
}

// Problems returns the files that could not be imported, or not in whole, and why.
func (s *RunStatus) Problems() (all []RejectedFile) {
	all = append(all, s.Refused...)
	for _, p := range s.So.Report.Skips {
		all = append(all, RejectedFile{s.Name(p.Path), p.Why})
	}
	for _, o := range s.So.Report.Others {
		all = append(all, RejectedFile{s.Name(o.Path), o.String()})
	}
	return all
}

// Failed returns how many files [RunStatus.Problems] would name if it named all.
func (s *RunStatus) Failed() int {
	return len(s.Refused) + s.So.Report.Skipped + s.So.Report.Alike
}

// New returns imports into a store. Close them when the server has stopped.
func New(o Options) *Imports {
	i := &Imports{Options: o}
	i.ctx, i.cancel = context.WithCancel(context.Background())
	return i
}

// Close stops the running import, and waits for it. What it has imported is stored.
func (i *Imports) Close() {
	i.mu.Lock()
	i.ended = true
	i.mu.Unlock()
	i.cancel()
	i.done.Wait()
}

// Interrupt stops the running import, as if the person had stopped it.
func (i *Imports) Interrupt() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stop != nil {
		i.status.Stopped = true
		i.stop()
	}
}

// Status returns what the running import does, or what the last one did.
func (i *Imports) Status() RunStatus {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.status
}

// claim makes s the running import, unless there is one already.
//
// The error wraps [skein.ErrLocked] if there is one, or [skein.ErrClosed].
func (i *Imports) claim(s RunStatus) (context.Context, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended {
		return nil, skein.ErrClosed
	}
	if i.stop != nil {
		return nil, fmt.Errorf("%w: another import is running; wait until it has ended, then try again", skein.ErrLocked)
	}
	ctx, stop := context.WithCancel(i.ctx)
	i.stop, i.status = stop, s
	i.status.Running = true
	i.done.Add(1)
	return ctx, nil
}

// release ends the running import. It is gone without a trace if it has not begun.
func (i *Imports) release(begun bool, rep interop.Report, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stop()
	i.stop = nil
	i.status.Running = false
	i.status.So.Report = rep
	i.looked = time.Time{}
	switch {
	case !begun:
		i.status = RunStatus{}
	case i.status.Stopped && errors.Is(err, context.Canceled):
	default:
		i.status.Err = err
	}
	i.lookNow()
	i.done.Done()
}

// run imports the files at paths in the background, as the import that was claimed.
func (i *Imports) run(ctx context.Context, store skein.Store, paths []string, o interop.Options, end func() error) {
	o.All = i.Formats
	o.Progress = func(p interop.Progress) {
		i.mu.Lock()
		i.status.So = p
		i.mu.Unlock()
	}
	go func() {
		rep, err := importer.Import(ctx, store, i.Formats, paths, o)
		if i.After != nil && rep.Events > 0 {
			err = errors.Join(err, i.After(context.WithoutCancel(ctx), rep))
		}
		if end != nil {
			err = errors.Join(err, end())
		}
		i.release(true, rep, err)
	}()
}
