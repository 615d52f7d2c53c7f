package edits

import (
	"context"
	"errors"
	"hash/fnv"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// An IndexKey stands for the name of a file that a call changes, or for a line that it adds, in
// an index of messages: it is 32 bits of a hash, so that what an index finds by it has to
// be compared. Stores keep keys: how they are made can only change with their schema.
type IndexKey int32

// An Index finds messages by what their calls do to files.
type Index interface {
	// Edits yields the messages that have any of these keys, the newest first, as a search
	// for each, whole, with what was taken back: a few others too, and none that is
	// damaged. It waits a moment for the index; the error wraps [ErrBehind] if messages are
	// still not in it, and is the store's otherwise.
	Edits(ctx context.Context, keys []IndexKey) iter.Seq2[skein.Hit, error]
}

// ErrBehind says that some messages are not in the index yet, so that it cannot tell.
var ErrBehind = errors.New("the index of edits is behind")

// LongLine is how many bytes a line has at least, without the space around it, that has
// a key: shorter ones stand in many files.
const LongLine = 16

// mostKeys is how many keys a message may have, so that an index takes it at once.
const mostKeys = 10_000

// many is the only key of a message that would have more: an index returns it whatever is
// asked for.
var many = keyOf("many", "")

// Asked returns the keys that an index looks for when it is asked for keys.
func Asked(keys []IndexKey) []IndexKey { return append(slices.Clip(keys), many) }

// KeysOf returns the keys of what the calls of a message do to files, each once, in order.
func KeysOf(m *skein.Message) (keys []IndexKey) {
	for i := range m.Parts {
		if m.Parts[i].Call == nil {
			continue
		}
		for _, e := range Of(m.Parts[i].Call) {
			for _, p := range []string{e.Path, e.From} {
				if p != "" {
					keys = append(keys, pathKeys(Clean(p, e.Dir))...)
				}
			}
			for _, l := range e.Added {
				if k, ok := LineKey(l); ok {
					keys = append(keys, k)
				}
			}
		}
	}
	slices.Sort(keys)
	if keys = slices.Compact(keys); len(keys) > mostKeys {
		return []IndexKey{many}
	}
	return keys
}

// LineKey returns the key of a line that is added, and false if it is too short to have one.
func LineKey(line string) (IndexKey, bool) {
	line = strings.TrimSpace(line)
	return keyOf("line", line), len(line) >= LongLine
}

// FileKeys returns the keys of which a message has at least one if a call of it changes a
// file whose path ends like this, with slashes. The folder counts: but a call that names
// the file only, in the folder where the session is, has it in any.
func FileKeys(file string) []IndexKey {
	folder, name := path.Split(file)
	if folder = path.Base(folder); folder == "." || folder == "/" {
		return []IndexKey{keyOf("name", name)}
	}
	return []IndexKey{keyOf("file", folder+"/"+name), keyOf("file", "/"+name)}
}

// pathKeys returns the keys of a path that a call names.
func pathKeys(p string) []IndexKey {
	folder, name := path.Split(p)
	if folder = path.Base(folder); folder == "." || folder == "/" || folder == ".." {
		folder = ""
	}
	return []IndexKey{keyOf("name", name), keyOf("file", folder+"/"+name)}
}

func keyOf(kind, text string) IndexKey {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind + "\x00" + text))
	sum := h.Sum64()
	return IndexKey(uint32(sum ^ sum>>32)) //nolint:gosec // any bits are a key
}

// Clean returns the path that a call means by p, to run in folder dir, with slashes.
func Clean(p, dir string) string {
	p, dir = Slashed(p), Slashed(dir)
	if !path.IsAbs(p) && dir != "" {
		p = path.Join(dir, p)
	}
	return path.Clean(p)
}

// Slashed returns a path of any system with slashes, a drive as a folder.
func Slashed(p string) string {
	p = strings.ReplaceAll(p, `\`, "/")
	if len(p) > 2 && p[1] == ':' {
		p = "/" + strings.ToLower(p[:1]) + p[2:]
	}
	return p
}
