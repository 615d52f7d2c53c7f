package folder

import "strings"

// IsTemp reports whether a file or folder of this name is one that [Write], or
// skein in another place, is writing and will rename: .skein- and then digits or
// capital letters. A [Tree] has none of them.
func IsTemp(name string) bool {
	rest, ours := strings.CutPrefix(name, ".skein-")
	return ours && rest != "" && strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}
