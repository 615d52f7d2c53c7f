package web

import (
	"archive/zip"
	"cmp"
	"fmt"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/lookup"
)

// maxBulk is how many sessions a form may name.
const maxBulk = 1000

// bulk changes the sessions that were selected in the list.
func (s lists) bulk(w http.ResponseWriter, r *http.Request) {
	all, err := picked(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	to := local(r.PostFormValue("back"), "/")
	if len(all) == 0 {
		back(w, r, to, "No session is selected. Select some first.")
		return
	}
	switch what := r.PostFormValue("do"); what {
	case "export":
		downloader(s).exportAll(w, r, all)
		return
	case "compare":
		if len(all) != 2 {
			back(w, r, to, "Select two sessions to compare them.")
			return
		}
		http.Redirect(w, r, comparePath(all[1].ID, all[0].ID), http.StatusSeeOther) // the older one on the left
		return
	case "tag":
		err = forms(s).tagAll(r, all)
	case "bin":
		for i := range all {
			if err = skein.LifecycleOf(door.From(r.Context()).Store).Bin(r.Context(), all[i].ID); err != nil {
				break
			}
		}
	default:
		err = fmt.Errorf("do=%q: %w: want tag, bin, export or compare", what, skein.ErrInvalid)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	done := map[string]string{"tag": "Tagged ", "bin": "Moved to the bin: "}[r.PostFormValue("do")]
	back(w, r, to, done+plural(len(all), "session")+".")
}

// picked returns the sessions that a form names by id: all must exist before
// anything is done.
func picked(r *http.Request) ([]skein.Session, error) {
	if err := r.ParseForm(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, skein.ErrInvalid)
	}
	var ids []skein.SessionID
	for _, id := range r.PostForm["id"] {
		ids = append(ids, skein.SessionID(id))
	}
	if len(ids) > maxBulk {
		return nil, fmt.Errorf("%d sessions: %w: at most %d at once", len(ids), skein.ErrInvalid, maxBulk)
	}
	store := door.From(r.Context()).Store
	known, err := lookup.ByID(r.Context(), store, ids)
	if err != nil {
		return nil, err
	}
	all := make([]skein.Session, 0, len(ids))
	for _, id := range ids {
		one, ok := known[id]
		if !ok {
			if one, err = store.Session(r.Context(), id); err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	return all, nil
}

func (s forms) tagAll(r *http.Request, all []skein.Session) error {
	tags, err := parseTags(r.PostFormValue("tag"))
	if err != nil {
		return err
	}
	if len(tags) == 0 {
		return fmt.Errorf("tag: %w: empty", skein.ErrInvalid)
	}
	for i := range all {
		if err := s.addTags(r.Context(), door.From(r.Context()).Store, all[i].ID, tags); err != nil {
			return err
		}
	}
	return nil
}

// exportAll answers with an archive that contains a file for each session.
func (s downloader) exportAll(w http.ResponseWriter, r *http.Request, all []skein.Session) {
	for _, d := range downloads() {
		if d.Name != cmp.Or(r.PostFormValue("as"), "md") {
			continue
		}
		w.Header().Set("Content-Type", "application/zip")
		w.Header().Set("Content-Disposition", `attachment; filename="sessions-`+s.Now().UTC().Format("2006-01-02")+`.zip"`)
		z := zip.NewWriter(w)
		for i := range all {
			f, err := z.CreateHeader(&zip.FileHeader{Name: fileName(&all[i]) + d.Ext, Method: zip.Deflate, Modified: all[i].Updated.Std()})
			if err == nil {
				err = s.export(r.Context(), f, all[i], d.Name, false)
			}
			if err != nil {
				s.Log.Error("a download broke off", "session", all[i].ID, "err", err)
				panic(http.ErrAbortHandler) // so that nobody takes half an archive for the whole
			}
		}
		if err := z.Close(); err != nil {
			panic(http.ErrAbortHandler) // as above
		}
		return
	}
	s.fail(w, r, fmt.Errorf("as=%q: %w: want md, html, json or skein", render.Line(r.PostFormValue("as")), skein.ErrInvalid))
}
