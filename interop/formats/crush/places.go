package crush

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// places returns the databases of the projects that the program remembers, and that
// of the working directory; if there are none, the one that it would create.
func places(h interop.Home) []string { return placesOn(runtime.GOOS, h) }

func placesOn(system string, h interop.Home) (all []string) {
	for _, dir := range append(remembered(filepath.Join(dataDir(system, h), "projects.json")), around(h.Cwd)...) {
		if file := filepath.Join(dir, fileName); filepath.IsAbs(dir) && !slices.Contains(all, file) {
			all = append(all, file)
		}
	}
	if len(all) == 0 && h.Cwd != "" { // where it would create the first
		all = []string{filepath.Join(h.Cwd, dirName, fileName)}
	}
	return all
}

// dataDir returns the folder with the program's list of projects.
func dataDir(system string, h interop.Home) string {
	if dir := h.Env("CRUSH_GLOBAL_DATA"); dir != "" {
		return dir
	}
	data := h.Env("XDG_DATA_HOME")
	switch {
	case data != "":
	case system == "windows":
		if data = h.Env("LOCALAPPDATA"); data == "" {
			data = filepath.Join(h.Dir, "AppData", "Local")
		}
	default:
		data = filepath.Join(h.Dir, ".local", "share")
	}
	return filepath.Join(data, "crush")
}

// remembered returns the folders that projects.json names:
// {"projects":[{"path":"…","data_dir":"…"}]}.
func remembered(list string) (dirs []string) {
	o := object(list)
	for _, v := range o.List("projects") {
		p, _ := loose.Parse(v) // a value that is not an object names none
		project, dir := p.Str("path"), p.Str("data_dir")
		if dir == "" {
			dir = dirName
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(project, dir)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// around returns the folder that a program in dir would use: the nearest .crush,
// or what the options in its crush.json say.
func around(dir string) (dirs []string) {
	if dir == "" {
		return nil
	}
	for _, name := range []string{"crush.json", ".crush.json"} {
		if own := object(filepath.Join(dir, name)).Obj("options").Str("data_directory"); own != "" {
			if !filepath.IsAbs(own) {
				own = filepath.Join(dir, own)
			}
			dirs = append(dirs, own)
		}
	}
	for at := dir; ; at = filepath.Dir(at) {
		if info, err := os.Stat(filepath.Join(at, dirName)); err == nil && info.IsDir() {
			return append(dirs, filepath.Join(at, dirName))
		}
		if at == filepath.Dir(at) {
			return dirs
		}
	}
}

// maxList is how much of a settings file is read, in bytes.
const maxList = 1 << 20

// object returns the JSON object in a small file, nil if there is none.
func object(name string) loose.Object {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxList {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxList))
	if err != nil {
		return nil
	}
	o, _ := loose.Parse(b)
	return o
}
