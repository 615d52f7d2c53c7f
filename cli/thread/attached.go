package thread

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/terminal"
)

// Attached is what a prompt has beside its text and what that mentions.
type Attached struct {
	Parts []skein.Part
	Blobs []skein.Blob
}

// Attach adds a file that a person sent: a text file as text, which every model can read,
// any other as a blob.
//
// The error says that the file is too large.
func (a *Attached) Attach(name string, data []byte) error {
	if len(data) > maxAttachedFile {
		return fault.Usage("%s: the file has %s; want at most %s", name, terminal.BytesText(int64(len(data))), terminal.BytesText(maxAttachedFile))
	}
	parts, blob, err := fileParts(mention{name: name}, name, name, data, nil)
	if blob != nil {
		a.Blobs = append(a.Blobs, *blob)
	}
	a.Parts = append(a.Parts, parts...)
	return err
}

// AttachedTo returns the files that a person sent with the message at a seq of a session.
// Those that its text mentions are not among them.
//
// The error is the store's, or wraps [skein.ErrNotFound] if there is no such message.
func AttachedTo(ctx context.Context, store skein.Store, id skein.SessionID, at skein.Seq) (a Attached, err error) {
	found, err := store.Newest(ctx, id, 1, at+1)
	if err != nil {
		return a, err
	}
	if len(found) == 0 || found[0].Seq != at {
		return a, skein.ErrNotFound
	}
	sent := false // the part before was such a file
	for _, p := range found[0].Message.Parts {
		if sent = p.File != nil && len(p.Meta) == 0 || sent && p.Synthetic && p.File == nil; !sent {
			continue
		}
		a.Parts = append(a.Parts, p)
		if p.File == nil || p.File.Blob == "" {
			continue
		}
		data, err := store.Blob(ctx, id, p.File.Blob)
		if err != nil {
			return a, err
		}
		a.Blobs = append(a.Blobs, skein.NewBlob(data))
	}
	return a, nil
}
