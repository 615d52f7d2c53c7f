package server

import (
	"context"
	"iter"
	"net/http"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/openapi"
)

// Bytes of frames that a hub keeps for readers that fell behind.
const (
	keepOfAll     = 8 << 20 // of all sessions
	keepOfSession = 256 << 10
)

const keepPlaces = 8192 // at most

// A place is an event on its way to readers.
type place struct {
	id    string // of the frame; a reader that comes back sends it
	user  skein.User
	frame []byte // nil if it is only a position
}

type places = iter.Seq2[place, error]

// A hub reads a stream once for all its readers, and keeps the newest part of
// it. A reader whose last ID is still in the hub resumes from there; any other
// reads by itself until it reaches such an ID. So a thousand readers ask the
// store no more than one does.
type hub struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the hub has ended
	known  chan struct{} // closed when base is known, or the hub has ended

	mu      sync.Mutex
	most    int // bytes to keep
	kept    []place
	dropped int64 // how many places came before kept[0]
	bytes   int
	at      map[string]int64 // number of the place after the one with that ID
	last    string           // ID of the newest place
	err     error
	ended   bool
	changed chan struct{} // closed when a place was added
	told    time.Time     // when changed was last closed
	telling *time.Timer   // will close changed; nil if none is set
}

// newHub begins to read all. The first place may have no frame: it marks where
// the hub begins.
func newHub(most int, all func(context.Context) places) *hub {
	ctx, cancel := context.WithCancel(context.Background())
	h := &hub{most: most, cancel: cancel, done: make(chan struct{}), known: make(chan struct{}), at: map[string]int64{}, changed: make(chan struct{})}
	go h.run(all(ctx))
	return h
}

func (h *hub) run(all places) {
	defer close(h.done)
	first := true
	for p, err := range all {
		h.mu.Lock()
		if err != nil {
			h.err = err
			h.mu.Unlock()
			break
		}
		h.keep(p)
		h.tell()
		h.mu.Unlock()
		if first {
			close(h.known)
			first = false
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	if h.telling != nil {
		h.telling.Stop()
	}
	h.wake()
	if first {
		close(h.known)
	}
}

// keep adds p, and drops what is too old.
func (h *hub) keep(p place) {
	h.last = p.id
	if p.frame != nil {
		h.kept = append(h.kept, p)
		h.bytes += len(p.frame)
	}
	h.at[p.id] = h.dropped + int64(len(h.kept))
	for len(h.kept) > keepPlaces || h.bytes > h.most && len(h.kept) > 1 {
		old := h.kept[0]
		h.kept[0] = place{}
		h.kept, h.bytes, h.dropped = h.kept[1:], h.bytes-len(old.frame), h.dropped+1
		delete(h.at, old.id)
	}
}

// tell wakes the readers: now, or shortly after they were last woken.
func (h *hub) tell() {
	switch wait := between - time.Since(h.told); {
	case wait <= 0:
		h.wake()
	case h.telling == nil:
		h.telling = time.AfterFunc(wait, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.telling = nil; !h.ended {
				h.wake()
			}
		})
	}
}

func (h *hub) wake() {
	close(h.changed)
	h.changed, h.told = make(chan struct{}), time.Now()
}

// behind returns the number of the place after the one with that ID, and false
// if the hub does not have it.
func (h *hub) behind(id string) (int64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, ok := h.at[id]
	return n, ok && n >= h.dropped
}

// now returns the ID of the newest place, and the number after it.
func (h *hub) now(ctx context.Context) (string, int64) {
	select {
	case <-h.known:
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last, h.dropped + int64(len(h.kept))
}

// read yields the frames from number n on, for the user, several at a time,
// until ctx ends or the hub has dropped the next one.
func (h *hub) read(ctx context.Context, n int64, user skein.User, yield func([]byte, error) bool) {
	for {
		h.mu.Lock()
		if n < h.dropped {
			h.mu.Unlock()
			yield(nil, openapi.Refuse(http.StatusServiceUnavailable, "slow", "the reader is too far behind: come back with Last-Event-ID"))
			return
		}
		news, changed, ended, err := h.kept[n-h.dropped:], h.changed, h.ended, h.err
		var b []byte
		for i, p := range news {
			if user != "" && p.user != user {
				continue
			}
			if b != nil && len(b)+len(p.frame) > batchBytes {
				news = news[:i]
				break
			}
			if b == nil { // a single frame is not copied: it may be long, and its readers share it
				b = p.frame[:len(p.frame):len(p.frame)]
				continue
			}
			b = append(append(b, "\n\n"...), p.frame...)
		}
		n += int64(len(news))
		h.mu.Unlock()
		if b != nil && !yield(b, nil) {
			return
		}
		if ended && len(news) == 0 {
			if err != nil {
				yield(nil, err)
			}
			return
		}
		if len(news) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// join yields the frames after the place with the ID from: those of own, until
// the hub has the rest.
func (h *hub) join(ctx context.Context, from string, user skein.User, own places) frames {
	return func(yield func([]byte, error) bool) {
		n, has := h.behind(from)
		if !has {
			for p, err := range own {
				if err != nil {
					yield(nil, err)
					return
				}
				if p.frame != nil && !yield(p.frame, nil) {
					return
				}
				if n, has = h.behind(p.id); has {
					break
				}
			}
		}
		if has {
			h.read(ctx, n, user, yield)
		}
	}
}

// over reports whether the hub has ended.
func (h *hub) over() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended
}
