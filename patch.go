package skein

import "strings"

// patchMarks are what stands before a path in a patch that several agents give
// their tools: lines of text between "*** Begin Patch" and "*** End Patch".
func patchMarks() []string {
	return []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "}
}

// maxPatchPaths bounds how many paths of one patch are kept.
const maxPatchPaths = 1000

// patchPaths returns the paths of the files that a patch in text changes.
func patchPaths(text string) (paths []string) {
	_, text, found := strings.Cut(text, "*** Begin Patch\n")
	if !found {
		return nil
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "*** ") {
			continue
		}
		for _, mark := range patchMarks() {
			path, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), mark)
			if ok && path != "" && len(path) < 4096 && len(paths) < maxPatchPaths {
				paths = append(paths, path)
			}
		}
	}
	return paths
}
