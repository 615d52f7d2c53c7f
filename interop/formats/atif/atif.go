package atif

import (
	"bytes"
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein/interop"
)

// Name is the name of the format: [skein.Origin.Format] of what it reads.
const Name = "atif"

// peek is how much of a file is read to recognize a document, in bytes.
const peek = 64 << 10

// Format returns the format of trajectories.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "ATIF, the Agent Trajectory Interchange Format: trajectory files that are named",
		Places: func(interop.Home) []string { return nil },
		Open:   open,
		Unit:   unit,
		Look:   look,
		Write:  write,
		Put:    interop.PutDocument,

		Document: document,
	}
}

// unit returns the file itself if its name may be a trajectory's.
func unit(name string) string {
	if base := path.Base(name); path.Ext(base) == ".json" && !strings.HasPrefix(base, ".") {
		return name
	}
	return ""
}

// document recognizes a trajectory under any name.
func document(_ string, head []byte) interop.Guess {
	if isTrajectory(head) {
		return interop.KnownBy("it names a version of ATIF")
	}
	return interop.Guess{}
}

// look opens a document if it says that it is a trajectory. One that cannot be read
// at all is taken for another program's, unless it has the name of a trajectory.
func look(ctx context.Context, name string) (interop.Unit, error) {
	ours := false
	u, err := interop.OpenDocument(ctx, name, func(data []byte) ([][]byte, bool) {
		if ours = isTrajectory(data); !ours {
			return nil, true
		}
		return cut(data)
	})
	base := filepath.Base(name)
	switch {
	case err == nil && ours, errors.Is(err, interop.ErrTorn), errors.Is(err, interop.ErrTooLong) && ours:
		return u, err
	case err == nil:
		return nil, errors.Join(interop.ErrOther, u.Close())
	case strings.Contains(base, "traj") || strings.Contains(base, "atif"):
		return nil, err
	}
	return nil, errors.Join(interop.ErrOther, err)
}

// isTrajectory reports whether a document names a version of the format near
// its beginning, as all writers do.
func isTrajectory(data []byte) bool {
	head := data[:min(len(data), peek)]
	return bytes.HasPrefix(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"), []byte("{")) &&
		bytes.Contains(head, []byte(`"schema_version"`)) && bytes.Contains(head, []byte(`"ATIF-v`))
}
