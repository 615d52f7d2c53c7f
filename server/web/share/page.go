package share

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/web/transcript"
)

//go:embed page.html
var pageFile string

// sharedPage is the data of a page that anybody can read.
type sharedPage struct {
	*Preview
	*transcript.Transcript
	N, Last        int
	Earlier, Later string // paths of the other pages; "" if there is none
	Styles         []string
	Policy         string     // of the content; "" if the server sends it
	Expires        skein.Time // 0 for a bundle
	Gone           string     // why nothing is shown; "" if something is
	Title          string
}

// pages returns the template of these pages. It is embedded, so it panics if it is wrong.
var pages = sync.OnceValue(func() *template.Template {
	all := template.New("page.html").Funcs(template.FuncMap{
		"base":    func(path string) string { return render.Line(path[strings.LastIndexAny(path, `/\`)+1:]) },
		"bytes":   func(n int) string { return render.Bytes(int64(n)) },
		"day":     func(t skein.Time) string { return t.Std().UTC().Format("Jan 2, 2006") },
		"iso":     func(t skein.Time) string { return t.String() },
		"line":    render.Line,
		"plural":  plural,
		"session": func(skein.SessionID) string { return "" }, // no page here leads to a session
	})
	return template.Must(template.Must(transcript.Parse(all)).Parse(pageFile))
})

// plural returns a number with its noun: 1 turn, 12 turns.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return render.Count(int64(n)) + " " + what + "s"
}

// write writes page n of what p shows. where returns the path of another page, blob that
// of a picture.
func (p *Preview) write(w io.Writer, n int, data sharedPage, where func(n int) string, blob func(skein.Hash) string) (err error) {
	if data.Transcript, err = p.Page(n, blob); err != nil {
		return err
	}
	data.Preview, data.N, data.Last, data.Title = p, n, p.Pages(), p.Title
	if n > 1 {
		data.Earlier = where(n - 1)
	}
	if n < data.Last {
		data.Later = where(n + 1)
	}
	if err := pages().ExecuteTemplate(w, "page", data); err != nil {
		return fmt.Errorf("page %d: %w", n, err)
	}
	return nil
}
