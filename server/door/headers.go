package door

import (
	"bufio"
	"net"
	"net/http"
	"time"
)

// policy is what a page may load: only what this server sends, and no inline
// code.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// setHeaders sets the headers of every answer. A handler may override
// Cache-Control.
func setHeaders(h http.Header, id string) {
	h.Set("X-Request-Id", id)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
	h.Set("Cache-Control", "no-store")
}

// noting records the status of an answer.
type noting struct {
	http.ResponseWriter
	status int
	bytes  int64
	err    error // the internal error
	leased time.Time
	began  func(status int) // called once, when the answer begins; may be nil
}

func (n *noting) failed(err error) { n.err = err }

// begin records the status of the answer, the first time.
func (n *noting) begin(status int) {
	if n.status != 0 {
		return
	}
	n.status = status
	if n.began != nil {
		n.began(status)
	}
}

// WriteHeader implements [http.ResponseWriter].
func (n *noting) WriteHeader(status int) {
	n.begin(status)
	n.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (n *noting) Write(b []byte) (int, error) {
	n.begin(http.StatusOK)
	written := 0
	for {
		n.lease()
		some := b[written:min(len(b), written+piece)]
		k, err := n.ResponseWriter.Write(some)
		n.bytes += int64(k)
		if written += k; err != nil || written >= len(b) {
			return written, err
		}
	}
}

// Hijackable returns the response of a route as one whose connection can be taken over.
func Hijackable(w http.ResponseWriter) http.ResponseWriter {
	return &hijackable{w, http.NewResponseController(w)}
}

// A hijackable implements [http.Hijacker].
type hijackable struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Hijack implements [http.Hijacker]. The errors are those of
// [http.ResponseController.Hijack].
func (h *hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.control.Hijack()
}

// Unwrap is for [http.ResponseController].
func (n *noting) Unwrap() http.ResponseWriter { return n.ResponseWriter }
