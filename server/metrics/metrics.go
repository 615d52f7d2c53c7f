package metrics

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/inspect"
)

// Options are the sources of the other metrics; each may be nil.
type Options struct {
	Now     func() time.Time
	Streams func() int       // how many are open
	Size    func() int64     // of the store, in bytes; negative if unknown
	Index   inspect.IndexLag // returns what waits for the search index
}

// Metrics are counts of requests. They are safe for concurrent use.
type Metrics struct {
	o     Options
	began time.Time

	mu     sync.Mutex
	routes map[string]*routeCounts
}

// routeCounts are the counts of one route.
type routeCounts struct {
	statuses map[int]int64
	within   []int64 // by bound; the last one counts all
	seconds  float64
}

// New returns counts that begin now.
func New(o Options) *Metrics {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Metrics{o: o, began: o.Now(), routes: map[string]*routeCounts{}}
}

// bounds are the upper bounds of the histogram, in seconds.
func bounds() []float64 { return []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10} }

// Done counts a request; it is for [door.Options]. The pattern is that of its
// route, "" if there was none.
func (m *Metrics) Done(pattern string, status int, took time.Duration) {
	if pattern == "" {
		pattern = "none"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.routes[pattern]
	if r == nil {
		r = &routeCounts{statuses: map[int]int64{}, within: make([]int64, len(bounds())+1)}
		m.routes[pattern] = r
	}
	r.statuses[status]++
	r.seconds += took.Seconds()
	for i, most := range bounds() {
		if took.Seconds() <= most {
			r.within[i]++
		}
	}
	r.within[len(r.within)-1]++
}

// Route returns the metrics route for tokens that see everybody's sessions.
func (m *Metrics) Route() door.Route {
	return door.Route{Pattern: "GET /metrics", Scope: door.Read, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if v := door.From(r.Context()); v.User != "" {
			door.Refuse(w, r, http.StatusForbidden, "user", "the token %q is only for the sessions of %q, and these metrics are about all users", v.Token, v.User)
			return
		}
		m.write(w, r)
	})}
}

// Open returns the metrics route for everybody who reaches the listener.
func (m *Metrics) Open() door.Route {
	return door.Route{Pattern: "GET /metrics", Scope: door.Open, Handler: http.HandlerFunc(m.write)}
}

func (m *Metrics) write(w http.ResponseWriter, r *http.Request) {
	b := m.text(r.Context())
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.Write(b) //nolint:errcheck // the client has gone
}

func (m *Metrics) text(ctx context.Context) []byte {
	var b bytes.Buffer
	m.requests(&b)
	gauge := func(name, help string, value float64) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n%s %v\n", name, help, name, name, value)
	}
	if m.o.Streams != nil {
		gauge("skein_streams_open", "Open streams.", float64(m.o.Streams()))
	}
	if m.o.Size != nil {
		if n := m.o.Size(); n >= 0 {
			gauge("skein_store_bytes", "Size of the store on disk.", float64(n))
		}
	}
	if m.o.Index != nil {
		if l, err := m.o.Index.Lag(ctx); err == nil { // otherwise it is not known
			gauge("skein_index_waiting_events", "Events that are not in the search index yet.", float64(l.Events))
			gauge("skein_index_lag_seconds", "Seconds since the oldest event that is not in the search index was stored.", m.lag(l).Seconds())
		}
	}
	gauge("skein_up_seconds", "Seconds since the server started.", m.o.Now().Sub(m.began).Seconds())
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	gauge("go_goroutines", "Goroutines of the process.", float64(runtime.NumGoroutine()))
	gauge("go_heap_bytes", "Bytes of objects in the heap.", float64(memory.HeapAlloc))
	return b.Bytes()
}

// lag returns how long events have waited for the index.
func (m *Metrics) lag(l inspect.Lag) time.Duration {
	if l.Events == 0 {
		return 0
	}
	return max(0, m.o.Now().Sub(l.Since.Std()))
}

func (m *Metrics) requests(b *bytes.Buffer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := slices.Sorted(maps.Keys(m.routes))
	b.WriteString("# HELP skein_http_requests_total Requests that were answered.\n# TYPE skein_http_requests_total counter\n")
	for _, name := range names {
		for _, status := range slices.Sorted(maps.Keys(m.routes[name].statuses)) {
			fmt.Fprintf(b, "skein_http_requests_total{route=%s,status=\"%d\"} %d\n", quoted(name), status, m.routes[name].statuses[status])
		}
	}
	b.WriteString("# HELP skein_http_request_seconds How long requests took.\n# TYPE skein_http_request_seconds histogram\n")
	for _, name := range names {
		r := m.routes[name]
		for i, most := range bounds() {
			fmt.Fprintf(b, "skein_http_request_seconds_bucket{route=%s,le=\"%v\"} %d\n", quoted(name), most, r.within[i])
		}
		all := r.within[len(r.within)-1]
		fmt.Fprintf(b, "skein_http_request_seconds_bucket{route=%[1]s,le=\"+Inf\"} %[2]d\nskein_http_request_seconds_sum{route=%[1]s} %[3]v\nskein_http_request_seconds_count{route=%[1]s} %[2]d\n", quoted(name), all, r.seconds)
	}
}

// quoted returns s as the value of a label.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
