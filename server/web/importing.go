package web

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/imports"
)

// importPages are the pages of imports: the first one of an empty store is one of them.
type importPages struct{ *site }

// routes are the routes of imports. They read the files of the person who runs the server.
func (s importPages) routes() []door.Route {
	if s.Imports == nil {
		return nil
	}
	look := read("/import", s.owners(s.show))
	look.Scope = door.Write
	remove := change("/import/samples/remove", s.owners(s.remove))
	remove.Scope = door.Admin // it destroys sessions
	send := change("/import/files", s.owners(s.take))
	send.Body, send.Types = door.MaxBatches, []string{"multipart/form-data"}
	return []door.Route{
		look, send, remove,
		change("/import", s.owners(s.start)),
		change("/import/stop", s.owners(s.stop)),
		change("/import/samples", s.owners(s.try)),
	}
}

// mayImport reports whether a visitor may import what is on this machine: only a person
// who sees every user's sessions does.
func (s *site) mayImport(v door.Visitor) bool {
	return s.Imports != nil && v.Scope >= door.Write && v.Owner() == "" && v.User == ""
}

// owners returns h for those who may import.
func (s importPages) owners(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if v := door.From(r.Context()); !s.mayImport(v) {
			door.Refuse(w, r, http.StatusForbidden, "user", "the token %q is only for the sessions of one user; importing reads the files of the server's owner", v.Token)
			return
		}
		h(w, r)
	}
}

// importPage is the data of the page.
type importPage struct {
	First    bool // the store has no sessions yet
	Status   imports.RunStatus
	Found    []imports.AgentFiles
	All      imports.AgentFiles // the sum
	Looking  bool
	Wrong    string // why it is not known what was found
	Places   []imports.Looked
	Problems []imports.RejectedFile // the first ones
	More     int                    // further ones
	Samples  bool                   // there are some to try
	Tried    int                    // samples that are in the store
	Destroys bool                   // the visitor may remove them
	Formats  []string               // that can be read, for people
	Most     int64                  // bytes that can be sent at once
}

// Busy reports whether the page will say something else soon.
func (p *importPage) Busy() bool { return p.Looking || p.Status.Running }

// New is how many of the found sessions are not stored.
func (p *importPage) New() int { return max(0, p.All.Sessions-p.All.Stored) }

// Ended reports whether an import has ended, and says what it did.
func (p *importPage) Ended() bool { return p.Status.Kind != "" && !p.Status.Running }

// Fault is why the import ended early.
func (p *importPage) Fault() string {
	if p.Status.Err == nil {
		return ""
	}
	return skein.Reason(p.Status.Err)
}

// Reading names the file that is being read, for people.
func (p *importPage) Reading() string {
	if p.Status.So.Path == "" {
		return ""
	}
	return p.Status.Name(p.Status.So.Path)
}

// Seconds is how long the import took, for people; "" if that is of no interest.
func (p *importPage) Seconds() string {
	if p.Status.So.Report.Elapsed < time.Second {
		return ""
	}
	return fmt.Sprintf("%.1f s", p.Status.So.Report.Elapsed.Seconds())
}

// maxSent is how many bytes of files can be sent at once. The route accepts a little more,
// for their names.
const maxSent = 250_000_000

// Megabytes is how many can be sent at once.
func (p *importPage) Megabytes() int64 { return p.Most / 1_000_000 }

// maxProblems is how many problems the page names; skein import --json names more.
const maxProblems = 50

// page returns the data of the page.
func (s importPages) page(r *http.Request) (*importPage, error) {
	v := door.From(r.Context())
	p := &importPage{Status: s.Imports.Status(), Samples: s.Imports.Samples != nil, Destroys: v.Scope >= door.Admin, Most: maxSent}
	var wrong error
	if p.Found, p.Looking, wrong = s.Imports.Found(); wrong != nil {
		p.Wrong = skein.Reason(wrong)
	}
	for i := range p.Found {
		p.All.Sessions += p.Found[i].Sessions
		p.All.Stored += p.Found[i].Stored
		p.All.Grown += p.Found[i].Grown
		p.All.Bytes += p.Found[i].Bytes
	}
	if len(p.Found) == 0 && !p.Looking {
		p.Places = s.Imports.Places()
	}
	for _, f := range s.Imports.Formats {
		p.Formats = append(p.Formats, f.Doc)
	}
	p.Problems = p.Status.Problems()
	p.Problems = p.Problems[:min(len(p.Problems), maxProblems)]
	p.More = p.Status.Failed() - len(p.Problems)
	if p.Status.Running {
		return p, nil
	}
	tried, err := s.Imports.Tried(r.Context())
	p.Tried = len(tried)
	return p, err
}

// show shows what can be imported, and how far the running import is. With piece=1 it
// sends only that, for the script that updates it.
func (s importPages) show(w http.ResponseWriter, r *http.Request) {
	piece := r.URL.Query().Has("piece")
	if !piece {
		s.Imports.Look()
	}
	p, err := s.page(r)
	switch {
	case err != nil:
		s.fail(w, r, err)
	case piece:
		s.fragment(w, "import", "state", p)
	default:
		s.site.show(w, r, "import", layoutData{Title: "Import", At: "sessions", Data: p})
	}
}

// first shows the first page of an empty store.
func (s importPages) first(w http.ResponseWriter, r *http.Request) {
	s.Imports.Look()
	p, err := s.page(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	p.First = true
	s.site.show(w, r, "import", layoutData{Title: "Welcome", At: "sessions", Data: p})
}

// begun answers a form that begins an import.
func (s importPages) begun(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, skein.ErrLocked):
		back(w, r, "/import", "Another import is running. Try again when it has ended.")
	case err != nil:
		s.fail(w, r, err)
	default:
		back(w, r, "/import", "")
	}
}

func (s importPages) start(w http.ResponseWriter, r *http.Request) { s.begun(w, r, s.Imports.Start()) }

func (s importPages) try(w http.ResponseWriter, r *http.Request) { s.begun(w, r, s.Imports.Try()) }

func (s importPages) stop(w http.ResponseWriter, r *http.Request) {
	s.Imports.Interrupt()
	back(w, r, "/import", "")
}

// remove removes the samples.
func (s importPages) remove(w http.ResponseWriter, r *http.Request) {
	n, err := s.Imports.Remove(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	back(w, r, "/import", fmt.Sprintf("Removed %s.", plural(n, "sample session")))
}

// take imports the files of a form.
func (s importPages) take(w http.ResponseWriter, r *http.Request) {
	err := s.Imports.TakeForm(r)
	if errors.Is(err, imports.ErrNoFile) {
		back(w, r, "/import", "Choose a file first.")
		return
	}
	s.begun(w, r, err)
}

// running says how far the running import is, for every other page; "" without one.
func (s *site) running(v door.Visitor) string {
	if !s.mayImport(v) {
		return ""
	}
	now := s.Imports.Status()
	switch {
	case !now.Running:
		return ""
	case now.So.Of == 0:
		return "An import is running"
	}
	return fmt.Sprintf("Importing: %s of %s files", render.Count(int64(now.So.Files)), render.Count(int64(now.So.Of)))
}
