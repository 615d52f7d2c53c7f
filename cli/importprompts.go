package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/claudecode"
)

// prompts recovers sessions of which only the prompts remain.
func (o *importOptions) prompts(ctx context.Context, j *job, args []string) error {
	if o.format != "" || o.watch || o.list {
		return usagef("--prompts goes with none of --format, --watch and --list")
	}
	h := claudecode.History{Known: func(ctx context.Context, id string) (bool, error) {
		return hadSession(ctx, j.store, skein.SessionID(id), o.again)
	}}
	f := h.Format()
	paths, err := historyFiles(j, f, args)
	if err != nil {
		return err
	}
	if len(paths) == 0 && !o.json {
		j.say("there is no %s; name one: skein import --prompts PATH", j.tilde(f.Places(j.home())[0]))
		return nil
	}
	var all interop.Report
	var failing error
	for _, path := range paths {
		rep, err := interop.Import(ctx, j.store, []interop.Format{f}, []string{path}, interop.Options{Again: o.again})
		if err != nil {
			return err
		}
		failing = cmp.Or(failing, failed(rep))
		if o.json {
			if err := writeImportReport(j, rep); err != nil {
				return err
			}
			continue
		}
		o.tellPrompts(ctx, j, path, h, rep)
	}
	if o.json && len(paths) == 0 {
		return writeImportReport(j, all)
	}
	return failing
}

// historyFiles returns the prompt files in args, else the usual one if it exists.
func historyFiles(j *job, f interop.Format, args []string) (paths []string, err error) {
	for _, a := range args {
		if a, err = j.absolute(a); err != nil {
			return nil, err
		}
		if info, err := os.Stat(a); err == nil && info.IsDir() {
			a = filepath.Join(a, "history.jsonl")
		}
		if _, err := os.Stat(a); err != nil || filepath.Base(a) != "history.jsonl" {
			return nil, advise(missing("%s is no history.jsonl, nor a folder that has one", a), "name ~/.claude, or a copy of it")
		}
		paths = append(paths, a)
	}
	if len(args) > 0 {
		return paths, nil
	}
	for _, p := range f.Places(j.home()) {
		if _, err := os.Stat(p); err == nil {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// tellPrompts says what was recovered.
func (o *importOptions) tellPrompts(ctx context.Context, j *job, path string, h claudecode.History, r interop.Report) {
	lines := []string{newIn(r) + " from " + j.tilde(path)}
	if r.Unchanged > 0 {
		lines = append(lines, "  it is unchanged since the last time")
	}
	lines = append(lines, changed(ctx, j, r)...)
	if h.There > 0 {
		lines = append(lines, fmt.Sprintf("  %s left alone: here already, or its transcript is", count(h.There, "session")))
	}
	if h.Nobodys > 0 {
		lines = append(lines, fmt.Sprintf("  %s without a session left alone", count(h.Nobodys, "prompt")))
	}
	r.Unchanged, r.Unmatched = 0, 0
	lines = append(lines, o.remarks(j, r)...)
	if r.Sessions > 0 {
		lines = append(lines, "see them: skein list --all --tag "+claudecode.RecoveredTag)
	}
	j.say("%s", strings.Join(lines, "\n"))
}

// hadSession reports whether the store has a session, or had it until it was
// purged. If again is true, a purged session does not count.
func hadSession(ctx context.Context, s skein.Store, id skein.SessionID, again bool) (bool, error) {
	_, err := s.Session(ctx, id)
	if !errors.Is(err, skein.ErrNotFound) {
		return err == nil, err
	}
	// Appending to a session that does not exist always fails, and the error says why.
	_, err = s.Append(ctx, skein.Batch{Session: id, Events: []skein.Event{skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "prompts"})}})
	switch {
	case errors.Is(err, skein.ErrDeleted):
		return !again, nil
	case errors.Is(err, skein.ErrNotFound):
		return false, nil
	}
	return err == nil, err
}

// replaced puts recovered sessions into the bin if their transcript has turned up,
// unless they were continued here. It returns how many.
func (j *job) replaced(ctx context.Context) (n int, err error) {
	var all []skein.Session
	for s, err := range j.store.Sessions(ctx, skein.Filter{Origin: claudecode.HistoryName, IncludeEmpty: true}) {
		if err != nil {
			return 0, err
		}
		all = append(all, s)
	}
	for _, s := range all {
		real, err := j.store.Session(ctx, skein.SessionID(s.Origin.ID))
		switch {
		case gone(err) || err == nil && real.Binned != 0:
			continue
		case err != nil:
			return n, err
		}
		if own, err := wentOn(ctx, j.store, s.ID); own || err != nil {
			if err != nil {
				return n, err
			}
			continue
		}
		if err := skein.LifecycleOf(j.store).Bin(ctx, s.ID); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// wentOn reports whether a recovered session has messages besides the recovered
// ones.
func wentOn(ctx context.Context, s skein.Store, id skein.SessionID) (bool, error) {
	for e, err := range s.Events(ctx, id, 0) {
		if err != nil {
			return false, err
		}
		if e.Kind == skein.KindSaid && !strings.HasPrefix(string(e.ClientID), claudecode.RecoveredKey) {
			return true, nil
		}
	}
	return false, nil
}
