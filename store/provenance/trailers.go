package provenance

import (
	"context"
	"os"
	"regexp"
	"slices"
	"sync"

	"github.com/skein-dev/skein"
)

// Trailer is the name of the trailer with which the message of a commit names a session.
const Trailer = "Skein-Session"

// named finds the sessions that a message names, also in the messages of other commits
// that it quotes, as that of a squash does, or has as comments.
var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?mi)^[^\pL\pN\n]*` + Trailer + `:[ \t]*(\S+)[ \t]*\r?$`)
})

// scissors is the line below which Git cuts off what it shows in a message.
var scissors = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\S -{24} >8 -{24}$`) })

// AddTrailers adds to the message of a commit that is being made, which is in a file,
// trailers that name the sessions that wrote lines of it, and those that the messages of
// the commits it is made of name. An empty message stays empty, so that Git can give up,
// and a merge has no lines of its own. The error is Git's, the store's or the file's.
func (t *Tracer) AddTrailers(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil || t.Tree.Merging(ctx) {
		return err
	}
	all := string(text)
	if cut := scissors().FindStringIndex(all); cut != nil {
		all = all[:cut[0]]
	}
	if says, err := t.Tree.Says(ctx, all); err != nil || !says {
		return err
	}
	var ids []skein.SessionID
	add := func(id skein.SessionID) {
		if id.Check() == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, m := range named().FindAllStringSubmatch(all, -1) {
		add(skein.SessionID(m[1]))
	}
	r, err := t.Staged(ctx)
	if err != nil {
		return err
	}
	for _, s := range r.Shares {
		if s.Lines > 0 {
			add(s.Session)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	trailers := make([]string, len(ids))
	for i, id := range ids {
		trailers[i] = Trailer + ": " + string(id)
	}
	return t.Tree.AddTrailers(ctx, file, trailers)
}
