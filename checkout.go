package skein

import (
	"iter"
	"slices"
	"strings"
)

// A Checkout says where the work of a session happens, beside its project and
// folder: in which repository, and what was checked out there. Any field may be
// "" because it is not known.
type Checkout struct {
	Repository string `json:"repository,omitempty"` // the same in every clone: github.com/owner/name, or "root:" and the hash of the first commit
	Branch     string `json:"branch,omitempty"`     // "" if HEAD is detached, too
	Commit     string `json:"commit,omitempty"`     // hash, in hex
	Worktree   string `json:"worktree,omitempty"`   // name of a linked worktree
	Subfolder  string `json:"subfolder,omitempty"`  // path of the working directory below the working tree, with slashes
	Host       string `json:"host,omitempty"`       // name of the machine

	// LookedUp names, with spaces between them, the fields that no record of an
	// imported session said: repository, worktree, subfolder, host. Their values are
	// those that its folder had when the session was first imported.
	LookedUp string `json:"looked_up,omitempty"`
}

// rootPrefix begins the name of a repository that is known by its first commit.
const rootPrefix = "root:"

// fields yields the fields that can be looked up.
func (x *Checkout) fields() iter.Seq2[string, *string] {
	return func(yield func(string, *string) bool) {
		_ = yield("repository", &x.Repository) && yield("worktree", &x.Worktree) && yield("subfolder", &x.Subfolder) && yield("host", &x.Host)
	}
}

// Recorded returns x without what was looked up.
func (x Checkout) Recorded() Checkout {
	for name, value := range x.fields() {
		if x.lookedUp(name) {
			*value = ""
		}
	}
	x.LookedUp = ""
	return x
}

func (x *Checkout) lookedUp(name string) bool {
	return slices.Contains(strings.Fields(x.LookedUp), name)
}

// Filled returns x, which records said, with what they did not say of found, which
// is what the session's folder says now. Branch and commit are not filled in: they
// change. Neither is anything if the folder belongs to another repository than the
// records say. The first commit that a record names gives way to an address.
func (x Checkout) Filled(found Checkout) Checkout {
	if strings.HasPrefix(x.Repository, rootPrefix) && found.Repository != "" && !strings.HasPrefix(found.Repository, rootPrefix) {
		x.Repository = ""
	}
	if x.Repository != "" && x.Repository != found.Repository {
		return x
	}
	var names []string
	has := map[string]string{}
	for name, value := range found.fields() {
		has[name] = *value
	}
	for name, value := range x.fields() {
		if *value == "" && has[name] != "" {
			*value = has[name]
			names = append(names, name)
		}
	}
	x.LookedUp = strings.Join(names, " ")
	return x
}

// then returns what is known once a later event says said: all of it is replaced, but
// what was looked up stays until a record says it.
func (x Checkout) then(said Checkout) Checkout {
	if x.LookedUp == "" || said.LookedUp != "" {
		return said
	}
	for name, value := range x.fields() {
		if !x.lookedUp(name) && (name != "repository" || *value != said.Repository) {
			*value = ""
		}
	}
	return said.Filled(x)
}

// elsewhere returns x in another folder of the same project.
func (x Checkout) elsewhere() Checkout {
	x.Subfolder = ""
	x.LookedUp = strings.Join(slices.DeleteFunc(strings.Fields(x.LookedUp), func(name string) bool { return name == "subfolder" }), " ")
	return x
}

// Texts returns the texts of x, for what masks or sums up all texts of a session.
func (x *Checkout) Texts() []*string {
	return []*string{&x.Repository, &x.Branch, &x.Commit, &x.Worktree, &x.Subfolder, &x.Host, &x.LookedUp}
}

// Known returns x for an event's payload: nil if nothing of it is known.
func (x Checkout) Known() *Checkout {
	if x == (Checkout{}) {
		return nil
	}
	return &x
}
