package codex

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/skein-dev/skein/interop"
)

// Name is what the format is called.
const Name = "codex"

// maxUnpacked is how long a compressed rollout may be when unpacked, in bytes.
const maxUnpacked = 8 << 30

// Format returns the reader of Codex's rollouts. A rollout's name begins with
// the time when its thread was made, so a fork and a sub-agent come after their
// parent, which often goes on for longer than they do.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "OpenAI Codex CLI, Desktop and IDE: ~/.codex/sessions, archived_sessions",
		Places: places,
		Match:  match,
		Unpack: unpack,
		Order:  filepath.Base,
		Open:   open,
	}
}

func places(h interop.Home) []string {
	home := h.Env("CODEX_HOME")
	if home == "" {
		home = filepath.Join(h.Dir, ".codex")
	}
	return []string{
		filepath.Join(home, "sessions"),
		filepath.Join(home, "archived_sessions"),
		filepath.Join(home, "session_index.jsonl"),
	}
}

// match knows a rollout by its name and how it begins, or, under another
// name, by the beginning alone.
func match(name string, head []byte) bool {
	base := path.Base(name)
	rollout := strings.HasPrefix(base, "rollout-")
	switch {
	case strings.HasSuffix(base, ".jsonl.zst"):
		return rollout && bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd})
	case !strings.HasSuffix(base, ".jsonl"):
		return false
	case base == "session_index.jsonl":
		return has(head, `"thread_name"`)
	case rollout && len(head) == 0:
		return true
	case has(head, `"payload"`) && (has(head, `"session_meta"`) || rollout && has(head, `"timestamp"`)):
		return true
	}
	return rollout && (has(head, `"instructions"`) || has(head, `"record_type"`) || has(head, `"type"`))
}

func has(head []byte, s string) bool { return bytes.Contains(head, []byte(s)) }

// unpack opens a compressed rollout.
func unpack(name string, r io.Reader) (io.ReadCloser, bool, error) {
	if !strings.HasSuffix(name, ".jsonl.zst") {
		return nil, false, nil
	}
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return nil, true, fmt.Errorf("zstd: %w", err)
	}
	return &unpacked{from: d, left: maxUnpacked}, true, nil
}

// unpacked is a stream that ends with an error where it is longer than a
// rollout can be.
type unpacked struct {
	from *zstd.Decoder
	left int64
}

// Read implements [io.Reader]; errors are those of the decoder, and of too
// long a stream.
func (u *unpacked) Read(b []byte) (int, error) {
	if u.left <= 0 {
		return 0, fmt.Errorf("zstd: more than %d bytes when unpacked", int64(maxUnpacked))
	}
	n, err := u.from.Read(b[:min(int64(len(b)), u.left)])
	u.left -= int64(n)
	return n, err
}

// Close implements [io.Closer]; it gives no error.
func (u *unpacked) Close() error {
	u.from.Close()
	return nil
}
