package aider

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// heading is the beginning of a session's first line.
const heading = "# aider chat started at "

// A section is the part of a history that is one session.
type section struct {
	name string // "" for what is before the first, if that is blank
	data []byte
}

// sections cuts a history into its sessions, with the blank line before each
// heading.
func sections(data []byte) (all []section) {
	seen := map[string]int{}
	from, at, blank := 0, 0, -1
	now := ""
	end := func(to int) {
		part := data[from:to:to]
		if now == "" && len(bytes.TrimSpace(part)) > 0 && !partial(bytes.TrimLeft(part, "\r\n")) {
			now = "start"
		}
		if len(part) > 0 {
			all = append(all, section{now, part})
		}
	}
	for line := range bytes.Lines(data) {
		if stamp, ok := strings.CutPrefix(strings.TrimSpace(string(line[:min(len(line), 100)])), heading); ok && line[0] == '#' && !partial(line) {
			begin := at
			if blank >= 0 {
				begin = blank
			}
			if begin > from || now != "" {
				end(begin)
			}
			from, now = begin, unique(seen, nameOf(stamp))
		}
		if blank = -1; len(bytes.TrimSpace(line)) == 0 {
			blank = at
		}
		at += len(line)
	}
	if from < len(data) {
		end(len(data))
	}
	return all
}

// partial reports whether a line is a heading that is still being written.
func partial(line []byte) bool {
	return len(line) > 0 && !bytes.HasSuffix(line, []byte("\n")) && len(line) < len(heading)+len("2006-01-02 15:04:05") &&
		(bytes.HasPrefix([]byte(heading), line) || bytes.HasPrefix(line, []byte(heading)))
}

// nameOf returns a session's name by the time in its heading.
func nameOf(stamp string) string {
	name := strings.NewReplacer("-", "", ":", "", " ", "-").Replace(stamp)
	if strings.Trim(name, "0123456789-") != "" || name == "" {
		return "unknown"
	}
	return name
}

func unique(seen map[string]int, name string) string {
	if seen[name]++; seen[name] > 1 {
		return name + "." + strconv.Itoa(seen[name])
	}
	return name
}

// A history is a file of sessions.
type history struct {
	interop.Unit
	path     string
	sections []section
	at       map[string]int // place of a section, by its name
}

// look opens a history.
func look(ctx context.Context, at string) (interop.Unit, error) {
	h := &history{path: at}
	var err error
	h.Unit, err = interop.OpenDocument(ctx, at, func(data []byte) ([][]byte, bool) {
		h.sections, h.at = sections(data), map[string]int{}
		for i, s := range h.sections {
			h.at[s.name] = i
		}
		return [][]byte{data}, true
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Sources implements [interop.Unit]; there are no errors.
func (h *history) Sources(context.Context) (all []interop.Source, err error) {
	for _, s := range h.sections {
		if s.name != "" {
			sum := sha256.Sum256(s.data)
			all = append(all, interop.Source{Name: s.name, Stamp: hex.EncodeToString(sum[:16]), Size: int64(len(s.data))})
		}
	}
	return append(all, interop.Source{}), nil
}

// order is the line that says in which order the sessions are.
type order struct {
	Sessions []string `json:"sessions"`
}

func (h *history) order() (list order) {
	for _, s := range h.sections {
		list.Sessions = append(list.Sessions, s.name)
	}
	return list
}

// Open implements [interop.Unit]; the error says that there is no such source.
func (h *history) Open(_ context.Context, name string) (io.ReadCloser, error) {
	i, found := h.at[name]
	if !found && name != "" {
		return nil, fmt.Errorf("history %s has no session %q", h.path, name)
	}
	var lines []byte
	if name == "" {
		lines = append(skein.MustJSON(h.order()), '\n')
	}
	if found {
		for _, p := range runs(h.sections[i].data) {
			lines = append(lines, interop.PieceLine(p)...)
		}
	}
	return io.NopCloser(bytes.NewReader(lines)), nil
}

// put writes sessions into the history at path, in the order in which they were read.
//
// The error wraps [interop.ErrChanged] if another session of the same time is
// there; others are the system's.
func put(ctx context.Context, path string, parts []interop.Part) error {
	was, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	have := map[string][]byte{}
	var list []string
	for _, s := range sections(was) {
		have[s.name] = s.data
		list = append(list, s.name)
	}
	for _, p := range parts {
		data, named, err := read(p.Lines)
		if err != nil {
			return err
		}
		if named != nil {
			list = append(named, list...)
		}
		if old, ok := have[p.Name]; ok && !bytes.Equal(old, data) && p.Name != "" {
			return fmt.Errorf("session %s of %s: %w", p.Name, path, interop.ErrChanged)
		}
		have[p.Name] = data
		list = append(list, p.Name)
	}
	var now []byte
	for _, name := range list {
		now = append(now, have[name]...)
		delete(have, name)
	}
	whole := interop.Part{Lines: bytes.NewReader(interop.PieceLine(now))}
	if len(was) > 0 {
		whole.Was = bytes.NewReader(interop.PieceLine(was))
	}
	return interop.PutDocument(ctx, path, []interop.Part{whole})
}

// read returns the content of a session's lines, and the order if they have it.
func read(r io.Reader) (data []byte, list []string, err error) {
	all, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, err
	}
	for line := range bytes.Lines(all) {
		var o order
		if err := json.Unmarshal(line, &o); err == nil && o.Sessions != nil {
			list = o.Sessions
			continue
		}
		p, err := interop.Piece(line)
		if err != nil {
			return nil, nil, err
		}
		data = append(data, p...)
	}
	return data, list, nil
}
