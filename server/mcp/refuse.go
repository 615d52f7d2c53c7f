package mcp

import (
	"net/http"
	"strings"

	"github.com/skein-dev/skein/server/door"
)

// refusals answers with problems where h, which is not ours, answers with an error in
// plain text: all routes of the server say what went wrong in one form.
func refusals(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&problemWriter{ResponseWriter: w, r: r}, r)
	})
}

// A problemWriter is the answer to one request.
type problemWriter struct {
	http.ResponseWriter
	r      *http.Request
	status int // of the error whose text follows; 0 if there is none
}

// WriteHeader implements [http.ResponseWriter].
func (w *problemWriter) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *problemWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		return w.ResponseWriter.Write(b)
	}
	w.Header().Del("Content-Length")
	door.Refuse(w.ResponseWriter, w.r, w.status, codeOf(w.status), "%s", strings.TrimSpace(string(b)))
	return len(b), nil
}

// Unwrap is for [http.ResponseController].
func (w *problemWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// codeOf returns the code of the problem with a status.
func codeOf(status int) string {
	switch status {
	case http.StatusUnsupportedMediaType, http.StatusNotAcceptable:
		return "type"
	case http.StatusRequestEntityTooLarge:
		return "size"
	case http.StatusNotFound:
		return "not_found"
	}
	if status >= http.StatusInternalServerError {
		return "internal"
	}
	return "invalid"
}
