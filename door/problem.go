package door

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/skein-dev/skein"
)

// A Problem is why a request was not done (RFC 9457).
type Problem struct {
	Type   string `json:"type,omitempty"` // about:blank if it is left out
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Code   string `json:"code"` // which of the errors it is, for programs
	ID     string `json:"request_id,omitempty"`
}

// Refuse answers with a problem.
func Refuse(w http.ResponseWriter, r *http.Request, status int, code, format string, args ...any) {
	p := Problem{Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...), Code: code, ID: From(r.Context()).ID}
	b := skein.MustJSON(p)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	w.Write(b) //nolint:errcheck // the client has gone
}
