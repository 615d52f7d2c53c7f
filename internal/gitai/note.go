package gitai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Ref is where the notes are.
const Ref = "refs/notes/ai"

const version = "authorship/3.0.0"

// A Note is the authorship log of a commit.
type Note struct {
	Base     string // hash of the commit that it was worked out from
	Files    []NotedFile
	Sessions map[string]AgentID // by key, without the part after the colons
}

// A NotedFile is a file with lines that agents wrote.
type NotedFile struct {
	Path    string
	Entries []NoteEntry
}

// A NoteEntry is the lines of one session.
type NoteEntry struct {
	Key   string // of the session, as in Note.Sessions
	Trace string // after the colons; "" if there is none
	Lines []NotedLines
}

// NotedLines are lines of a file that follow each other, from 1.
type NotedLines struct{ First, Last int }

// An AgentID names a session of an agent.
type AgentID struct {
	Tool  string `json:"tool"`
	ID    string `json:"id"`
	Model string `json:"model"`
}

// Key returns the key of a session.
func Key(tool, id string) string { return "s_" + digits(tool+":"+id) }

// Trace returns the key of something that a session did.
func Trace(what string) string { return "t_" + digits(what) }

func digits(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:14]
}

// metadata is the second part of a note.
type metadata struct {
	Version  string                   `json:"schema_version"`
	Base     string                   `json:"base_commit_sha"`
	Prompts  map[string]sessionRecord `json:"prompts"`
	Sessions map[string]sessionRecord `json:"sessions,omitempty"`
}

type sessionRecord struct {
	Agent AgentID `json:"agent_id"`
	Human string  `json:"human_author,omitempty"`
}

// Parse reads a note. The error names the line that is wrong.
func Parse(text string) (Note, error) {
	lines, rest, ok := strings.Cut("\n"+strings.ReplaceAll(text, "\r\n", "\n"), "\n---\n")
	if !ok {
		return Note{}, fmt.Errorf("it has no line ---")
	}
	var m metadata
	if err := json.Unmarshal([]byte(rest), &m); err != nil {
		return Note{}, fmt.Errorf("what follows the line ---: %w", err)
	}
	n := Note{Base: m.Base, Sessions: map[string]AgentID{}}
	for _, records := range []map[string]sessionRecord{m.Prompts, m.Sessions} {
		for key, r := range records {
			n.Sessions[key] = r.Agent
		}
	}
	for i, l := range strings.Split(lines, "\n") {
		entry, indented := strings.CutPrefix(l, "  ")
		switch {
		case l == "":
		case !indented:
			path := l
			if p, err := strconv.Unquote(l); err == nil {
				path = p
			}
			n.Files = append(n.Files, NotedFile{Path: path})
		case len(n.Files) == 0:
			return Note{}, fmt.Errorf("line %d: %q is below no file", i, l)
		default:
			e, err := parseEntry(entry)
			if err != nil {
				return Note{}, fmt.Errorf("line %d: %w", i, err)
			}
			f := &n.Files[len(n.Files)-1]
			f.Entries = append(f.Entries, e)
		}
	}
	return n, nil
}

func parseEntry(s string) (NoteEntry, error) {
	key, ranges, ok := strings.Cut(s, " ")
	if !ok {
		return NoteEntry{}, fmt.Errorf("%q has no lines", s)
	}
	var e NoteEntry
	e.Key, e.Trace, _ = strings.Cut(key, "::")
	for r := range strings.SplitSeq(ranges, ",") {
		first, last, some := strings.Cut(r, "-")
		if !some {
			last = first
		}
		a, err := strconv.Atoi(first)
		b, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || a < 1 || b < a {
			return NoteEntry{}, fmt.Errorf("%q: want numbers of lines, such as 1-4,9", r)
		}
		e.Lines = append(e.Lines, NotedLines{a, b})
	}
	return e, nil
}

// String returns the note as Git AI writes it.
func (n *Note) String() string {
	var b strings.Builder
	for _, f := range n.Files {
		path := f.Path
		if path == "" || path == "---" || strings.ContainsAny(path, " \t\n\"") {
			path = strconv.Quote(path)
		}
		b.WriteString(path + "\n")
		for _, e := range f.Entries {
			b.WriteString("  " + e.Key)
			if e.Trace != "" {
				b.WriteString("::" + e.Trace)
			}
			for i, r := range e.Lines {
				b.WriteByte(" ,"[min(i, 1)])
				b.WriteString(strconv.Itoa(r.First))
				if r.Last > r.First {
					b.WriteString("-" + strconv.Itoa(r.Last))
				}
			}
			b.WriteByte('\n')
		}
	}
	m := metadata{Version: version, Base: n.Base, Prompts: map[string]sessionRecord{}, Sessions: map[string]sessionRecord{}}
	for key, a := range n.Sessions {
		m.Sessions[key] = sessionRecord{Agent: a}
	}
	text, _ := json.MarshalIndent(m, "", "  ") // strings can be marshaled
	return b.String() + "---\n" + string(text) + "\n"
}

// Session returns the session that wrote a line of a file; false if the note names none,
// or a person.
func (n *Note) Session(path string, line int) (AgentID, bool) {
	for _, f := range n.Files {
		if f.Path != path {
			continue
		}
		for _, e := range f.Entries {
			if slices.ContainsFunc(e.Lines, func(r NotedLines) bool { return r.First <= line && line <= r.Last }) {
				a, ok := n.Sessions[e.Key]
				return a, ok && a.ID != ""
			}
		}
	}
	return AgentID{}, false
}

// Ranges returns lines, in order, as ranges.
func Ranges(lines []int) (all []NotedLines) {
	for _, l := range lines {
		if n := len(all); n > 0 && all[n-1].Last == l-1 {
			all[n-1].Last = l
		} else {
			all = append(all, NotedLines{l, l})
		}
	}
	return all
}
