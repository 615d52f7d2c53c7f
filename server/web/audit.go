package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/accounts"
)

// auditPages show what tokens were used for, to the people who manage the server.
type auditPages struct{ *site }

func (s auditPages) routes() []door.Route {
	if s.Tokens == nil || !s.Tokens.Audits() {
		return nil
	}
	page := read("/settings/audit", s.audit)
	page.Scope = door.Admin
	return []door.Route{page}
}

// auditSize is how many rows a page has.
const auditSize = 100

// auditPage is the data of the page.
type auditPage struct {
	Rows     []auditLine
	Session  skein.SessionID // whose rows are shown; "" for all
	Token    string          // whose rows are shown; "" for all
	Next     string          // path of the older rows; "" if there are none
	Months   int             // how long rows are kept
	Narrowed bool
}

// auditLine is a row of the audit, and what its session is called.
type auditLine struct {
	accounts.AuditRow
	Name  string // of the session; "" if it is gone, or there is none
	ByTok string // path of the token's rows
	BySes string // path of the session's rows; "" if there is none
}

// audit shows what tokens were used for.
func (s auditPages) audit(w http.ResponseWriter, r *http.Request) {
	p, err := s.auditOf(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, "audit", layoutData{Title: "Audit", At: "settings", Data: p})
}

func (s auditPages) auditOf(r *http.Request) (*auditPage, error) {
	if err := settingPages(s).mayManage(r); err != nil {
		return nil, err
	}
	given := r.URL.Query()
	q := accounts.AuditQuery{Session: skein.SessionID(given.Get("session")), Token: given.Get("token"), Limit: auditSize + 1}
	if skip := given.Get("skip"); skip != "" {
		var err error
		if q.Skip, err = strconv.Atoi(skip); err != nil || q.Skip < 0 || q.Skip > accounts.MaxAudit {
			return nil, skein.Invalidf("skip %q: want a number up to %d", skip, accounts.MaxAudit)
		}
	}
	rows, err := s.Tokens.Audited(r.Context(), q)
	if err != nil {
		return nil, err
	}
	p := &auditPage{Session: q.Session, Token: q.Token, Narrowed: q.Session != "" || q.Token != "", Months: int(accounts.AuditKept.Hours() / 24 / 30)}
	if len(rows) > auditSize {
		rows = rows[:auditSize]
		given.Set("skip", strconv.Itoa(q.Skip+auditSize))
		p.Next = "/settings/audit?" + given.Encode()
	}
	p.Rows, err = s.auditLines(r.Context(), rows)
	return p, err
}

// auditLines returns rows as the page shows them.
func (s auditPages) auditLines(ctx context.Context, rows []accounts.AuditRow) (all []auditLine, err error) {
	names := map[skein.SessionID]string{"": ""}
	for _, row := range rows {
		if _, known := names[row.Session]; !known {
			one, err := door.From(ctx).Store.Session(ctx, row.Session)
			if err != nil && !errors.Is(err, skein.ErrNotFound) && !errors.Is(err, skein.ErrDeleted) {
				return nil, err
			}
			if err == nil {
				one = s.veiled(one)
				names[row.Session] = one.Name()
			} else {
				names[row.Session] = ""
			}
		}
		line := auditLine{AuditRow: row, Name: names[row.Session], ByTok: "/settings/audit?" + url.Values{"token": {row.Token}}.Encode()}
		if row.Session != "" {
			line.BySes = "/settings/audit?" + url.Values{"session": {string(row.Session)}}.Encode()
		}
		all = append(all, line)
	}
	return all, nil
}
