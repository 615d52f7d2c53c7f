package cursor

import (
	"context"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
)

// Limits of the search for the folders of composers.
const (
	maxWorkspaces = 500
	maxList       = 64 << 20 // bytes of a workspace's database
	maxSmall      = 1 << 20
)

var lists = foreign.Shelf{Table: "ItemTable", Key: "key", Value: "value"}

// listKey is the one key of a workspace's ItemTable that is read: others hold
// credentials.
const listKey = "composer.composerData"

// workspaces returns the folders of composers, from the lists of the workspaces
// beside an editor's database; newer versions have composerHeaders instead. What
// cannot be read is left out: those folders are then unknown.
func (u *state) workspaces(ctx context.Context) map[string]string {
	folders := map[string]string{}
	if _, ok := u.db.Table("composerHeaders"); ok {
		return folders
	}
	root := filepath.Join(filepath.Dir(filepath.Dir(u.path)), "workspaceStorage")
	entries, err := os.ReadDir(root)
	if err != nil {
		return folders
	}
	for _, e := range entries[:min(len(entries), maxWorkspaces)] {
		if !e.IsDir() || ctx.Err() != nil {
			continue
		}
		at := filepath.Join(root, e.Name())
		folder := folderOf(filepath.Join(at, "workspace.json"))
		if folder == "" {
			continue
		}
		for _, id := range composersIn(ctx, filepath.Join(at, stateName)) {
			folders[id] = folder
		}
	}
	return folders
}

// folderOf returns a workspace's folder.
func folderOf(at string) string {
	if info, err := os.Lstat(at); err != nil || !info.Mode().IsRegular() || info.Size() > maxSmall {
		return ""
	}
	b, err := os.ReadFile(at)
	if err != nil {
		return ""
	}
	o, err := loose.Parse(b)
	if err != nil {
		return ""
	}
	return pathOf(o.Str("folder"))
}

// composersIn returns the composers that a workspace lists.
func composersIn(ctx context.Context, at string) (ids []string) {
	if info, err := os.Lstat(at); err != nil || !info.Mode().IsRegular() || info.Size() > maxList {
		return nil
	}
	db, err := openDB(ctx, at, lists.Table, func(db *foreign.DB) bool {
		t, ok := db.Table(lists.Table)
		return ok && t.Has(lists.Key, lists.Value)
	})
	if err != nil {
		return nil
	}
	defer func() { _ = db.Close() }() // a copy
	var list loose.Object
	err = db.Marks(ctx, lists, listKey, listKey+"\x00", func(m foreign.Mark) error {
		row, ok, err := db.At(ctx, lists, m)
		if ok {
			list = valueOf(row)
		}
		return err
	})
	if err != nil {
		return nil
	}
	for _, v := range list.List("allComposers") { // version 2
		if c, err := loose.Parse(v); err == nil && c.Str("composerId") != "" {
			ids = append(ids, c.Str("composerId"))
		}
	}
	for _, name := range []string{"selectedComposerIds", "lastFocusedComposerIds"} { // version 3
		for _, v := range list.List(name) {
			if id := loose.Str(v); id != "" {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
