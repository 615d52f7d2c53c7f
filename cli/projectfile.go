package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// projectFile returns a file name for data about a project: the name of its folder,
// and a hash of its path.
func projectFile(project string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, filepath.Base(project))
	sum := sha256.Sum256([]byte(project))
	return name[:min(len(name), 40)] + "-" + hex.EncodeToString(sum[:6])
}
