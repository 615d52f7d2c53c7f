package amplifier

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop"
)

// A reader reads one session's folder.
type reader struct {
	id      string // name of the folder
	root    string // ID of the first session in its chain of forks; its own if it is not a fork
	early   facts  // what the metadata says when the first line is read
	begun   bool
	said    bool // the transcript has a message, or its backup
	opened  bool // a line of either has a key
	spare   bool // the backup is read instead of the transcript
	known   bool // the metadata was read
	tools   map[string]string
	equals  map[[16]byte]int // number of lines with this hash so far
	prompts []prompt         // in the log, for lack of a transcript
	ended   bool             // the log says that the session ended
}

func open(f interop.File) interop.Reader {
	id := filepath.Base(f.Path)
	r := &reader{id: id, root: id, tools: map[string]string{}, equals: map[[16]byte]int{}}
	if f.Beside != nil {
		r.early = factsBeside(f, ".")
		r.trace(f)
	}
	return r
}

// trace follows forks to the first session. Keys of records are made from that
// session, so that a fork's are recognized as copies.
func (r *reader) trace(f interop.File) {
	at := r.early
	for seen := map[string]bool{r.id: true}; at.forked && sane(at.parent) && !seen[at.parent]; seen[r.root] = true {
		r.root = at.parent
		at = factsBeside(f, "../"+at.parent)
		if r.early.cwd == "" {
			r.early.cwd = at.cwd
		}
	}
}

// sane reports whether a session's ID can name a folder beside this one.
func sane(id string) bool {
	return id != "" && len(id) < 256 && id[0] != '.' && !strings.ContainsAny(id, "/\\\x00:")
}

// A making is what becomes of one record.
type making struct {
	time  skein.Time
	run   bool         // see [interop.Line.Run]
	blobs []skein.Blob // of the next item
	out   interop.Made
}

func (m *making) add(e skein.Event) {
	m.out.Items = append(m.out.Items, interop.Item{Event: e, Blobs: m.blobs})
	m.blobs = nil
}

// Read implements [interop.Reader].
func (r *reader) Read(l interop.Line) (interop.Made, error) {
	in, err := folder.Parse(l.Body)
	switch {
	case err != nil:
		return interop.Made{}, err
	case in.Damage != "":
		return interop.Made{}, fmt.Errorf("%s: %s", in.File, in.Damage)
	}
	m := &making{run: l.Run}
	switch {
	case in.File == transcript && in.Line != nil:
		err = r.each(m, in, r.message)
	case in.File == transcript+backup && in.Line != nil && (!r.said || r.spare):
		r.spare = true
		err = r.each(m, in, r.message)
	case in.File == eventLog && in.Line != nil:
		err = r.each(m, in, r.logged)
	case in.File == metadata, in.File == metadata+backup && !r.known:
		err = r.metadata(m, in)
	case in.Folder == ".":
		r.orphan(m)
	}
	if err != nil {
		if at := in.File; len(m.out.Items) == 0 {
			return interop.Made{}, fmt.Errorf("%s: %w", place(at, in.Line), err)
		}
		m.out.Damage = fmt.Sprintf("%s: %v", place(in.File, in.Line), err)
	}
	r.begin(m)
	return m.out, nil
}

// place names a line, counted from 1.
func place(file string, line *int) string {
	if line == nil {
		return file
	}
	return fmt.Sprintf("%s line %d", file, *line+1)
}

var errUTF8 = errors.New("invalid UTF-8")

// each calls take with the objects on a line.
func (r *reader) each(m *making, in folder.Line, take func(*making, object, []byte) error) error {
	data := bytes.TrimSpace(bytes.TrimPrefix(in.Data(), []byte("\xef\xbb\xbf")))
	if !utf8.Valid(data) {
		return errUTF8
	}
	if len(bytes.Trim(data, "\x00")) == 0 {
		if len(data) > 0 {
			return errors.New("nothing but NUL")
		}
		return nil
	}
	if o, rest, err := parseFirst(data); err == nil && len(rest) == 0 { // nearly always
		return take(m, o, data)
	}
	vs, broken := values(data)
	for _, v := range vs {
		o, err := parse(v)
		if err == nil {
			err = take(m, o, v)
		}
		if err != nil {
			broken = errors.Join(broken, err)
		}
	}
	return broken
}

// keyed gives the record a key: a hash of the line and of the session in which it was
// first written, and its number among equals.
func (r *reader) keyed(m *making, session string, content []byte) {
	if m.out.Key != "" {
		return // in a line with two objects the first counts
	}
	sum := fingerprint(session, content)
	r.equals[sum]++
	m.out.Key = "amp:" + skein.ClientID(hex.EncodeToString(sum[:]))
	if n := r.equals[sum]; n > 1 {
		m.out.Key += skein.ClientID("." + strconv.Itoa(n))
	}
}

// copyKey returns the key that a copied line has in its original session: including
// the number, since a copy has as many equals before it.
func copyKey(session string, content []byte, key skein.ClientID) skein.ClientID {
	_, number, numbered := strings.Cut(string(key), ".")
	sum := fingerprint(session, content)
	out := "amp:" + hex.EncodeToString(sum[:])
	if numbered {
		out += "." + number
	}
	return skein.ClientID(out)
}

func fingerprint(session string, content []byte) [16]byte {
	h := sha256.New()
	h.Write(append([]byte(session), 0))
	h.Write(content)
	return [16]byte(h.Sum(nil))
}

// begin begins the session with its first record that makes events.
func (r *reader) begin(m *making) {
	if r.begun || len(m.out.Items) == 0 {
		return
	}
	r.begun = true
	f := r.early
	b := interop.Begin{ID: skein.SessionID(r.id), Time: f.created, Created: skein.Created{
		Surface: "cli", Project: f.cwd, Cwd: f.cwd, Agent: Name, Profile: f.bundle, Provider: f.provider, Model: f.model,
		Program: Name, Origin: &skein.Origin{ID: r.id},
	}}
	if b.Time == 0 {
		b.Time = m.time
	}
	if f.agent != "" {
		b.Created.Agent = f.agent
	}
	if f.parent != "" {
		b.ParentID = f.parent
		b.Created.Parent = &skein.Parent{Why: skein.Child}
		if f.forked || !strings.Contains(r.id, "_") { // if it shares something with the parent, it becomes a fork
			b.Created.Parent.Why = skein.Continuation
		}
	}
	m.out.Begin = []interop.Begin{b}
}

// moment reads the times that Amplifier wrote: RFC 3339 of any precision, in UTC if
// it has no zone, and seconds since 1970. Anything else is 0.
func moment(s string) skein.Time {
	for _, layout := range [...]string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1 {
			return skein.At(t)
		}
	}
	if sec, err := strconv.ParseFloat(s, 64); err == nil && sec > 1e8 && sec < 1e11 {
		return skein.Time(sec * 1000)
	}
	return 0
}
