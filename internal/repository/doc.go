// Package repository determines which repository a folder belongs to, by
// reading Git's files. It never starts Git, so no hook, no filter and no
// network is involved, and a folder is looked at in well under a millisecond.
//
// A repository is the same in every clone. Its [ID] is the address of its
// remote, "github.com/owner/name"; without a remote, its first commit,
// "root:" and the commit's hash. A folder without either has no identity that
// holds elsewhere.
//
// What the cases mean:
//
//   - A linked worktree is its own project of the same repository, and has a
//     name.
//   - A submodule is a repository of its own, with its own remote.
//   - A detached HEAD has a commit and no branch; a branch without a commit has
//     a name and no commit.
//   - A bare repository is its own project and has no folder below it.
//   - A shallow clone does not have its first commit: without a remote, it has
//     no identity.
//   - Remotes that are folders of this machine are not addresses.
//
// The formats are those of gitrepository-layout(5), git-config(1) and
// gitformat-pack(5).
package repository
