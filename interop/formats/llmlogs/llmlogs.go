package llmlogs

import (
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "llm"

// Format returns the format of llm's logs.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "the llm command: logs.db",
		Places: func(h interop.Home) []string { return placesOn(runtime.GOOS, h) },
		Unit:   unitOf,
		Look:   look,
		Open:   open,
		Put:    interop.PutDatabase,

		Document: interop.IsDatabase,
	}
}

const fileName = "logs.db"

// placesOn returns the usual places on an operating system.
func placesOn(system string, h interop.Home) []string {
	if dir := h.Env("LLM_USER_PATH"); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			return []string{filepath.Join(abs, fileName)}
		}
	}
	config := h.Env("XDG_CONFIG_HOME")
	switch {
	case system == "darwin":
		config = filepath.Join(h.Dir, "Library", "Application Support")
	case system == "windows":
		if config = h.Env("APPDATA"); config == "" {
			config = filepath.Join(h.Dir, "AppData", "Roaming")
		}
	case config == "":
		config = filepath.Join(h.Dir, ".config")
	}
	return []string{filepath.Join(config, "io.datasette.llm", fileName)}
}

// unitOf recognizes a database by its name: the program's own, or llm….db for a copy.
func unitOf(name string) string {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		file, ok := strings.CutSuffix(name, suffix)
		base := path.Base(file)
		if ok && (base == fileName || strings.HasSuffix(base, ".db") && strings.HasPrefix(base, "llm")) {
			return file
		}
	}
	return ""
}
