package sessions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/render"
)

// Away reports whether the session has a folder that this machine does not have:
// it came from another machine, or the folder was moved or deleted.
func Away(s skein.Session) bool { return s.Cwd != "" && !isFolder(s.Cwd) }

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Clone returns the folder in which a session whose own folder is away can continue:
// its subfolder, if that is there, of a clone of its repository. That is the clone
// that the person is in, or the one of the newest session that has one on this
// machine. It returns "" if there is none.
//
// The error is that of finding the working directory, or of the store.
func Clone(ctx context.Context, j *job.Job, s skein.Session) (string, error) {
	repository := s.Checkout.Repository
	if repository == "" {
		return "", nil
	}
	cwd, err := j.Getwd()
	if err != nil {
		return "", err
	}
	tried := map[string]bool{}
	within := func(folder string) string {
		x, project := j.Checkout(folder)
		if tried[project] || x.Repository != repository || !isFolder(project) {
			return ""
		}
		tried[project] = true
		if below := filepath.FromSlash(s.Checkout.Subfolder); filepath.IsLocal(below) && isFolder(filepath.Join(project, below)) {
			return filepath.Join(project, below)
		}
		return project
	}
	if found := within(cwd); found != "" {
		return found, nil
	}
	for other, err := range j.Store.Sessions(ctx, skein.Filter{Repository: repository}) {
		if err != nil {
			return "", err
		}
		if tried[other.Project] || !filepath.IsAbs(other.Project) {
			continue
		}
		if found := within(other.Project); found != "" {
			return found, nil
		}
		tried[other.Project] = true
	}
	return "", nil
}

// ToClone says what to do so that a session whose folder is away can continue on
// this machine; "" if its repository is not known by an address.
func ToClone(s skein.Session) string {
	repository := s.Checkout.Repository
	if host, _, ok := strings.Cut(repository, "/"); !ok || !strings.Contains(host, ".") {
		return ""
	}
	return fmt.Sprintf("git clone https://%s", render.Line(repository))
}
