package loose

import (
	"encoding/base64"
	"strings"

	"github.com/skein-dev/skein"
)

// maxURL is the longest address of an attachment, in bytes.
const maxURL = 8 << 10

// Attach returns the attachment in data, which is base64, a data URL, or a URL; it
// returns nil for anything else. media may be "" for a data URL, which names its
// own.
func Attach(name, media, data string) (*skein.File, *skein.Blob) {
	f := &skein.File{Name: Clip(name), Media: Clip(media)}
	if head, rest, ok := strings.Cut(data, ","); ok && strings.HasPrefix(head, "data:") {
		kind, _, _ := strings.Cut(strings.TrimPrefix(head, "data:"), ";")
		if f.Media == "" {
			f.Media = Clip(kind)
		}
		if !strings.HasSuffix(head, ";base64") {
			return nil, nil
		}
		data = rest
	} else if strings.Contains(data, "://") {
		if len(data) > maxURL {
			return nil, nil
		}
		f.URL = skein.Text(data).UTF8()
		return f, nil
	}
	bytes, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		bytes, err = base64.RawStdEncoding.DecodeString(data)
	}
	if err != nil || len(bytes) == 0 {
		return nil, nil
	}
	blob := skein.NewBlob(bytes)
	f.Blob, f.Size = blob.Hash, int64(len(bytes))
	return f, &blob
}

// Clip returns s in UTF-8 if it can be the name or type of a file, else "".
func Clip(s string) string {
	if len(s) > 1024 {
		return ""
	}
	return skein.Text(s).UTF8()
}
