package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/exchange"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/claudecode"
	"github.com/skein-dev/skein/interop/importer"
)

// prompts recovers sessions of which only the prompts remain.
func (o *importOptions) prompts(ctx context.Context, j *job.Job, args []string) error {
	if o.Format != "" || o.watch || o.list {
		return fault.Usage("--prompts cannot be combined with --format, --watch or --list")
	}
	h := claudecode.PromptHistory{Known: func(ctx context.Context, id string) (bool, error) {
		return hadSession(ctx, j.Store, skein.SessionID(id), o.again)
	}}
	f := h.Format()
	paths, err := historyFiles(j, f, args)
	if err != nil {
		return err
	}
	if len(paths) == 0 && !o.JSON {
		j.Say("there is no %s; name one: skein import --prompts PATH", j.Tilde(f.Places(exchange.Home(j))[0]))
		return nil
	}
	var all interop.Report
	var failing error
	for _, path := range paths {
		rep, err := importer.Import(ctx, j.Store, []interop.Format{f}, []string{path}, interop.Options{Checkout: j.LookUp, Again: o.again})
		if err != nil {
			return err
		}
		failing = cmp.Or(failing, exchange.Failed(rep))
		if o.JSON {
			if err := exchange.WriteImportReport(j, rep); err != nil {
				return err
			}
			continue
		}
		o.tellPrompts(ctx, j, path, h, rep)
	}
	if o.JSON && len(paths) == 0 {
		return exchange.WriteImportReport(j, all)
	}
	return failing
}

// historyFiles returns the prompt files in args, else the usual one if it exists.
func historyFiles(j *job.Job, f interop.Format, args []string) (paths []string, err error) {
	for _, a := range args {
		if a, err = j.Absolute(a); err != nil {
			return nil, err
		}
		if info, err := os.Stat(a); err == nil && info.IsDir() {
			a = filepath.Join(a, "history.jsonl")
		}
		if _, err := os.Stat(a); err != nil || filepath.Base(a) != "history.jsonl" {
			return nil, fault.Advise(fault.Missing("%s is not a history.jsonl, and not a folder that contains one", a), "name ~/.claude, or a copy of it")
		}
		paths = append(paths, a)
	}
	if len(args) > 0 {
		return paths, nil
	}
	for _, p := range f.Places(exchange.Home(j)) {
		if _, err := os.Stat(p); err == nil {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// tellPrompts says what was recovered.
func (o *importOptions) tellPrompts(ctx context.Context, j *job.Job, path string, h claudecode.PromptHistory, r interop.Report) {
	lines := []string{exchange.NewIn(r) + " from " + j.Tilde(path)}
	if r.Unchanged > 0 {
		lines = append(lines, "  the file is unchanged since the last import")
	}
	lines = append(lines, exchange.Changed(ctx, j, r)...)
	if h.There > 0 {
		lines = append(lines, fmt.Sprintf("  %s left alone: stored already, or with a transcript", terminal.Count(h.There, "session")))
	}
	if h.Nobodys > 0 {
		lines = append(lines, fmt.Sprintf("  %s left alone: without a session", terminal.Count(h.Nobodys, "prompt")))
	}
	r.Unchanged, r.Unmatched = 0, 0
	lines = append(lines, o.Remarks(j, r)...)
	if r.Sessions > 0 {
		lines = append(lines, "see them: skein list --all --tag "+claudecode.RecoveredTag)
	}
	j.Say("%s", strings.Join(lines, "\n"))
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
