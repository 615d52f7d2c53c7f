package listing

import (
	"database/sql/driver"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// Many is how many sessions of a project are sorted; if there are more, Sessions goes
// through all sessions in order instead.
const Many = 2000

// Sessions returns the first sessions of f that a user may see, at most size of them, as
// show shows them; those of all users if user is "". The error is the driver's or that of
// show.
func Sessions(c *engine.Conn, user skein.User, f skein.Filter, size int, show func(*engine.Conn, columns.Head) (skein.Session, error)) (page []skein.Session, err error) {
	w := where(user, f)
	from, order, err := path(c, f, w)
	if err != nil {
		return nil, err
	}
	var heads []columns.Head
	err = engine.Unstop(c.Query(`SELECT `+columns.HeadColumns+from+w.SQL()+order, w.Args, func(row []driver.Value) error {
		h, err := columns.ScanHead(row)
		if err != nil || f.Title != "" && !f.Fits(&h.Session) {
			return err
		}
		// The rows are in order by second; those of the same second are
		// sorted here.
		if n := len(heads); n >= size && heads[n-1].Updated>>10 != h.Updated>>10 {
			return engine.ErrStop
		}
		heads = append(heads, h)
		return nil
	}))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(heads, func(a, b columns.Head) int { return a.Compare(&b.Session) })
	for _, h := range heads[:min(size, len(heads))] {
		x, err := show(c, h)
		if err != nil {
			return nil, err
		}
		page = append(page, x)
	}
	return page, nil
}

// path returns the index and order by which the sessions of f are found, and
// may add to w what it has found already.
func path(c *engine.Conn, f skein.Filter, w *engine.Where) (from, order string, err error) {
	const sorted = ` ORDER BY +s.recent DESC` // the plus keeps SQLite from using an index
	if f.Title != "" {
		if few, err := named(c, f.Title); err != nil || few != nil {
			w.Add("s.n IN (SELECT value FROM json_each(?))", string(few))
			return ` FROM sessions s`, sorted, err
		}
	}
	switch {
	case f.Key != "" && !f.Bin:
		return ` FROM sessions s INDEXED BY sessions_by_key`, sorted, nil
	case len(f.IDs) > 0, f.IDPrefix != "", utf8.RuneCountInString(f.IDSuffix) >= 4:
		return ` FROM sessions s`, sorted, nil
	case f.Parent != "":
		return ` FROM sessions s INDEXED BY sessions_by_parent`, sorted, nil
	case f.Project != "" || f.Repository != "":
		p := engine.Where{}
		addPlace(&p, "s.", f.Project, f.Repository)
		var n int64
		_, err := c.One(`SELECT count(*) FROM (SELECT 1 FROM sessions s`+p.SQL()+` LIMIT ?)`, append(p.Args, Many), &n)
		if err != nil || n < Many {
			return ` FROM sessions s`, sorted, err
		}
	}
	return ` FROM sessions s INDEXED BY sessions_by_recent`, ` ORDER BY s.recent DESC`, nil
}

// named returns, as a JSON array, the numbers of the sessions whose title, or
// else first words, may contain text; nil if there are many. It leaves letters
// that are not ASCII to Filter.Fits, because SQLite does not know their cases.
func named(c *engine.Conn, text string) ([]byte, error) {
	const name = `CASE title WHEN '' THEN first_words ELSE title END`
	ns := []int64{}
	err := c.Query(`SELECT n FROM sessions WHERE ?2 AND instr(lower(`+name+`), ?1) > 0 OR octet_length(`+name+`) <> length(`+name+`) LIMIT ?3`,
		[]any{strings.ToLower(text), !strings.ContainsFunc(text, func(r rune) bool { return unicode.ToLower(r) >= utf8.RuneSelf }), Many}, func(row []driver.Value) error {
			ns = append(ns, row[0].(int64))
			return nil
		})
	if err != nil || len(ns) == Many {
		return nil, err
	}
	return json.Marshal(ns)
}

// addPlace adds the conditions on where the work happened: in the project or in the
// repository, "" for none, of the table of.
func addPlace(w *engine.Where, of, project, repository string) {
	switch {
	case project != "" && repository != "":
		w.Add("("+of+"project = ? OR "+of+"repository = ? AND "+of+"repository <> '')", project, repository)
	case project != "":
		w.Add(of+"project = ?", project)
	case repository != "":
		w.Add(of+"repository = ? AND "+of+"repository <> ''", repository)
	}
}

// where returns the conditions of f for a user.
func where(user skein.User, f skein.Filter) *engine.Where {
	w := &engine.Where{}
	if user != "" {
		w.Add("s.user_id = ?", string(user))
	}
	if f.Bin {
		w.Add("s.binned <> 0")
	} else {
		w.Add("s.binned = 0")
	}
	for _, x := range []struct{ cond, value string }{
		{"s.user_id = ?", string(f.User)},
		{"s.key = ? AND s.key <> ''", f.Key},
		{"s.agent = ?", f.Agent},
		{"s.profile = ?", f.Profile},
		{"s.model = ?", f.Model},
		{"s.origin = ?", f.Origin},
		{"s.surface = ?", f.Surface},
		{"s.parent = ?", string(f.Parent)},
		{"EXISTS (SELECT 1 FROM json_each(s.tags) WHERE value = ?)", f.Tag},
	} {
		if x.value != "" {
			w.Add(x.cond, x.value)
		}
	}
	addPlace(w, "s.", f.Project, f.Repository)
	if f.Parent != "" && user == "" { // a session that names another user's session as its parent is not its child
		w.Add("s.user_id = coalesce((SELECT p.user_id FROM sessions p WHERE p.id = ?), s.user_id)", string(f.Parent))
	}
	if len(f.IDs) > 0 {
		w.Add("s.id IN (SELECT value FROM json_each(?))", string(skein.MustJSON(f.IDs)))
	}
	if f.IDPrefix != "" {
		w.Add("s.id >= ? AND s.id < ?", f.IDPrefix, f.IDPrefix+"\U0010ffff")
	}
	if f.IDSuffix != "" {
		w.Add("substr(s.id, -length(?)) = ?", f.IDSuffix, f.IDSuffix)
		if utf8.RuneCountInString(f.IDSuffix) >= 4 {
			w.Add("substr(s.id, -4) = substr(?, -4)", f.IDSuffix)
		}
	}
	if f.Pinned {
		w.Add("s.pinned = 1")
	}
	if f.Born {
		w.Add("s.origin = ''")
	}
	if f.NoChildren {
		w.Add("s.parent_why <> 'child'")
	}
	if f.Since != 0 {
		w.Add("s.recent >= ? AND s.updated >= ?", int64(f.Since)>>10, int64(f.Since))
	}
	if f.Until != 0 {
		w.Add("s.recent <= ? AND s.updated < ?", int64(f.Until)>>10, int64(f.Until))
	}
	if f.Before != nil {
		at := int64(f.Before.Updated)
		w.Add("s.recent <= ? AND s.updated <= ? AND (s.updated < ? OR s.id > ?)", at>>10, at, at, string(f.Before.ID))
	}
	if f.LargerThan > 0 {
		w.Add("s.bytes > ?", f.LargerThan)
	}
	if !f.IncludeEmpty {
		w.Add("s.last > 1")
	}
	if f.WithOpenCalls {
		w.Add("s.open_calls <> '[]'")
	}
	for _, by := range f.Chosen() {
		values := string(skein.MustJSON(f.Among[by]))
		switch of := counted(by); {
		case by == skein.ByTag:
			w.Add("EXISTS (SELECT 1 FROM json_each(s.tags) t WHERE t.value IN (SELECT value FROM json_each(?)))", values)
		case of != "" && by != skein.BySlot:
			w.Add(of+" IN (SELECT value FROM json_each(?))", values)
		default:
			w.Add("0")
		}
	}
	return w
}
