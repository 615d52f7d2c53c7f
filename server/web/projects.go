package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/project"
	"github.com/skein-dev/skein/server/web/transcript"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/provenance"
)

// projectPages are the pages of projects.
type projectPages struct{ *site }

// routes are the routes of projects.
func (s projectPages) routes() []door.Route {
	return []door.Route{read("/projects", s.all), read("/project", s.one)}
}

// projectPath returns the path of a project's page.
func projectPath(key string) string { return "/project?" + url.Values{"of": {key}}.Encode() }

// projectsPage is the data of the page of all projects.
type projectsPage struct {
	Rows   []projectRow
	Priced bool
}

// projectRow is a project of that page.
type projectRow struct {
	Key, Name, Path string
	Sessions        int
	price.Sum
	Share int // of the dearest, in thousandths: the length of its bar
}

// source is where the pages of projects have their data from.
func (s projectPages) source(ctx context.Context) (from project.DataSource, err error) {
	from.Store = door.From(ctx).Store
	if s.Prices != nil {
		from.Prices, err = s.Prices()
	}
	return from, err
}

// all lists the projects, those that cost the most first.
func (s projectPages) all(w http.ResponseWriter, r *http.Request) {
	p, err := s.allOf(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, "projects", layoutData{Title: "Projects", At: "projects", Data: p})
}

func (s projectPages) allOf(ctx context.Context) (*projectsPage, error) {
	from, err := s.source(ctx)
	if err != nil {
		return nil, err
	}
	p := &projectsPage{Priced: from.Prices != nil}
	counted, err := skein.CounterOf(from.Store).CountBy(ctx, skein.Filter{NoChildren: true}, skein.ByRepository)
	if err != nil {
		return nil, err
	}
	counts := counted[skein.ByRepository]
	costs, most := map[string]price.Sum{}, int64(1)
	if from.Prices != nil {
		rows, err := from.Store.Usage(ctx, skein.UsageQuery{By: skein.ByRepository})
		if err != nil {
			return nil, err
		}
		for _, sum := range from.Prices.Sums(rows, skein.ByRepository) {
			costs[sum.Of] = sum
			most = max(most, int64(sum.Cost))
		}
	}
	names := project.Names(keysOf(counts))
	for _, c := range counts {
		if c.Of != "" {
			sum := costs[c.Of]
			p.Rows = append(p.Rows, projectRow{c.Of, names[c.Of], projectPath(c.Of), c.Sessions, sum, int(1000 * int64(sum.Cost) / most)})
		}
	}
	slices.SortStableFunc(p.Rows, func(a, b projectRow) int { return cmp.Compare(b.Cost, a.Cost) })
	return p, nil
}

func keysOf(counts []skein.Counted) (all []string) {
	for _, c := range counts {
		all = append(all, c.Of)
	}
	return all
}

// projectPage is the data of a project's page.
type projectPage struct {
	*project.Overview
	Name    string
	List    string // path of its sessions
	Path    string
	Chart   *chart
	Priced  bool
	Files   *projectFiles   // nil: not yet
	Commits *projectCommits // nil: not yet
	Cloned  bool            // there may be a clone of it on this machine
}

// projectFiles are the files that a project's sessions changed.
type projectFiles struct {
	Shown, More []projectFile
	Left        int        // further ones
	Since       skein.Time // of the oldest message that was looked at; 0 for all
	All         string     // path of the page with all of them; "" if this one has them
}

// projectFile is one of them.
type projectFile struct {
	provenance.WrittenFile
	Page string // path of its history
	Seen []writerLink
}

// writerLink is a session that changed a file.
type writerLink struct {
	provenance.FileWriter
	Name, Path string
	Mark       agentMark
}

// projectCommits are the newest commits of a project.
type projectCommits struct {
	Rows         []commitRow
	Folder       string // whose they are; "" if there is no clone here
	Bad          string
	More         string // path of the page with more
	Lines, Known int
}

// commitRow is one of them.
type commitRow struct {
	project.SharedCommit
	Shares []sharePiece
}

// sharePiece is what a session has in a commit.
type sharePiece struct {
	project.CommitPart
	Name, Path, Percent string
	Mark                agentMark
	X, W                int // where its piece of the bar is, in thousandths
}

const (
	someMessages = 2000    // of models, that are looked at for files
	allMessages  = 200_000 // the same, if the reader asks for all
	someFiles    = 25      // shown at once
	allFiles     = 400     // shown in all
	maxWriters   = 6       // of one file
	someCommits  = 10
	maxCommits   = 200
)

// one shows a project. With piece=files or piece=commits it sends only these, for the
// script that adds them.
func (s projectPages) one(w http.ResponseWriter, r *http.Request) {
	q, ctx := r.URL.Query(), r.Context()
	from, err := s.source(ctx)
	var record *project.Overview
	if err == nil {
		record, err = from.Read(ctx, q.Get("of"))
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	p := &projectPage{Overview: record, Name: s.projectNames(ctx).of(record.Key), List: listPath(url.Values{"in": {record.Key}}), Path: projectPath(record.Key), Priced: from.Prices != nil, Cloned: s.seesFolders(door.From(ctx))}
	piece := q.Get("piece")
	if piece == "files" || q.Has("files") {
		p.Files, err = s.filesOf(ctx, from, p, q.Get("files") == "all")
	}
	if err == nil && p.Cloned && (piece == "commits" || q.Has("commits")) {
		p.Commits, err = s.commitsOf(ctx, from, p, q.Get("commits"))
	}
	if err == nil && piece == "" {
		p.Chart, err = s.chartOf(ctx, from, record.Key)
	}
	switch {
	case err != nil:
		s.fail(w, r, err)
	case piece == "files" || piece == "commits":
		s.fragment(w, "project", piece, p)
	default:
		s.show(w, r, "project", layoutData{Title: p.Name, At: "projects", Class: "project", Data: p})
	}
}

// seesFolders reports whether the visitor is the one on whose machine the sessions' folders
// are: only such a person sees what Git says about them.
func (s *site) seesFolders(v door.Visitor) bool {
	return s.Folders && v.Scope >= door.Write && v.Owner() == "" && v.User == ""
}

// projectNames are the short names of projects: no two are equal.
type projectNames map[string]string

// of returns the short name of a project.
func (n projectNames) of(key string) string { return cmp.Or(n[key], base(key)) }

// projectNames returns the names of all projects that the visitor sees.
func (s *site) projectNames(ctx context.Context) projectNames {
	counts, err := skein.CounterOf(s.store(ctx)).CountBy(ctx, skein.Filter{}, skein.ByRepository)
	if err != nil {
		s.Log.Error("the projects cannot be counted", "err", err)
	}
	return project.Names(keysOf(counts[skein.ByRepository]))
}

func (s projectPages) chartOf(ctx context.Context, from project.DataSource, key string) (*chart, error) {
	if from.Prices == nil {
		return nil, nil
	}
	q := project.Usage(key)
	q.By, q.Zone = skein.ByDay, s.Now().Location()
	rows, err := from.Store.Usage(ctx, q)
	if steps := stepsOf(from.Prices.Sums(rows, skein.ByDay)); err == nil && len(steps) > 2 {
		return newChart("Cost", steps, costMeasure(), "Cost"), nil
	}
	return nil, err
}

// CostOf returns what a session cost, for people.
func (p *projectPage) CostOf(id skein.SessionID) string { return p.Overview.CostOf(id).Money() }

// Tree returns the path of the list of the sessions of a branch in a folder.
func (p *projectPage) Tree(b project.Branch) string {
	q := url.Values{"in": {p.Key}}
	if b.Name != "" {
		q.Set("branch", b.Name)
	}
	if b.Folder != "" && b.Folder != p.Key {
		q.Set("project", b.Folder)
	}
	return listPath(q)
}

// SomeBranches returns the branches to show at once, OtherBranches the rest.
func (p *projectPage) SomeBranches() []project.Branch { return p.Branches[:min(len(p.Branches), 12)] }

// OtherBranches returns the branches that are folded.
func (p *projectPage) OtherBranches() []project.Branch { return p.Branches[len(p.SomeBranches()):] }

// Mark returns the mark of an agent.
func (p *projectPage) Mark(agent string) agentMark { return markOf(agent) }

func (s projectPages) filesOf(ctx context.Context, from project.DataSource, p *projectPage, all bool) (*projectFiles, error) {
	most, out := someMessages, &projectFiles{}
	if all {
		most = allMessages
	} else {
		out.All = p.Path + "&files=all#files"
	}
	found, since, err := from.Files(ctx, p.Overview, most)
	if err != nil {
		return nil, err
	}
	if out.Since = since; since == 0 {
		out.All = ""
	}
	if len(found) > allFiles {
		out.Left, found = len(found)-allFiles, found[:allFiles]
	}
	var ids []skein.SessionID
	for i := range found {
		for _, by := range found[i].By[:min(len(found[i].By), maxWriters)] {
			ids = append(ids, by.Session)
		}
	}
	known, err := lookup.ByID(ctx, from.Store, ids)
	if err != nil {
		return nil, err
	}
	for i := range found {
		f := projectFile{WrittenFile: found[i], Page: transcript.SessionPath(found[i].By[0].Session) + "/file?" + url.Values{"path": {found[i].Path}}.Encode()}
		for _, by := range f.By[:min(len(f.By), maxWriters)] {
			if one, ok := known[by.Session]; ok {
				one = s.veiled(one)
				f.Seen = append(f.Seen, writerLink{by, one.Name(), atMessage(one, by.Seq), markOf(one.Agent)})
			}
		}
		if len(out.Shown) < someFiles {
			out.Shown = append(out.Shown, f)
		} else {
			out.More = append(out.More, f)
		}
	}
	return out, nil
}

// atMessage returns the path of a message of a session.
func atMessage(one skein.Session, seq skein.Seq) string {
	v := transcript.PageView{Session: one}
	return fmt.Sprintf("%s#m%d", v.Link("at", seq), seq)
}

func (s projectPages) commitsOf(ctx context.Context, from project.DataSource, p *projectPage, most string) (*projectCommits, error) {
	n, err := strconv.Atoi(most)
	if err != nil || n < 1 || n > maxCommits {
		n = someCommits
	}
	out := &projectCommits{Folder: p.Clone()}
	if out.Folder == "" {
		return out, nil
	}
	all, more, err := from.Commits(ctx, out.Folder, n)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		out.Bad = skein.Reason(err)
		return out, nil
	}
	if more && n < maxCommits {
		out.More = p.Path + "&commits=" + strconv.Itoa(min(2*n, maxCommits)) + "#commits"
	}
	for _, c := range all {
		out.Lines, out.Known = out.Lines+c.Lines, out.Known+c.Known
		row, at := commitRow{SharedCommit: c}, 0
		for _, part := range c.By {
			one := s.veiled(part.Session)
			x := sharePiece{CommitPart: part, Name: one.Name(), Path: transcript.SessionPath(one.ID), Mark: markOf(one.Agent), X: at, W: 1000 * part.Lines / max(c.Lines, 1)}
			if part.Lines > 0 {
				x.Percent = percent(int64(part.Lines), int64(c.Lines))
			}
			at += x.W
			row.Shares = append(row.Shares, x)
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// Percent returns how much of the commits' lines sessions wrote.
func (c *projectCommits) Percent() string { return percent(int64(c.Known), int64(c.Lines)) }

// Short returns the beginning of the commit's hash.
func (c *commitRow) Short() string { return c.Hash[:min(len(c.Hash), 8)] }

// Dir returns the folder of the file, and Base its name.
func (f *projectFile) Dir() string { return f.Path[:strings.LastIndexByte(f.Path, '/')+1] }

// Base returns the name of the file.
func (f *projectFile) Base() string { return f.Path[strings.LastIndexByte(f.Path, '/')+1:] }

// A branchRow is a branch of a project's page.
type branchRow struct {
	project.Branch
	Path   string
	Priced bool
}

// Row returns a branch for its template.
func (p *projectPage) Row(b project.Branch) branchRow { return branchRow{b, p.Tree(b), p.Priced} }
