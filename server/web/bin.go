package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
)

// binPages are the pages of the bin.
type binPages struct{ *site }

// routes are the routes of the bin.
func (s binPages) routes() []door.Route {
	return []door.Route{
		read("/bin", s.showBin),
		change("/bin/restore", s.restore),
		change("/bin/purge", s.purge),
	}
}

// binPage is the data of the page.
type binPage struct {
	Sessions []skein.Session
	Asked    []skein.Session // to be purged, once that is confirmed; nil: nothing to confirm
	MayPurge bool
	Next     string // path of the next page; "" if there is none
}

// showBin lists the sessions in the bin.
func (s binPages) showBin(w http.ResponseWriter, r *http.Request) {
	v := door.From(r.Context())
	f := skein.Filter{Bin: true, IncludeEmpty: true, Limit: pageSize + 1}
	if id := r.URL.Query().Get("after"); id != "" {
		before, err := v.Store.Session(r.Context(), skein.SessionID(id))
		if err != nil {
			s.fail(w, r, err)
			return
		}
		f.Before = &before
	}
	p := binPage{MayPurge: v.MayDestroy()}
	for one, err := range v.Store.Sessions(r.Context(), f) {
		if err != nil {
			s.fail(w, r, err)
			return
		}
		p.Sessions = append(p.Sessions, s.veiled(one))
	}
	if len(p.Sessions) > pageSize {
		p.Sessions = p.Sessions[:pageSize]
		p.Next = "/bin?after=" + url.QueryEscape(string(p.Sessions[pageSize-1].ID))
	}
	s.show(w, r, "bin", layoutData{Title: "Bin", At: "bin", Data: p})
}

// restore takes sessions out of the bin.
func (s binPages) restore(w http.ResponseWriter, r *http.Request) {
	all, err := picked(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	lost := 0
	store := door.From(r.Context()).Store
	for _, one := range all {
		if err := skein.LifecycleOf(store).Restore(r.Context(), one.ID); err != nil {
			s.fail(w, r, err)
			return
		}
		back, err := store.Session(r.Context(), one.ID)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if back.Key != one.Key {
			lost++
		}
	}
	done := s.restored(all)
	if lost > 0 {
		done += fmt.Sprintf(" %s came back without a key, which another session has taken.", plural(lost, "session"))
	}
	back(w, r, local(r.PostFormValue("back"), "/bin"), done)
}

func (s binPages) restored(all []skein.Session) string {
	switch len(all) {
	case 0:
		return "Nothing is selected."
	case 1:
		one := s.veiled(all[0])
		return "Restored: " + render.Line(one.Name()) + "."
	}
	return "Restored: " + plural(len(all), "session") + "."
}

// purge purges sessions, after asking for confirmation.
func (s binPages) purge(w http.ResponseWriter, r *http.Request) {
	if !door.From(r.Context()).MayDestroy() {
		door.Refuse(w, r, http.StatusForbidden, "scope", "deleting all users' sessions for good needs a token with the scope admin")
		return
	}
	all, err := picked(r)
	switch {
	case err != nil:
		s.fail(w, r, err)
		return
	case slices.ContainsFunc(all, func(one skein.Session) bool { return one.Binned == 0 }):
		s.fail(w, r, fmt.Errorf("%w session: not in the bin", skein.ErrInvalid))
		return
	case len(all) == 0:
		back(w, r, "/bin", "Nothing is selected.")
		return
	case r.PostFormValue("sure") != "yes":
		for i := range all {
			all[i] = s.veiled(all[i])
		}
		s.show(w, r, "bin", layoutData{Title: "Delete for good", At: "bin", Data: binPage{Asked: all, MayPurge: true}})
		return
	}
	done, err := s.destroy(r, all)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	back(w, r, "/bin", done)
}

// destroy purges sessions, and returns what was done.
func (s binPages) destroy(r *http.Request, all []skein.Session) (string, error) {
	var events, kept int
	var freed int64
	for _, one := range all {
		d, err := skein.LifecycleOf(door.From(r.Context()).Store).Delete(r.Context(), one.ID, skein.Deletion{})
		if err != nil {
			return "", err
		}
		if s.Purged != nil {
			if err := s.Purged(one); err != nil {
				return "", err
			}
		}
		events, kept, freed = events+d.Events, kept+len(d.Moved), freed+d.Bytes
	}
	done := fmt.Sprintf("Deleted for good: %s, %s, about %s.", plural(len(all), "session"), plural(events, "event"), render.Bytes(freed))
	if kept > 0 {
		done += fmt.Sprintf(" What %s shows stays there.", plural(kept, "fork"))
	}
	return done, nil
}
