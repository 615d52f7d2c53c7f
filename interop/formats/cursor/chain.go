package cursor

import (
	"bytes"
	"encoding/hex"
	"io"

	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
)

// root returns the newest root that a meta row names.
func (u *store) root() (root string) {
	data, err := io.ReadAll(u.lines("meta"))
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(data) {
		row, ok, err := foreign.ParseRow(line)
		if err != nil || !ok {
			continue
		}
		if o := metaOf(row); o.Str("latestRootBlobId") != "" {
			root = o.Str("latestRootBlobId")
		} else if row.Text("key") == "latestRootBlobId" {
			root = row.Text("value")
		}
	}
	return root
}

// metaOf returns the object in a meta row, which may be hexadecimal.
func metaOf(row foreign.Row) loose.Object {
	text := []byte(row.Text("value"))
	if b, ok := row.Get("value").([]byte); ok {
		text = b
	}
	if b, err := hex.DecodeString(string(text)); err == nil {
		text = b
	}
	o, err := loose.Parse(text)
	if err != nil {
		return nil
	}
	return o
}

// maxChain is how deep blobs that are not messages may refer to others.
const maxChain = 8

// walk collects the messages that the blob refers to, in order.
func (u *store) walk(id string, deeper int, above map[string]bool) {
	data, ok := u.blob(id)
	if !ok || above[id] {
		return
	}
	if isMessage(data) {
		u.chain = append(u.chain, id)
		return
	}
	if deeper == 0 {
		return
	}
	above[id] = true
	defer delete(above, id)
	fields(data, func(n int, v []byte) {
		if len(u.chain) >= u.most() {
			return
		}
		if len(v) == 32 && n <= maxField {
			child := hex.EncodeToString(v)
			if _, ok := u.pieces.Of("b" + child); ok {
				if !u.passed(n, deeper) {
					u.walk(child, deeper-1, above)
				}
				return
			}
		}
		if bytes.HasPrefix(v, []byte("file://")) && u.about.Workspace == "" {
			u.about.Workspace = pathOf(string(v))
		}
	})
}

// maxField is the largest field number that is read.
const maxField = 1000

// most is the maximum number of messages: few are repeated word for word, but a
// hostile root could repeat them without end.
func (u *store) most() int { return 1000 + 4*u.pieces.Len() }

// passed reports whether a field of the root is skipped: if field 1, the messages as
// the model gets them, has any, the others only repeat them in another form.
func (u *store) passed(n, deeper int) bool { return deeper == maxChain && n > 1 && len(u.chain) > 0 }

// blob returns the bytes of a blob.
func (u *store) blob(id string) ([]byte, bool) {
	p, ok := u.pieces.Of("b" + id)
	if !ok {
		return nil, false
	}
	line, err := io.ReadAll(u.db.Lines(p))
	if err != nil {
		return nil, false
	}
	row, ok, err := foreign.ParseRow(line)
	return dataOf(row), ok && err == nil && row.Damage == ""
}

// dataOf returns the bytes of a blob's row.
func dataOf(row foreign.Row) []byte {
	if b, ok := row.Get("data").([]byte); ok {
		return b
	}
	return []byte(row.Text("data"))
}

// isMessage reports whether a blob is a message in JSON.
func isMessage(data []byte) bool {
	if data = bytes.TrimSpace(data); len(data) == 0 || data[0] != '{' {
		return false
	}
	o, err := loose.Parse(data)
	return err == nil && o.Str("role") != ""
}
