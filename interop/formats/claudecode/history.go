package claudecode

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// HistoryName is the name of [PromptHistory]'s format: [skein.Origin.Format] of recovered
// sessions.
const HistoryName = "claude-code-prompts"

// RecoveredTag is the tag of sessions that were recovered.
const RecoveredTag = "recovered"

// A PromptHistory recovers sessions from ~/.claude/history.jsonl, where Claude Code keeps
// what was typed even after it has deleted the transcript:
//
//	{"display":"…","pastedContents":{"1":{"id":1,"type":"text","content":"…"}},"timestamp":1795230386350,"project":"/home/ann/shop","sessionId":"…"}
//
// It has a line for each prompt; older versions write no sessionId, and prompts
// without one are ignored. A recovered session has no parent, the ID
// "prompts-<sessionId>", the prompts as its messages, and the tag recovered.
//
// It is a unit of package interop, the folder ~/.claude, in which each session whose
// transcript is gone is a source. (Checked on the program's source, 2.1.330, and on
// handwritten files, 2026-11-21.)
type PromptHistory struct {
	// Known reports whether a session needs no recovery, by its ID in Claude
	// Code: the store has it, or had it.
	Known func(ctx context.Context, id string) (bool, error)

	// What was found at the last read.
	Recovered int // sessions whose transcript is gone
	There     int // sessions that are known, or whose transcript is there
	Nobodys   int // prompts that name no session
}

// maxHistory is the longest history.jsonl that is read, in bytes.
const maxHistory = 256 << 20

// Format returns the format. It is not safe to read two folders with it at the
// same time.
func (h *PromptHistory) Format() interop.Format {
	return interop.Format{
		Name:   HistoryName,
		Doc:    "what was asked in Claude Code (~/.claude/history.jsonl)",
		Places: historyPlaces,
		Unit:   historyUnit,
		Look:   h.look,
		Open:   openPrompts,
	}
}

func historyPlaces(h interop.Home) []string {
	return []string{filepath.Join(filepath.Dir(places(h)[0]), "history.jsonl")}
}

// historyUnit returns the folder that has the history, for the transcripts in it too:
// one that is deleted is one to recover.
func historyUnit(name string) string {
	dir, base := path.Split(name)
	dir = strings.TrimSuffix(dir, "/")
	if above := path.Dir(dir); path.Base(above) == "projects" && strings.HasSuffix(base, ".jsonl") {
		return path.Dir(above)
	}
	if base == "history.jsonl" {
		return dir
	}
	return ""
}

// look opens the folder dir.
func (h *PromptHistory) look(ctx context.Context, dir string) (interop.Unit, error) {
	lines, err := readHistory(filepath.Join(dir, "history.jsonl"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, interop.ErrOther
	case err != nil:
		return nil, err
	}
	there, err := transcripts(filepath.Join(dir, "projects"))
	if err != nil {
		return nil, err
	}
	u := &historyUnitOf{dir: dir, lines: map[string][]byte{}}
	left := map[string]bool{}
	h.Recovered, h.There, h.Nobodys = 0, 0, 0
	for line := range bytes.Lines(lines) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // it is being written
		}
		id := sessionOf(line)
		switch {
		case id == "":
			h.Nobodys++
			continue
		case left[id]:
			continue
		case u.lines[id] == nil:
			known, err := h.Known(ctx, id)
			if err != nil {
				return nil, err
			}
			if left[id] = known || there[id]; left[id] {
				h.There++
				continue
			}
			u.order = append(u.order, id)
			h.Recovered++
		}
		u.lines[id] = append(u.lines[id], line...)
	}
	return u, nil
}

// sessionOf returns the session that a line of the history names.
func sessionOf(line []byte) string {
	o, err := loose.Parse(line)
	if id := o.Str("sessionId"); err == nil && o.Has("display") && isUUID(id) {
		return id
	}
	return ""
}

func readHistory(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is no regular file", interop.ErrOther, name)
	case info.Size() > maxHistory:
		return nil, fmt.Errorf("%d bytes, at most %d are read of %s", info.Size(), maxHistory, name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxHistory))
	return data, errors.Join(err, f.Close())
}

// transcripts returns the sessions that have one below dir.
func transcripts(dir string) (map[string]bool, error) {
	all := map[string]bool{}
	folders, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, d := range folders {
		if !d.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(dir, d.Name()))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if id, ok := strings.CutSuffix(f.Name(), ".jsonl"); ok {
				all[id] = true
			}
		}
	}
	return all, nil
}

// A historyUnitOf is a parsed history.
type historyUnitOf struct {
	dir   string
	order []string
	lines map[string][]byte
}

// Sources implements [interop.Unit]; there are no errors.
func (u *historyUnitOf) Sources(context.Context) (all []interop.Source, err error) {
	for _, id := range u.order {
		sum := sha256.Sum256(u.lines[id])
		all = append(all, interop.Source{Name: id, Stamp: hex.EncodeToString(sum[:]), Size: int64(len(u.lines[id]))})
	}
	return append(all, interop.Source{}), nil
}

// Open implements [interop.Unit]; the error says that there is no such source.
func (u *historyUnitOf) Open(_ context.Context, name string) (io.ReadCloser, error) {
	if name != "" && !slices.Contains(u.order, name) {
		return nil, fmt.Errorf("%s has no prompts of session %q", u.dir, name)
	}
	return io.NopCloser(bytes.NewReader(u.lines[name])), nil
}

// Skips implements [interop.Unit]; there are none.
func (u *historyUnitOf) Skips() []interop.Skip { return nil }

// Close implements [interop.Unit]; there are no errors.
func (u *historyUnitOf) Close() error { return nil }

var _ interop.Unit = (*historyUnitOf)(nil)

// RecoveredID returns the ID of the session that was recovered from the prompts of a
// Claude Code session.
func RecoveredID(id string) skein.SessionID { return skein.SessionID("prompts-" + id) }
