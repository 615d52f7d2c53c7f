package llmtest

import (
	"net/http"
	"strconv"

	"github.com/skein-dev/skein/internal/sleep"
)

// An event is a server-sent event.
type event struct {
	name string // "" for none
	data []byte
}

func (e event) bytes() []byte {
	var b []byte
	if e.name != "" {
		b = append(append(append(b, "event: "...), e.name...), '\n')
	}
	return append(append(append(b, "data: "...), e.data...), "\n\n"...)
}

// An out sends an answer, and fails as the reply says.
type out struct {
	w     http.ResponseWriter
	req   *http.Request
	reply *Reply
	sent  int // bytes of the body
}

// whole sends an answer that is not a stream.
func (o *out) whole(media string, status int, body []byte) {
	if d := o.reply.After; d > 0 {
		o.w.Header().Set("Retry-After", strconv.FormatFloat(d.Seconds(), 'f', -1, 64))
	}
	o.w.Header().Set("Content-Type", media)
	o.w.WriteHeader(status)
	o.write(body)
}

// stream sends events one by one.
func (o *out) stream(events []event) {
	o.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	o.w.WriteHeader(http.StatusOK)
	o.flush()
	for i, e := range events {
		if i > 0 && !o.wait() {
			return
		}
		if !o.write(e.bytes()) {
			return
		}
		if o.reply.Break == Garbage && o.sent >= o.reply.At {
			o.write(event{e.name, []byte(`{"type": "` + e.name + `", "delta": {"te`)}.bytes())
			return
		}
	}
}

// wait pauses between two events. It reports false if the client left.
func (o *out) wait() bool {
	return o.reply.Pace == 0 || sleep.For(o.req.Context(), o.reply.Pace) == nil
}

// write sends b, up to the point at which the reply breaks. It reports whether
// more is to be sent.
func (o *out) write(b []byte) bool {
	how, left := o.reply.Break, o.reply.At-o.sent
	breaks := (how == Cut || how == End || how == Hang || how == Hold) && left <= len(b)
	var rest []byte
	if breaks {
		b, rest = b[:left], b[left:]
	}
	n, err := o.w.Write(b)
	o.sent += n
	o.flush()
	switch {
	case err != nil:
		return false
	case !breaks:
		return true
	case how == Cut:
		panic(http.ErrAbortHandler)
	case how == Hang:
		<-o.req.Context().Done()
	case how == Hold:
		return o.held() && o.write(rest)
	}
	return false
}

// held waits until the answer may continue. It reports false if the client
// left.
func (o *out) held() bool {
	select {
	case <-o.reply.On:
		o.reply.Break = ""
		return true
	case <-o.req.Context().Done():
		return false
	}
}

func (o *out) flush() { _ = http.NewResponseController(o.w).Flush() } // the client may have left
