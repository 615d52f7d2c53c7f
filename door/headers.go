package door

import "net/http"

// policy is what a page may load: what this server sends, and no inline code.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// setHeaders sets what every answer says. A handler may set another
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

// noting notes what was answered.
type noting struct {
	http.ResponseWriter
	status int
	bytes  int64
	err    error // what failed inside
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
	k, err := n.ResponseWriter.Write(b)
	n.bytes += int64(k)
	return k, err
}

// Unwrap is for [http.ResponseController].
func (n *noting) Unwrap() http.ResponseWriter { return n.ResponseWriter }
