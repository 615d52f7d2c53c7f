package claudecode

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// maxKey is the length above which the program cuts the name of a project's folder,
// in UTF-16 units.
const maxKey = 200

// mangle returns the name of the folder of a project: the working directory with a
// hyphen for every UTF-16 unit that is not an ASCII letter or digit. A long one is
// cut to 200, followed by a hash.
func mangle(dir string) string {
	units := utf16.Encode([]rune(dir))
	key := make([]byte, len(units))
	var hash int32
	for i, u := range units {
		hash = hash<<5 - hash + int32(u)
		key[i] = '-'
		if u < 0x80 && (u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9') {
			key[i] = byte(u)
		}
	}
	if len(key) <= maxKey {
		return string(key)
	}
	return string(key[:maxKey]) + "-" + strconv.FormatInt(max(int64(hash), -int64(hash)), 36)
}

// below returns a file's path in ~/.claude.
func below(name string) string {
	if at := strings.LastIndex(name, "/projects/"); at >= 0 {
		return name[at+1:]
	}
	return ""
}

// stemOf returns the name of a transcript without .jsonl.
func stemOf(name string) string { return strings.TrimSuffix(path.Base(name), ".jsonl") }

// uuidFor returns id if the program accepts it as a session's, else a UUID derived
// from it.
func uuidFor(id string) string {
	if isUUID(id) {
		return id
	}
	return newUUID(id)
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range s {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// newUUID derives a UUID (version 8) from words: always the same one.
func newUUID(words ...string) string {
	b := digest(words...)
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:32]
}

func digest(words ...string) [32]byte { return sha256.Sum256([]byte(strings.Join(words, "\x00"))) }

// agentOf returns the ID of a sub-agent: the one that it had, or one derived from its
// session's, an a and 16 hexadecimal digits.
func agentOf(id skein.SessionID) string {
	rest, ok := strings.CutPrefix(string(id), "agent-")
	if ok && plainID(rest) == rest {
		return rest
	}
	b := digest(string(id))
	return "a" + hex.EncodeToString(b[:8])
}

// maxID is the maximum length of a call's ID, in bytes.
const maxID = 64

// plainID returns a call's ID in a form that the provider accepts.
func plainID(id string) string {
	id = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, id)
	return id[:min(len(id), maxID)]
}

// parseObject returns b as an object; nil if it is not one.
func parseObject(b []byte) loose.Object {
	o, err := loose.Parse(b)
	if err != nil {
		return nil
	}
	return o
}
