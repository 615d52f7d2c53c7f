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

// knownFolders says by what the file system knows the folders of projects, by their
// paths. The file folders.json in the folder for state keeps it, so that a folder is
// recognized that was renamed and that no repository names.
type knownFolders string // the path of the file

func foldersIn(state string) knownFolders { return knownFolders(filepath.Join(state, "folders.json")) }

func (k knownFolders) read() (known map[string]string) {
	text, err := os.ReadFile(string(k))
	if err != nil || json.Unmarshal(text, &known) != nil || known == nil {
		known = map[string]string{} // it is written again
	}
	return known
}

// Here returns what a folder of this machine is a checkout of, and its project, for a
// session that works there: the folder is recognized when it is renamed.
func (j *Job) Here(dir string) (x skein.Checkout, project string) {
	if x, project = j.Checkout(dir); x.Repository == "" {
		foldersIn(j.Dirs.State).remember(project)
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
func (k knownFolders) remember(folder string) {
	id, known := fileid.ID(folder), k.read()
	if id == "" || known[folder] == id || os.MkdirAll(filepath.Dir(string(k)), 0o700) != nil {
		return
	}
	known[folder] = id
	if text, err := json.Marshal(known); err == nil {
		_ = config.ReplaceFile(string(k), text)
	}
}

// Renamed returns the paths that a folder had before, as far as a session worked there
// and nothing is there now.
func (j *Job) Renamed(folder string) (was []string) {
	id := fileid.ID(folder)
	for path, known := range foldersIn(j.Dirs.State).read() {
		if id == "" || known != id || path == folder {
			continue
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			was = append(was, path)
		}
	}
	return was
}
