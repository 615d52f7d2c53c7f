package sse

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
	KeepOfAll     = 8 << 20 // of all sessions
	KeepOfSession = 256 << 10
)

const keepPlaces = 8192 // at most

// A Place is an event on its way to readers.
type Place struct {
	ID    string // of the frame; a reader that comes back sends it
	User  skein.User
	Frame []byte // nil if it is only a position
}

// Places yields events on their way to readers.
type Places = iter.Seq2[Place, error]

// A Hub reads a stream once for all its readers, and keeps the newest part of
// it. A reader whose last ID is still in the hub resumes from there; any other
// reads by itself until it reaches such an ID. So a thousand readers ask the
// store no more than one does.
type Hub struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the hub has ended
	known  chan struct{} // closed when base is known, or the hub has ended

	mu      sync.Mutex
	most    int // bytes to keep
	kept    []Place
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
func newHub(most int, all func(context.Context) Places) *Hub {
	ctx, cancel := context.WithCancel(context.Background())
	h := &Hub{most: most, cancel: cancel, done: make(chan struct{}), known: make(chan struct{}), at: map[string]int64{}, changed: make(chan struct{})}
	go h.run(all(ctx))
	return h
}

func (h *Hub) run(all Places) {
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
func (h *Hub) keep(p Place) {
	h.last = p.ID
	if p.Frame != nil {
		h.kept = append(h.kept, p)
		h.bytes += len(p.Frame)
	}
	h.at[p.ID] = h.dropped + int64(len(h.kept))
	for len(h.kept) > keepPlaces || h.bytes > h.most && len(h.kept) > 1 {
		old := h.kept[0]
		h.kept[0] = Place{}
		h.kept, h.bytes, h.dropped = h.kept[1:], h.bytes-len(old.Frame), h.dropped+1
		delete(h.at, old.ID)
	}
}

// tell wakes the readers: now, or shortly after they were last woken.
func (h *Hub) tell() {
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

func (h *Hub) wake() {
	close(h.changed)
	h.changed, h.told = make(chan struct{}), time.Now()
}

// behind returns the number of the place after the one with that ID, and false
// if the hub does not have it.
func (h *Hub) behind(id string) (int64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, ok := h.at[id]
	return n, ok && n >= h.dropped
}

// Now returns the ID of the newest place, and the number after it.
func (h *Hub) Now(ctx context.Context) (string, int64) {
	select {
	case <-h.known:
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last, h.dropped + int64(len(h.kept))
}

// Read yields the frames from number n on, for the user, several at a time,
// until ctx ends or the hub has dropped the next one.
func (h *Hub) Read(ctx context.Context, n int64, user skein.User, yield func([]byte, error) bool) {
	for {
		h.mu.Lock()
		if n < h.dropped {
			h.mu.Unlock()
			yield(nil, openapi.Refuse(http.StatusServiceUnavailable, "slow", "the client is too far behind: reconnect with Last-Event-ID"))
			return
		}
		news, changed, ended, err := h.kept[n-h.dropped:], h.changed, h.ended, h.err
		var b []byte
		for i, p := range news {
			if user != "" && p.User != user {
				continue
			}
			if b != nil && len(b)+len(p.Frame) > batchBytes {
				news = news[:i]
				break
			}
			if b == nil { // a single frame is not copied: it may be long, and its readers share it
				b = p.Frame[:len(p.Frame):len(p.Frame)]
				continue
			}
			b = append(append(b, "\n\n"...), p.Frame...)
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

// Join yields the frames after the place with the ID from: those of own, until
// the hub has the rest.
func (h *Hub) Join(ctx context.Context, from string, user skein.User, own Places) Frames {
	return func(yield func([]byte, error) bool) {
		n, has := h.behind(from)
		if !has {
			for p, err := range own {
				if err != nil {
					yield(nil, err)
					return
				}
				if p.Frame != nil && !yield(p.Frame, nil) {
					return
				}
				if n, has = h.behind(p.ID); has {
					break
				}
			}
		}
		if has {
			h.Read(ctx, n, user, yield)
		}
	}
}

// over reports whether the hub has ended.
func (h *Hub) over() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended
}

// Hubs are the hubs that have readers.
type Hubs struct {
	mu   sync.Mutex
	open map[string]*shared
}

type shared struct {
	*Hub
	readers int
}

// Enter returns the hub of that name, and a function for the reader to call
// when it leaves: the hub ends with its last reader.
func (h *Hubs) Enter(name string, most int, all func(context.Context) Places) (_ *Hub, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == nil {
		h.open = map[string]*shared{}
	}
	s := h.open[name]
	if s == nil || s.over() {
		s = &shared{Hub: newHub(most, all)}
		h.open[name] = s
	}
	s.readers++
	return s.Hub, func() {
		h.mu.Lock()
		s.readers--
		end := s.readers == 0
		if end && h.open[name] == s {
			delete(h.open, name)
		}
		h.mu.Unlock()
		if end {
			s.cancel()
			<-s.done
		}
	}
}

// Alone yields the frames for a reader that shares no hub.
func Alone(own Places) Frames {
	return func(yield func([]byte, error) bool) {
		for p, err := range own {
			if (p.Frame != nil || err != nil) && !yield(p.Frame, err) {
				return
			}
		}
	}
}
