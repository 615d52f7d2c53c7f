package web

import (
	"archive/zip"
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
)

// maxBulk is how many sessions a form may name.
const maxBulk = 1000

// bulk changes the sessions that were selected in the list.
func (s *site) bulk(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, fmt.Errorf("%w: %w", err, skein.ErrInvalid))
		return
	}
	to := local(r.PostFormValue("back"), "/")
	picked := r.PostForm["id"]
	if len(picked) == 0 {
		back(w, r, to, "No session is picked: tick some first.")
		return
	}
	if len(picked) > maxBulk {
		s.fail(w, r, fmt.Errorf("%d sessions: %w: at most %d at once", len(picked), skein.ErrInvalid, maxBulk))
		return
	}
	all, err := picks(r.Context(), picked)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	switch what := r.PostFormValue("do"); what {
	case "export":
		s.exportAll(w, r, all)
		return
	case "tag":
		err = s.tagAll(r, all)
	case "bin":
		for i := range all {
			if err = skein.LifecycleOf(door.From(r.Context()).Store).Bin(r.Context(), all[i].ID); err != nil {
				break
			}
		}
	default:
		err = fmt.Errorf("do=%q: %w: want tag, bin or export", what, skein.ErrInvalid)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	done := map[string]string{"tag": "Tagged ", "bin": "Moved to the bin: "}[r.PostFormValue("do")]
	back(w, r, to, done+plural(len(all), "session")+".")
}

// picks looks up sessions: all must exist before anything is done.
func picks(ctx context.Context, ids []string) (all []skein.Session, err error) {
	for _, id := range ids {
		one, err := door.From(ctx).Store.Session(ctx, skein.SessionID(id))
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func (s *site) tagAll(r *http.Request, all []skein.Session) error {
	tags, err := parseTags(r.PostFormValue("tag"))
	if err != nil {
		return err
	}
	if len(tags) == 0 {
		return fmt.Errorf("tag: %w: it is empty", skein.ErrInvalid)
	}
	for i := range all {
		if err := s.addTags(r.Context(), door.From(r.Context()).Store, all[i].ID, tags); err != nil {
			return err
		}
	}
	return nil
}

// exportAll answers with an archive that contains a file for each session.
func (s *site) exportAll(w http.ResponseWriter, r *http.Request, all []skein.Session) {
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
				err = s.export(r.Context(), f, all[i], d.Name, render.Live)
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
