package door

import (
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
}

func (n *noting) failed(err error) { n.err = err }

// WriteHeader implements [http.ResponseWriter].
func (n *noting) WriteHeader(status int) {
	if n.status == 0 {
		n.status = status
	}
	n.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (n *noting) Write(b []byte) (int, error) {
	if n.status == 0 {
		n.status = http.StatusOK
	}
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

// Unwrap is for [http.ResponseController].
func (n *noting) Unwrap() http.ResponseWriter { return n.ResponseWriter }
