package web

import (
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
)

// Bounds of what a message attaches.
const (
	maxSentFiles = 10
	maxSentBytes = 20_000_000 // of all files of a message, and of all messages that wait in a session
)

// saying returns a route for a message, which may have files.
func saying(path string, h http.HandlerFunc) door.Route {
	route := change(path, h)
	route.Body, route.Types = door.MaxBody, append(route.Types, "multipart/form-data")
	return route
}

// sentIn returns the files of a form.
//
// The error wraps [skein.ErrInvalid] and says which bound they exceed, or is that of
// reading the form.
func sentIn(r *http.Request) (all []TurnFile, err error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return nil, nil
	}
	if err := r.ParseMultipartForm(maxForm); err != nil {
		return nil, fmt.Errorf("%w form: %w", skein.ErrInvalid, err)
	}
	sent, sum := r.MultipartForm.File["file"], int64(0)
	if len(sent) > maxSentFiles {
		return nil, fmt.Errorf("%w: %d files; attach at most %d to a message", skein.ErrInvalid, len(sent), maxSentFiles)
	}
	for _, h := range sent {
		if sum += h.Size; sum > maxSentBytes {
			return nil, fmt.Errorf("%w: %s has %s; the files of a message have at most %s together", skein.ErrInvalid, render.Line(h.Filename), render.Bytes(h.Size), render.Bytes(maxSentBytes))
		}
		f, err := sentFile(h)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// sent reports whether a form that was read has files.
func sent(r *http.Request) bool { return r.MultipartForm != nil && len(r.MultipartForm.File) > 0 }

func sentFile(h *multipart.FileHeader) (TurnFile, error) {
	file, err := h.Open()
	if err != nil {
		return TurnFile{}, err
	}
	defer file.Close() //nolint:errcheck // it was read
	name := render.Clip(render.Line(strings.ToValidUTF8(h.Filename, "\ufffd")), 200)
	data, err := io.ReadAll(file)
	return TurnFile{name, data}, err
}

// fileNames returns the names of the files, for people.
func fileNames(all []TurnFile) string {
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// bytesOf returns how many bytes files have.
func bytesOf(all []TurnFile) (n int) {
	for _, f := range all {
		n += len(f.Data)
	}
	return n
}

// sentWith returns the names of the files that were sent with a message, without those that
// its text mentions.
func sentWith(m *skein.Message) string {
	var names []string
	for i := range m.Parts {
		if p := &m.Parts[i]; p.File != nil && len(p.Meta) == 0 {
			names = append(names, render.Line(p.File.Name))
		}
	}
	return strings.Join(names, ", ")
}
