package tool

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// Sizes of a tool's output, in bytes.
const (
	MaxText = 64 << 10 // that a model is shown whole
	headLen = 16 << 10 // of longer output, the length of the beginning that is shown
	tailLen = 16 << 10 // and of the end
)

// Put adds data, a tool's output, to o. The model is shown up to [MaxText]
// bytes of data whole; of more, the beginning, the end, and the hash of a blob
// with all of it, whose rest session_read can read. name is the blob's name,
// for people. Invalid UTF-8 becomes U+FFFD in the text, and is unchanged in the
// blob.
func (o *Output) Put(name string, data []byte) {
	if len(data) <= MaxText && utf8.Valid(data) {
		o.Text += string(data)
		return
	}
	b := skein.NewBlob(data)
	media := "text/plain"
	if !utf8.Valid(data) {
		media = "application/octet-stream"
	}
	o.Blobs = append(o.Blobs, b)
	o.Files = append(o.Files, skein.File{Name: name, Media: media, Blob: b.Hash, Size: int64(len(data))})
	if len(data) <= MaxText {
		o.Text += plain(data) + fmt.Sprintf("\n[The output was not UTF-8. Its %d bytes are stored as blob %s.]\n", len(data), b.Hash)
		return
	}
	head, tail := ends(data)
	o.Text += plain(data[:head]) + fmt.Sprintf("\n[… %d of %d bytes are left out here. The whole output is blob %s; to read on, use "+
		`session_read with {"blob": "%s", "offset": %d} …]`+"\n", tail-head, len(data), b.Hash, b.Hash, head) + plain(data[tail:])
}

// ends returns where the beginning of data ends and its end begins, if possible
// between lines, else between characters.
func ends(data []byte) (head, tail int) {
	head, tail = headLen, len(data)-tailLen
	if i := bytes.LastIndexByte(data[:head], '\n'); i > headLen/2 {
		head = i + 1
	}
	if i := bytes.IndexByte(data[tail:], '\n'); i >= 0 && i < tailLen/2 {
		tail += i + 1
	}
	for i := 0; i < utf8.UTFMax && !utf8.RuneStart(data[head]); i++ {
		head--
	}
	for i := 0; i < utf8.UTFMax && !utf8.RuneStart(data[tail]); i++ {
		tail++
	}
	return head, tail
}

func plain(data []byte) string { return strings.ToValidUTF8(string(data), "\ufffd") }
