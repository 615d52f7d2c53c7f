package imports

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
)

// AgentFiles are what an agent keeps on this machine.
type AgentFiles struct {
	Agent    string // what its format holds: Claude Code's transcripts
	Places   []string
	Sessions int
	Stored   int // of these
	Grown    int // files that have changed since they were imported
	Bytes    int64
	Since    skein.Time // when the first session that is not stored began; 0 if unknown
}

// places returns where agents keep sessions, those places that exist.
func (i *Imports) places() (paths []string) {
	for _, f := range i.Formats {
		for _, p := range f.Places(i.Home) {
			if _, err := os.Stat(p); err == nil && !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	return paths
}

// Looked is a place where the sessions of an agent would be.
type Looked struct{ Agent, Place string }

// Places returns where the agents would keep their sessions, whether these places exist
// or not.
func (i *Imports) Places() (all []Looked) {
	for _, f := range i.Formats {
		for _, p := range f.Places(i.Home) {
			all = append(all, Looked{agentOf(f), i.tilde(p)})
		}
	}
	return all
}

// agentOf returns what a format holds, without where: Claude Code's transcripts.
func agentOf(f interop.Format) string {
	what, _, _ := strings.Cut(f.Doc, " (")
	what, _, _ = strings.Cut(what, ": ")
	return what
}

// tilde returns a path of the home folder as people write it.
func (i *Imports) tilde(path string) string {
	return (&RunStatus{within: i.Home.Dir, shown: "~"}).Name(path)
}

// Found returns what the agents keep on this machine, as far as it is known, and whether
// it is being looked for. The error says why that failed.
func (i *Imports) Found() (all []AgentFiles, looking bool, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.found, i.looking, i.wrong
}

// fresh is how long what was found is not looked for again, unless an import ended.
const fresh = 10 * time.Second

// Look looks in the background for what the agents keep on this machine, unless that is
// being done, or was done just now.
func (i *Imports) Look() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.looked.IsZero() || time.Since(i.looked) >= fresh {
		i.lookNow()
	}
}

// lookNow is Look, for callers that hold the lock.
func (i *Imports) lookNow() {
	if i.looking || i.ended {
		return
	}
	i.looking = true
	i.done.Go(func() {
		all, err := i.look(i.ctx)
		i.mu.Lock()
		defer i.mu.Unlock()
		i.looking, i.looked, i.found, i.wrong = false, time.Now(), all, err
	})
}

func (i *Imports) look(ctx context.Context) (all []AgentFiles, err error) {
	paths := i.places()
	if len(paths) == 0 {
		return nil, nil
	}
	found, _, err := discover.Find(ctx, i.Store, i.Formats, paths)
	if err != nil {
		return nil, err
	}
	for _, f := range i.Formats {
		sum := AgentFiles{Agent: agentOf(f)}
		for _, d := range found {
			if d.Format == f.Name && d.Sessions > 0 {
				sum.add(d, i.tilde(d.Path))
			}
		}
		if sum.Sessions > 0 {
			all = append(all, sum)
		}
	}
	return all, nil
}

// add adds what was found at one place.
func (f *AgentFiles) add(d discover.Discovery, place string) {
	f.Places = append(f.Places, place)
	f.Sessions += d.Sessions
	f.Stored += d.Stored
	f.Grown += d.Grown
	f.Bytes += d.Bytes
	if d.Since != 0 && (f.Since == 0 || d.Since < f.Since) {
		f.Since = d.Since
	}
}

// Start imports what the agents keep on this machine.
//
// The error wraps [skein.ErrLocked] if an import is running, or [skein.ErrClosed].
func (i *Imports) Start() error {
	ctx, err := i.claim(RunStatus{Kind: Agents, within: i.Home.Dir, shown: "~"})
	if err != nil {
		return err
	}
	paths := i.places()
	if len(paths) == 0 {
		i.release(true, interop.Report{}, nil)
		return nil
	}
	i.run(ctx, i.Store, paths, interop.Options{Checkout: i.Checkout}, nil)
	return nil
}
