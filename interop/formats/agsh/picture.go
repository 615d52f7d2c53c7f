package agsh

import (
	"encoding/base64"
	"strings"

	"github.com/skein-dev/skein"
)

// pictured returns a user message with images as the blocks of meka's role for them,
// and "" if there are no images, or if the database's version may not know the role:
// 0.31 does, and the next column came with 0.38.
func (ms *messages) pictured(e *skein.Entry) string {
	m := &e.Message
	if m.Role != skein.RoleUser || !ms.at.repairs() {
		return ""
	}
	var b []byte
	some := false
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Kind == skein.PartText:
			b = append(b, "[,"[min(len(b), 1)])
			b = append(skein.AppendQuoted(append(b, `{"type":"text","text":`...), ms.text(e, p.Text)), '}')
		case p.File != nil && isPicture(p.File):
			data, err := ms.d.Blob(p.File.Blob)
			if err != nil {
				return ""
			}
			b = append(b, "[,"[min(len(b), 1)])
			b = skein.AppendQuoted(append(b, `{"type":"image","source":{"type":"base64","media_type":`...), p.File.Media)
			b = base64.StdEncoding.AppendEncode(append(b, `,"data":"`...), data)
			b = append(b, `"}}`...)
			some = true
		default:
			return "" // other files are reported where they are left out
		}
	}
	if !some {
		return ""
	}
	if m.Synthetic {
		ms.lose(e, "that a program put a message in: left out")
	}
	return string(append(b, ']'))
}

// maxPicture is the size of the largest image that is put into a row, in bytes.
const maxPicture = 16 << 20

func isPicture(f *skein.File) bool {
	return f.Blob != "" && f.Size <= maxPicture && strings.HasPrefix(f.Media, "image/")
}
