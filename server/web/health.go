package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/inspect"
)

// healthPages examine the store.
type healthPages struct{ *site }

// routes are the routes of the health check. It covers the sessions of
// all users.
func (s healthPages) routes() []door.Route {
	look, mend := read("/health", s.health), change("/health/repair", s.repair)
	look.Scope, mend.Scope = door.Admin, door.Admin
	return []door.Route{look, mend}
}

// healthPage is the data of the page.
type healthPage struct {
	Findings                  []inspect.Finding
	Damaged, Warned, Mendable int
	Looked                    bool   // the store was examined; otherwise the page only offers it
	Cannot                    bool   // the store cannot examine itself
	Broken                    string // why the examination ended early
}

// health examines the store, if requested: that can take a while.
func (s healthPages) health(w http.ResponseWriter, r *http.Request) {
	p := &healthPage{}
	if r.URL.Query().Has("look") {
		p = s.examine(r.Context(), inspect.Examination{})
	}
	s.show(w, r, "health", layoutData{Title: "Health", At: "health", Data: p})
}

// repair repairs what can be repaired without losing anything.
func (s healthPages) repair(w http.ResponseWriter, r *http.Request) {
	p := s.examine(r.Context(), inspect.Examination{Repair: true})
	s.show(w, r, "health", layoutData{Title: "Health", At: "health", Data: p})
}

func (s healthPages) examine(ctx context.Context, x inspect.Examination) *healthPage {
	p := &healthPage{Looked: true}
	examiners := s.Examiners
	if ex, ok := skein.PartOf[inspect.Examiner](door.From(ctx).Store); ok {
		examiners = append([]inspect.Examiner{ex}, examiners...)
	}
	p.Cannot = len(examiners) == 0
	for _, ex := range examiners {
		for f, err := range ex.Examine(ctx, x) {
			if err != nil {
				p.broke(err)
				break
			}
			p.add(f)
		}
	}
	return p
}

// broke records why the examination ended.
func (p *healthPage) broke(err error) {
	p.Broken = skein.Reason(err)
	if !errors.Is(err, context.Canceled) {
		p.Damaged++
	}
}

func (p *healthPage) add(f inspect.Finding) {
	p.Findings = append(p.Findings, f)
	switch {
	case f.Mended:
		return
	case f.Level == inspect.Damaged:
		p.Damaged++
	case f.Level == inspect.Warning:
		p.Warned++
	}
	if f.Mendable {
		p.Mendable++
	}
}
