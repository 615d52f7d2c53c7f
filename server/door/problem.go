package door

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/skein-dev/skein"
)

// A Problem is why a request failed (RFC 9457).
type Problem struct {
	Type   string `json:"type,omitempty"` // about:blank if left out
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Code   string `json:"code"` // the kind of error, for programs
	ID     string `json:"request_id,omitempty"`

	Session    skein.SessionID `json:"session,omitempty"`    // conflict, locked
	Last       skein.Seq       `json:"last,omitempty"`       // conflict: where it ends
	Holder     *skein.Holder   `json:"holder,omitempty"`     // locked: who holds the lease
	Name       string          `json:"name,omitempty"`       // ambiguous
	Candidates []skein.Session `json:"candidates,omitempty"` // ambiguous: what the name could mean
	More       bool            `json:"more,omitempty"`       // ambiguous: there are others
	User       skein.User      `json:"user,omitempty"`       // full, by a quota: the user
	Of         string          `json:"of,omitempty"`         // full, by a quota: sessions or bytes
	Most       int64           `json:"most,omitempty"`       // full, by a quota: how many are allowed
	Seq        skein.Seq       `json:"seq,omitempty"`        // corrupt: the event that is damaged
	Records    []int           `json:"records,omitempty"`    // corrupt: the numbers of the first and the last source record that are damaged
}

// Wants reports whether p says that the token lacks the scope s.
func (p Problem) Wants(s Scope) bool {
	return p.Code == "scope" && strings.HasSuffix(p.Detail, wants(s))
}

// wants ends the detail of such a problem.
func wants(s Scope) string { return "this needs " + s.String() }

// maxDetail is the longest text of a problem, in bytes. It quotes what was
// wrong, which may be as long as a body.
const maxDetail = 1000

// Brief returns s, cut to what fits into a problem.
func Brief(s string) string {
	if len(s) <= maxDetail {
		return s
	}
	return strings.ToValidUTF8(s[:maxDetail-len("…")], "") + "…"
}

// Refuse answers with a problem: as a page, if the client asked for one and
// [Options] has one.
func Refuse(w http.ResponseWriter, r *http.Request, status int, code, format string, args ...any) {
	tell(w, r, Problem{Title: http.StatusText(status), Status: status, Detail: Brief(fmt.Sprintf(format, args...)), Code: code, ID: From(r.Context()).ID})
}
