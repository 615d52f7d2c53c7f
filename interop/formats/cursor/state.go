package cursor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A state is the editor's database: keys and values. A composer's are read by key
// range; the other keys, which hold most of its gigabytes, are not.
type state struct {
	db        *foreign.DB
	path      string
	order     []string // composers
	composers map[string]foreign.Mark
	bubbles   map[string][]foreign.Mark
	headers   map[string][]byte // lines of composerHeaders, in newer versions
	folders   map[string]string // from the workspaces' own lists
}

var shelf = foreign.Shelf{Table: "cursorDiskKV", Key: "key", Value: "value"}

// Keys are composerData:<composer> and bubbleId:<composer>:<bubble>.
const (
	composerKey = "composerData:"
	bubbleKey   = "bubbleId:"
)

// after is the character after the colon: keys with a prefix sort before the prefix
// with this character in place of the colon.
const after = ";"

func openState(ctx context.Context, at string) (_ interop.Unit, err error) {
	defer skein.Wrapf(&err, "database %s", at)
	db, err := openDB(ctx, at, shelf.Table, func(db *foreign.DB) bool {
		t, ok := db.Table(shelf.Table)
		return ok && t.Has(shelf.Key, shelf.Value)
	})
	if err != nil {
		return nil, err
	}
	return &state{db: db, path: at}, nil
}

// Sources implements [interop.Unit]: it reads keys, and of values only those of
// composers that are short. A composer is as it was if all its rows are: the
// program puts a new row in the place of one that changes.
//
// Errors are ctx's and those of reading the copy.
func (u *state) Sources(ctx context.Context) (all []interop.Source, err error) {
	u.order, u.composers, u.bubbles, u.headers = nil, map[string]foreign.Mark{}, map[string][]foreign.Mark{}, map[string][]byte{}
	err = u.db.Marks(ctx, shelf, composerKey, strings.TrimSuffix(composerKey, ":")+after, func(m foreign.Mark) error {
		if id := strings.TrimPrefix(m.Key, composerKey); id != "" && len(u.order) < maxComposers {
			u.order = append(u.order, id)
			u.composers[id] = m
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := u.readHeaders(ctx); err != nil {
		return nil, err
	}
	u.folders = u.workspaces(ctx)
	for _, id := range u.order {
		s, err := u.source(ctx, id)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return append(all, interop.Source{}), nil
}

// maxComposers is how many sessions are read from one database.
const maxComposers = 200_000

// shortValue is the length up to which a composer's value itself is checked for
// changes, in bytes.
const shortValue = 64 << 10

func (u *state) source(ctx context.Context, id string) (s interop.Source, err error) {
	sum := sha256.New()
	add := func(m foreign.Mark) error {
		fmt.Fprintf(sum, "%s %d %d\n", m.Key, m.Rowid, m.Size)
		s.Size += m.Size
		return nil
	}
	own := u.composers[id]
	_ = add(own)
	if own.Size <= shortValue { // a value changed in place can keep its length
		row, _, err := u.db.At(ctx, shelf, own)
		if err != nil {
			return s, err
		}
		sum.Write(bytesOf(row))
	}
	prefix := bubbleKey + id
	err = u.db.Marks(ctx, shelf, prefix+":", prefix+after, func(m foreign.Mark) error {
		u.bubbles[id] = append(u.bubbles[id], m)
		return add(m)
	})
	sum.Write(u.headers[id])
	sum.Write([]byte(u.folders[id]))
	s.Name, s.Stamp = id, hex.EncodeToString(sum.Sum(nil)[:16])
	return s, err
}

// readHeaders reads the table composerHeaders, if there is one.
func (u *state) readHeaders(ctx context.Context) error {
	t, ok := u.db.Table("composerHeaders")
	if !ok || !t.Has("composerId", "value") {
		return nil
	}
	return u.db.Rows(ctx, t.Name, "", func(r foreign.Row) error {
		if id := r.Text("composerId"); r.Damage == "" && u.composers[id].Key != "" {
			u.headers[id] = r.AppendLine(nil)
		}
		return nil
	})
}

// Open implements [interop.Unit]; the error says that there is no such source.
func (u *state) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	m, ok := u.composers[name]
	switch {
	case name == "":
		frame := append(u.db.Frame(shelf.Table, "composerHeaders"), skein.MustJSON(struct {
			Sources []string `json:"sources"`
		}{u.order})...)
		return io.NopCloser(bytes.NewReader(append(frame, '\n'))), nil
	case !ok:
		return nil, fmt.Errorf("database %s has no source %q", u.path, name)
	}
	first := append(skein.MustJSON(struct {
		A about `json:"about"`
	}{about{u.folders[name]}}), '\n')
	row, _, err := u.db.At(ctx, shelf, m)
	if err != nil {
		return nil, err
	}
	row = withoutKeys(row)
	r := &rowReader{ctx: ctx, db: u.db, marks: ordered(row, name, u.bubbles[name])}
	return io.NopCloser(io.MultiReader(bytes.NewReader(first), bytes.NewReader(u.headers[name]), bytes.NewReader(row.AppendLine(nil)), r)), nil
}

// ordered returns the bubbles that the composer lists, in its order: others were
// rewound.
func ordered(composer foreign.Row, id string, marks []foreign.Mark) (all []foreign.Mark) {
	at := make(map[string]foreign.Mark, len(marks))
	for _, m := range marks {
		at[strings.TrimPrefix(m.Key, bubbleKey+id+":")] = m
	}
	for _, v := range valueOf(composer).List("fullConversationHeadersOnly") {
		h, err := loose.Parse(v)
		if err != nil {
			continue
		}
		if m, ok := at[h.Str("bubbleId")]; ok {
			all = append(all, m)
			delete(at, h.Str("bubbleId"))
		}
	}
	return all
}

// valueOf returns a row's value as an object, nil if it is not one.
func valueOf(row foreign.Row) loose.Object {
	o, err := loose.Parse(bytesOf(row))
	if err != nil {
		return nil
	}
	return o
}

func bytesOf(row foreign.Row) []byte {
	if b, ok := row.Get("value").([]byte); ok {
		return b
	}
	return []byte(row.Text("value"))
}

// withoutKeys returns a composer's row with its encryption keys emptied: they are
// secrets.
func withoutKeys(row foreign.Row) foreign.Row {
	o := valueOf(row)
	found := false
	for i, m := range o {
		if strings.HasSuffix(m.Name, "EncryptionKey") && len(m.Value) > len(`""`) {
			o[i].Value, found = []byte(`""`), true
		}
	}
	if !found {
		return row
	}
	for i, c := range row.Columns {
		if c == shelf.Value {
			row.Values[i] = string(o.Without())
		}
	}
	return row
}

// A rowReader reads rows as lines.
type rowReader struct {
	ctx   context.Context
	db    *foreign.DB
	marks []foreign.Mark
	line  bytes.Reader
}

// Read implements [io.Reader]; errors are ctx's and those of reading the copy.
func (r *rowReader) Read(b []byte) (int, error) {
	for r.line.Len() == 0 {
		if len(r.marks) == 0 {
			return 0, io.EOF
		}
		row, ok, err := r.db.At(r.ctx, shelf, r.marks[0])
		if err != nil {
			return 0, err
		}
		r.marks = r.marks[1:]
		if ok {
			r.line.Reset(row.AppendLine(nil))
		}
	}
	return r.line.Read(b)
}

// Skips implements [interop.Unit].
func (u *state) Skips() []interop.Skip { return skips(u.db, u.path) }

// Close implements [interop.Unit]; errors are the system's.
func (u *state) Close() error { return u.db.Close() }
