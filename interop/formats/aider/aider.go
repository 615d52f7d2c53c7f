package aider

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "aider"

// fileName is the ending of a history's name.
const fileName = ".aider.chat.history.md"

// Format returns the format of aider's chat histories.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "aider: .aider.chat.history.md of a repository",
		Places: places,
		Unit:   unitOf,
		Look:   look,
		PlacedFiles: []interop.PlacedFile{
			{Name: fileName, Path: fileName, Is: interop.StartsWith("# aider chat started at ", "it begins with # aider chat started at")},
		},
		Open:   open,
		Put:    put,
		Resume: resume,
	}
}

func resume(_ interop.Spot, s skein.Session) (command []string, dir string) {
	return []string{"aider", "--restore-chat-history"}, s.Cwd
}

func unitOf(name string) string {
	if strings.HasSuffix(name, fileName) {
		return name
	}
	return ""
}

// places returns the histories of the working directory and its repository.
func places(h interop.Home) (files []string) {
	if named := h.Env("AIDER_CHAT_HISTORY_FILE"); strings.HasSuffix(named, fileName) {
		if !filepath.IsAbs(named) {
			named = filepath.Join(h.Cwd, named)
		}
		if filepath.IsAbs(named) {
			return []string{named}
		}
	}
	if root := repository(h.Cwd); root != "" && root != h.Cwd {
		files = append(files, filepath.Join(root, fileName))
	}
	if h.Cwd != "" {
		files = append(files, filepath.Join(h.Cwd, fileName))
	}
	return files
}

// repository returns the nearest folder at or above dir with a .git in it, and
// "" if there is none.
func repository(dir string) string {
	for dir != "" {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return ""
}
