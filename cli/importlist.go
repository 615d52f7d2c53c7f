package cli

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/render"
)

// A foundPlace is what skein import --list says about a format's place, in JSON.
type foundPlace struct {
	Format    string   `json:"format"`
	Place     string   `json:"place"`
	There     bool     `json:"there"`
	Variable  string   `json:"variable,omitempty"`  // the environment variable that names the place
	Variables []string `json:"variables,omitempty"` // all variables that can name it
	Files     int      `json:"files"`               // a folder or database of sessions counts as one
	Bytes     int64    `json:"bytes"`
	New       int      `json:"new_files"`     // never imported
	Grown     int      `json:"changed_files"` // changed since their import
	Sessions  int      `json:"sessions"`
	Stored    int      `json:"stored"` // sessions from here that skein has
}

// find lists what there is to import, and how much of it is already imported.
func (o *importOptions) find(ctx context.Context, j *job, formats []interop.Format, args []string) error {
	paths, err := o.paths(j, formats, args)
	if err != nil {
		return err
	}
	found, rep, err := interop.Find(ctx, j.store, formats, paths)
	if err != nil {
		return err
	}
	var all []foundPlace
	if len(args) == 0 {
		all = usual(j, formats)
	}
	for _, f := range found {
		all = put(all, f)
	}
	if o.json {
		for _, p := range all {
			if err := writeJSON(j.Stdout, p); err != nil {
				return err
			}
		}
		return failed(rep)
	}
	t := j.foundTable(all)
	if err := j.page(ctx, func(w io.Writer) error { return j.table(w, t) }); err != nil {
		return err
	}
	if lines := o.remarks(j, interop.Report{Unmatched: rep.Unmatched, Alike: rep.Alike, Others: rep.Others, Removed: rep.Removed, Skipped: rep.Skipped, Skips: rep.Skips}); len(lines) > 0 {
		j.say("%s", strings.Join(lines, "\n"))
	}
	if len(found) == 0 && rep.Removed == 0 && len(args) > 0 {
		j.say("nothing there is a session that skein knows")
	}
	return failed(rep)
}

// usual returns the places where formats keep sessions.
func usual(j *job, formats []interop.Format) (all []foundPlace) {
	home := j.home()
	for _, f := range formats {
		places, asked := interop.PlacesOf(f, home)
		for _, p := range places {
			_, err := os.Stat(p.Path)
			all = append(all, foundPlace{Format: f.Name, Place: p.Path, There: err == nil, Variable: p.Variable, Variables: asked})
		}
	}
	return all
}

// put adds what was found to the line of its place, or adds a new line if it is in
// another format's place.
func put(all []foundPlace, f interop.Found) []foundPlace {
	at := 0
	for at < len(all) && (all[at].Format != f.Format || all[at].Place != f.Path) {
		at++
	}
	if at == len(all) {
		all = append(all, foundPlace{Format: f.Format, Place: f.Path, There: true})
	}
	p := &all[at]
	p.Files, p.Bytes, p.New, p.Grown, p.Sessions, p.Stored = f.Files, f.Bytes, f.New, f.Grown, f.Sessions, f.Stored
	return all
}

// foundTable lists the places that exist before those that do not.
func (j *job) foundTable(all []foundPlace) *table {
	t := &table{columns: []column{
		{title: "FORMAT", rank: 0, paint: j.paint.Cyan},
		{title: "PLACE", rank: 1, min: 20, left: true},
		{title: "NAMED BY", rank: 4, paint: j.paint.Dim},
		{title: "FILES", rank: 2, right: true},
		{title: "SIZE", rank: 5, right: true},
		{title: "SESSIONS", rank: 2, right: true},
		{title: "STORED", rank: 2, right: true},
		{title: "NEW", rank: 3, right: true},
		{title: "CHANGED", rank: 6, right: true},
	}}
	var missing [][]string
	for _, p := range all {
		row := []string{p.Format, render.Line(j.tilde(p.Place)), p.Variable}
		if !p.There {
			missing = append(missing, append(row, "–", "", "", "", "", ""))
			continue
		}
		row = append(row, strconv.Itoa(p.Files), bytesText(p.Bytes), strconv.Itoa(p.Sessions), strconv.Itoa(p.Stored), strconv.Itoa(p.New), strconv.Itoa(p.Grown))
		t.rows = append(t.rows, row)
	}
	t.rows = append(t.rows, missing...)
	return t
}
