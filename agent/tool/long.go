package tool

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// Sizes of what a tool wrote, in bytes.
const (
	MaxText = 64 << 10 // that a model is shown whole
	headLen = 16 << 10 // of what is longer, the beginning that it is shown
	tailLen = 16 << 10 // and the end
)

// Put adds data, what a tool wrote, to o. The model is shown data of up to
// [MaxText] bytes whole, of more the beginning, the end, and the hash of the
// blob that has all of it, by which session_read reads the rest; name is the
// blob's, for people. What is no UTF-8 becomes U+FFFD in the text, and is in
// the blob as it was.
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
		o.Text += plain(data) + fmt.Sprintf("\n[It was no UTF-8. The %d bytes as they were are blob %s.]\n", len(data), b.Hash)
		return
	}
	head, tail := ends(data)
	o.Text += plain(data[:head]) + fmt.Sprintf("\n[… %d of %d bytes are left out here. All of it is blob %s: "+
		`session_read with {"blob": "%s", "offset": %d} reads on …]`+"\n", tail-head, len(data), b.Hash, b.Hash, head) + plain(data[tail:])
}

// ends returns where the beginning of data ends and its end begins, if
// possible between lines, else between characters.
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
