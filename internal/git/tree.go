package git

import (
	"context"
	"strconv"
	"strings"
)

// Bare returns a repository to read by the folder that Git keeps for it: it has no
// working tree.
func Bare(dir string) WorkTree { return WorkTree{Root: dir, Dir: dir, Common: dir} }

// References returns the hashes that the references below a prefix name, such as
// refs/heads/, by the references. The error is Git's.
func (r WorkTree) References(ctx context.Context, prefix string) (map[string]string, error) {
	out, err := r.run(ctx, "for-each-ref", "--format=%(objectname) %(refname)", prefix)
	all := map[string]string{}
	for l := range strings.Lines(string(out)) {
		if hash, name, ok := strings.Cut(strings.TrimSpace(l), " "); ok {
			all[name] = hash
		}
	}
	return all, err
}

// A TreeFile is a file in a commit.
type TreeFile struct {
	Path string // relative to the root, with slashes
	Hash string // of the object that has its bytes
	Size int    // of these; negative if the object is not there, as in a partial clone
}

// Files returns the files of a commit. The error is Git's.
func (r WorkTree) Files(ctx context.Context, hash string) (all []TreeFile, err error) {
	out, err := r.run(ctx, "ls-tree", "-r", "-z", "--long", "--full-tree", hash)
	for entry := range strings.SplitSeq(string(out), "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		if f := strings.Fields(about); len(f) == 4 && f[1] == "blob" && f[0] != symlink {
			size, err := strconv.Atoi(f[3])
			if err != nil {
				size = -1
			}
			all = append(all, TreeFile{path, f[2], size})
		}
	}
	return all, err
}
