package folder

import (
	"crypto/rand"
	"strings"
)

const (
	tempSign = ".skein-"
	tempLen  = 26 // characters of base32 after it
)

// TempName returns a unique name for a file or folder that will be renamed.
func TempName() string { return tempSign + rand.Text()[:tempLen] }

// IsOurs reports whether a name is one that [TempName] could have returned.
func IsOurs(name string) bool {
	rest, ours := strings.CutPrefix(name, tempSign)
	return ours && len(rest) == tempLen && strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// IsTemp reports whether a file or folder of this name is one that [Write], or other
// code of skein, is writing and will rename: .skein- and then digits or capital
// letters. A [Tree] leaves them out.
func IsTemp(name string) bool {
	rest, ours := strings.CutPrefix(name, tempSign)
	return ours && rest != "" && strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}
