package imports

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/upload"
)

// ErrNoFile says that a form has no file.
var ErrNoFile = errors.New("no file was sent")

// TakeForm is [Imports.Take] for the files of a form, which are not kept in memory.
//
// The error wraps [ErrNoFile], [skein.ErrInvalid] if the request has no such form, or is
// that of [Imports.Take].
func (i *Imports) TakeForm(r *http.Request) error {
	r.Body = io.NopCloser(upload.Passing(r.Context(), r.Body))
	form, err := r.MultipartReader()
	if err != nil {
		return fmt.Errorf("%w form: %w", skein.ErrInvalid, err)
	}
	none := true
	return i.Take(func() (SentFile, error) {
		for {
			part, err := form.NextPart()
			if errors.Is(err, io.EOF) && none {
				return SentFile{}, ErrNoFile
			}
			if err != nil {
				return SentFile{}, err
			}
			if name := nameOf(part); name != "" {
				none = false
				return SentFile{name, part}, nil
			}
		}
	})
}

// nameOf returns the name of the file in a part of a form, with its folders; "" if the
// part is no file.
func nameOf(part *multipart.Part) string {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil || params["filename"] == "" {
		return ""
	}
	return strings.TrimLeft(filepath.ToSlash(params["filename"]), "/")
}
