package child

import (
	"runtime"
	"slices"
	"strings"
)

// Environ returns the variables of environ, each NAME=value, that a child may have:
// those that programs usually need, and none whose name looks like that of a secret.
// also names more variables that it may have, whatever their names look like.
func Environ(environ []string, also ...string) (kept []string) {
	for _, e := range environ {
		name, _, ok := strings.Cut(e, "=")
		if !ok || name == "" {
			continue
		}
		if slices.ContainsFunc(also, func(a string) bool { return same(a, name) }) || known(name) && !Secret(name) {
			kept = append(kept, e)
		}
	}
	return kept
}

// Secret reports whether a variable of that name looks as if it has a secret.
func Secret(name string) bool {
	up := strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE"}, func(s string) bool {
		return strings.Contains(up, s)
	})
}

// same reports whether two names name the same variable.
func same(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

func known(name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_") || slices.Contains(strings.Fields(names), name)
}

// names are the variables that a child may have: those of every system, of Windows,
// and of programming languages' tools.
const names = `
PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM COLORTERM NO_COLOR TZ TMPDIR TMP TEMP PWD EDITOR VISUAL PAGER MANPATH INFOPATH
NIX_PATH NIX_PROFILES NIX_SSL_CERT_FILE SSL_CERT_FILE SSL_CERT_DIR CI

SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE USERNAME USERDOMAIN HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA
PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES PUBLIC ALLUSERSPROFILE OS COMPUTERNAME NUMBER_OF_PROCESSORS
PROCESSOR_ARCHITECTURE PSMODULEPATH

GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOFLAGS GOOS GOARCH GOEXPERIMENT GOTOOLCHAIN GOWORK CGO_ENABLED CC CXX CFLAGS CXXFLAGS LDFLAGS
CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTFLAGS JAVA_HOME MAVEN_HOME GRADLE_HOME ANDROID_HOME DOTNET_ROOT NVM_DIR NODE_PATH
NPM_CONFIG_PREFIX PNPM_HOME BUN_INSTALL DENO_DIR VIRTUAL_ENV CONDA_PREFIX PYTHONPATH PYENV_ROOT RBENV_ROOT GEM_HOME GEM_PATH
ASDF_DIR ASDF_DATA_DIR SDKMAN_DIR HOMEBREW_PREFIX PKG_CONFIG_PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH
`
