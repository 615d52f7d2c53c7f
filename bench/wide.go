package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/bench/gen"
)

// wideStore measures lists, searches and totals over many sessions.
func wideStore(ctx context.Context, e *fixture) error {
	s, dir, err := e.open(ctx, "wide")
	if err != nil {
		return err
	}
	defer s.Close()
	start := time.Now()
	if err := loadWide(ctx, s, e.size.sessions, e.size.perOne); err != nil {
		return err
	}
	loaded := time.Since(start)
	behind, err := indexed(ctx, dir)
	if err != nil {
		return err
	}
	e.say("  loaded %d sessions in %s; the index had them %s later", e.size.sessions, loaded.Round(time.Second), short(behind))
	for _, f := range []func(context.Context, skein.Store, string) error{e.list, e.facets, e.search, e.common, e.usage} {
		if err := f(ctx, s, dir); err != nil {
			return err
		}
	}
	if err := s.Close(); err != nil {
		return err
	}
	return e.listCommand(ctx, dir)
}

func (e *fixture) list(ctx context.Context, s skein.Store, dir string) error {
	ours, err := repeat(200, func() error {
		n := 0
		for _, err := range s.Sessions(ctx, skein.Filter{Limit: 50}) {
			if err != nil {
				return err
			}
			n++
		}
		if n != 50 {
			return fmt.Errorf("list 50: %d came", n)
		}
		return nil
	})
	if err != nil {
		return err
	}
	theirs, err := e.ask(dir, 200, 50, `SELECT id, title, project, updated, messages FROM sessions WHERE binned = 0 ORDER BY recent DESC LIMIT 50`)
	if err != nil {
		return err
	}
	o := ours.median()
	e.add(row{
		fmt.Sprintf("list 50 of %d sessions", e.size.sessions), short(o), "bare driver, five columns " + short(theirs.median()),
		ratio(o.Seconds(), theirs.median().Seconds()), "under 2 ms", holds(o < 2*time.Millisecond),
	})
	return nil
}

// facets measures counting all sessions by everything that the dashboard's list has facets
// of, beside counting them by one thing, which goes through as many rows.
func (e *fixture) facets(ctx context.Context, s skein.Store, _ string) error {
	const times = 10
	counting := func(by ...skein.Dimension) (time.Duration, error) {
		before := spent()
		for range times {
			counts, err := skein.CounterOf(s).CountBy(ctx, skein.Filter{NoChildren: true}, by...)
			if err != nil {
				return 0, err
			}
			if n, want := len(counts[skein.ByProject]), min(20, (e.size.sessions+49)/50); n != want {
				return 0, fmt.Errorf("sessions of %d projects, want %d", n, want)
			}
		}
		return (spent() - before) / times, nil
	}
	one, err := counting(skein.ByProject)
	if err != nil {
		return err
	}
	all, err := counting(skein.ByProject, skein.ByState, skein.ByAgent, skein.ByRepository, skein.ByBranch, skein.ByModelID, skein.ByTag, skein.BySurface, skein.BySlot)
	if err != nil {
		return err
	}
	e.add(row{
		what: fmt.Sprintf("count %d sessions by nine things", e.size.sessions), got: short(all) + " of CPU", beside: "by one thing " + short(one),
		ratio: ratio(all.Seconds(), one.Seconds()), goal: "15 µs for each session", holds: holds(all < time.Duration(e.size.sessions)*15*time.Microsecond),
	})
	return nil
}

// ask runs a query on the bare driver, times times, and counts its rows.
func (e *fixture) ask(dir string, times, want int, query string, args ...any) (series, error) {
	db, err := bare(dir)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	stmt, err := db.Prepare(query)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	return repeat(times, func() error {
		rows, err := stmt.Query(args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		cols, err := rows.Columns()
		if err != nil {
			return err
		}
		dest := make([]any, len(cols))
		for i := range dest {
			dest[i] = new(any)
		}
		n := 0
		for ; rows.Next(); n++ {
			if err := rows.Scan(dest...); err != nil {
				return err
			}
		}
		if n != want {
			return fmt.Errorf("%.40s …: %d rows, want %d", query, n, want)
		}
		return rows.Err()
	})
}

// listCommand times whole processes: skein's, and the sqlite3 shell's.
func (e *fixture) listCommand(ctx context.Context, dir string) error {
	bin, err := e.build(ctx, "")
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "skein.db")
	ours, err := repeat(20, func() error {
		cmd := exec.CommandContext(ctx, bin, "list", "--all", "--limit", "50")
		cmd.Env = home(dir)
		return silent(cmd)
	})
	if err != nil {
		return err
	}
	r := row{what: "the whole `skein list` process", got: short(ours.median()), goal: "under 20 ms", holds: holds(ours.median() < 20*time.Millisecond)}
	if shell, err := exec.LookPath("sqlite3"); err == nil {
		theirs, err := repeat(20, func() error {
			return silent(exec.CommandContext(ctx, shell, "-readonly", data, `SELECT id, title, project, updated_at, messages FROM sessions WHERE binned = 0 ORDER BY recent DESC LIMIT 50`))
		})
		if err != nil {
			return err
		}
		r.beside, r.ratio = "sqlite3 shell "+short(theirs.median()), ratio(ours.median().Seconds(), theirs.median().Seconds())
	}
	e.add(r)
	return nil
}

func (e *fixture) usage(ctx context.Context, s skein.Store, dir string) error {
	ours, err := repeat(20, func() error {
		rows, err := s.Usage(ctx, skein.UsageQuery{By: skein.ByModelID})
		if err == nil && len(rows) != 3 {
			err = fmt.Errorf("usage by model: %d rows, want 3", len(rows))
		}
		return err
	})
	if err != nil {
		return err
	}
	e.add(row{
		what: fmt.Sprintf("usage by model over %d messages", e.size.sessions*e.size.perOne), got: short(ours.median()),
		goal: "under 100 ms", holds: holds(ours.median() < 100*time.Millisecond),
	})
	return nil
}

// middling is the rank of a word that occurs in a few hundred messages.
const middling = 1200

// common measures a search for a word that occurs in nearly every message.
func (e *fixture) common(ctx context.Context, s skein.Store, dir string) error {
	word, cut := gen.NewWords(1).Rank(0), 0
	ours, err := repeat(10, func() error {
		res, err := s.Search(ctx, skein.Query{Terms: []skein.Term{{Words: []string{word}}}})
		if res.CutOff {
			cut++
		}
		return err
	})
	if err != nil {
		return err
	}
	e.add(row{
		what: fmt.Sprintf("search for %q, which nearly all messages have", word),
		got:  fmt.Sprintf("%s, at most %s, said so %d times of 11", short(ours.median()), short(ours.at(1)), cut),
		goal: "cut off at 150 ms", holds: holds(ours.at(1) < 165*time.Millisecond),
	})
	return nil
}
