package web

import (
	"net/http"

	"github.com/skein-dev/skein/server/door"
)

// problemPage is the data of the page that shows an error.
type problemPage struct {
	door.Problem
	Path string // that a form was sent to
	Text string // of that form, to send it again; "" if there was none
}

// problem answers with an error's page.
func (s *site) problem(w http.ResponseWriter, r *http.Request, p problemPage) {
	s.write(w, p.Status, "error", layoutData{Title: p.Title, Data: p, Visitor: door.From(r.Context()), Looks: looksOf(r)})
}

// Advice says what to do about the problem; "" if its text says all there is to say.
func (p problemPage) Advice() string { return advice(p.Problem) }

func advice(p door.Problem) string {
	if p.Code == "full" && p.Of != "" {
		return "Empty the bin, or ask the person who runs the server for more room."
	}
	return map[string]string{
		"away":      "Reload the page in a moment. If this stays, check on the server that the database is running.",
		"busy":      "Reload the page in a moment.",
		"closed":    "The server is stopping. Reload the page when it is running again.",
		"conflict":  "Somebody changed the session meanwhile. Go back, reload the page, and try again.",
		"fenced":    "Another program has taken over the session. Go back and reload the page to see what is new.",
		"locked":    "Wait until it is done, or fork the session.",
		"full":      "Make room on the server's disk, then try again. Nothing that was stored is lost.",
		"read_only": "On the server, give skein the right to write to its store, or start it with another one.",
		"replaced":  "On the server, put the store's file back, or restart skein to continue with the file that is there now.",
		"unknown":   "Go back and look whether it was stored before you try again.",
		"newer":     "Install the newest skein on the server.",
		"corrupt":   "Run skein doctor on the server: it says what is damaged, and what can be repaired.",
		"size":      "Go back and send less at once. What you typed is still there.",
		"internal":  "Try again. If it fails again, look for this request in the server's log.",
	}[p.Code]
}
