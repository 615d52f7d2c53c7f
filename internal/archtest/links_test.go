package archtest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	mdCode    = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	mdPoint   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the names by which a page's headings can be linked to.
func anchors(page string) map[string]bool {
	all := map[string]bool{}
	for _, m := range mdHeading.FindAllStringSubmatch(mdCode.ReplaceAllStringFunc(page, func(s string) string { return strings.Trim(s, "`") }), -1) {
		all[strings.ReplaceAll(mdPoint.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return all
}

func TestLinksBetweenPagesLeadSomewhere(t *testing.T) {
	walk(t, func(name string) {
		if path.Ext(name) != ".md" || strings.Contains(name, "testdata/") || strings.HasPrefix(name, "changelog/") {
			return
		}
		for _, m := range mdLink.FindAllStringSubmatch(mdCode.ReplaceAllString(read(t, name), ""), -1) {
			to, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			to = path.Join(path.Dir(name), to)
			if m[1][0] == '#' {
				to = name
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
			} else if heading != "" && !anchors(read(t, to))[heading] {
				t.Errorf("%s links to %s, but %s has no such heading", name, m[1], to)
			}
		}
	})
}

var (
	cdOf    = regexp.MustCompile(`\bcd ((?:\.?[a-z][\w-]*/?)+)`)
	goPaths = regexp.MustCompile(`\bgo (?:test|run|vet|build|install) (?:-\S+ )*(\./[\w/-]+)`)
)

// A command on a page names a folder that exists.
func TestCommandsOnPagesNameFoldersThatExist(t *testing.T) {
	walk(t, func(name string) {
		if path.Ext(name) != ".md" || strings.Contains(name, "testdata/") || strings.HasPrefix(name, "changelog/") {
			return
		}
		for line := range strings.Lines(read(t, name)) {
			in := ""
			if m := cdOf.FindStringSubmatch(line); m != nil {
				in = m[1]
			}
			for _, m := range append(goPaths.FindAllStringSubmatch(line, -1), []string{"", in}) {
				to := m[1]
				if m[0] != "" {
					to = path.Join(in, to)
				}
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
					t.Errorf("%s: %q names the folder %s, which does not exist", name, strings.TrimSpace(line), to)
				}
			}
		}
	})
}
