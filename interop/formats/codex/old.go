package codex

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// OldName is the name of the format of [Old].
const OldName = "codex-old"

// Old returns the format of the sessions of the first Codex, the TypeScript
// program before June 2025: one JSON document each, in ~/.codex/sessions.
func Old() interop.Format {
	return interop.Format{
		Name:   OldName,
		Doc:    "Codex before June 2025: ~/.codex/sessions/rollout-….json",
		Places: func(h interop.Home) []string { return places(h)[:1] },
		Unit:   oldUnit,
		Look:   lookOld,
		Open:   openOld,
		Put:    interop.PutDocument,
		Below:  below,

		Document: isOld,
	}
}

// oldUnit returns the file itself if its name may be a document's:
// rollout-<day>-<session>.json, later <session>.json in Codex's own folder.
func oldUnit(name string) string {
	dir, base := path.Split(name)
	if path.Ext(base) == ".json" && (strings.HasPrefix(base, "rollout-") || strings.HasSuffix(dir, "/.codex/sessions/")) {
		return name
	}
	return ""
}

// isOld recognizes a document by its beginning: the session's metadata.
func isOld(_ string, head []byte) interop.Guess {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"), []byte("{"))
	if ok && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"session"`)) && has(head, `"timestamp"`) && has(head, `"id"`) {
		return interop.KnownBy("it begins with a session that has an ID and a time")
	}
	return interop.Guess{}
}

func lookOld(ctx context.Context, name string) (interop.Unit, error) {
	ours := false
	u, err := interop.OpenDocument(ctx, name, func(data []byte) ([][]byte, bool) {
		ours = isOld(name, data[:min(len(data), 4096)]).Sure > interop.No
		return loose.Cut(data, "items")
	})
	if err != nil || ours {
		return u, err
	}
	return nil, interop.ErrOther
}

// An oldReader turns the pieces of a document into events: its items are those
// of a rollout of the first generation.
type oldReader struct{ *reader }

func openOld(f interop.File) interop.Reader {
	f.Path = strings.TrimSuffix(f.Path, ".json")
	return oldReader{open(f).(*reader)}
}

// Read implements [interop.Reader] for a piece; the error says that it is not a
// piece, or has no JSON object.
func (r oldReader) Read(l interop.Line) (interop.Made, error) {
	text, err := interop.Piece(l.Body)
	if err != nil {
		return interop.Made{}, err
	}
	e := loose.Element(text)
	switch {
	case l.N == 0:
		return r.session(bytes.TrimPrefix(e, []byte("\xef\xbb\xbf")))
	case bytes.HasPrefix(e, []byte("]")):
		return interop.Made{}, nil
	case !bytes.HasPrefix(e, []byte("{")):
		return interop.Made{}, fmt.Errorf("no item: %.40q", e)
	}
	o, err := loose.Parse(e)
	if err != nil {
		return interop.Made{}, err
	}
	return r.reader.Read(interop.Line{N: l.N, Number: l.Number, Body: o.Without()})
}

// session reads the document's session metadata.
func (r oldReader) session(head []byte) (interop.Made, error) {
	o, err := loose.Parse(head) // it is cut off: whatever can be read
	s := o.Get("session")
	if len(s) == 0 || s[0] != '{' {
		if err == nil {
			err = errNoObject
		}
		return interop.Made{}, err
	}
	made, err := r.meta(line{Type: typeMeta, Payload: s, Bare: true})
	for i := range made.Begin {
		if made.Begin[i].Created.Origin != nil {
			made.Begin[i].Created.Origin.Format = OldName
		}
	}
	return made, err
}
