package job

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/internal/fileid"
)

// folders are by what the file system knows the folders of projects, by their paths. The
// file folders.json in the folder for state keeps them, so that a folder is recognized
// that was renamed and that no repository names.
func (j *Job) folders() (known map[string]string) {
	text, err := os.ReadFile(j.foldersFile())
	if err != nil || json.Unmarshal(text, &known) != nil || known == nil {
		known = map[string]string{} // it is written again
	}
	return known
}

func (j *Job) foldersFile() string { return filepath.Join(j.Dirs.State, "folders.json") }

// Here returns what a folder of this machine is a checkout of, and its project, for a
// session that works there: the folder is recognized when it is renamed.
func (j *Job) Here(dir string) (x skein.Checkout, project string) {
	if x, project = j.Checkout(dir); x.Repository == "" {
		j.remember(project)
	}
	return x, project
}

// LookUp is Here without the project, for an import.
func (j *Job) LookUp(dir string) skein.Checkout {
	x, _ := j.Here(dir)
	return x
}

// remember keeps by what the file system knows a folder. If that fails, the folder is not
// recognized later.
func (j *Job) remember(folder string) {
	id, known := fileid.ID(folder), j.folders()
	if id == "" || known[folder] == id || os.MkdirAll(j.Dirs.State, 0o700) != nil {
		return
	}
	known[folder] = id
	if text, err := json.Marshal(known); err == nil {
		_ = config.ReplaceFile(j.foldersFile(), text)
	}
}

// Renamed returns the paths that a folder had before, as far as a session worked there
// and nothing is there now.
func (j *Job) Renamed(folder string) (was []string) {
	id := fileid.ID(folder)
	for path, known := range j.folders() {
		if id == "" || known != id || path == folder {
			continue
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			was = append(was, path)
		}
	}
	return was
}
