package project

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/repository"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/store/provenance"
)

// A DataSource is where the data of a project's page comes from.
type DataSource struct {
	Store  skein.Store
	Prices *price.List // nil: no costs
}

// An Overview is what is known of a project from its sessions.
type Overview struct {
	Key      string // the repository, or the path of a folder without one
	Sessions int    // that people began
	Children int    // that agents started
	Partial  bool   // there are more: these are the newest
	First    skein.Time
	Last     skein.Time
	Cost     price.Sum
	Agents   []AgentCount
	Branches []Branch        // the one with the newest session first
	Newest   []skein.Session // some of them
	Folders  []string        // in which they worked, the one with the newest session first

	costs map[skein.SessionID]price.Sum
}

// A Branch is what the sessions on a branch did in one folder.
type Branch struct {
	Name     string // "" if it is not known
	Folder   string
	Worktree string // name of a linked worktree; "" in the main one
	Sessions int
	Last     skein.Time
	Cost     price.Sum
}

// An AgentCount is how many sessions an agent has.
type AgentCount struct {
	Agent    string
	Sessions int
}

const (
	mostSessions = 5000 // that are read
	mostNewest   = 8
)

// CostOf returns what a session cost.
func (r *Overview) CostOf(id skein.SessionID) price.Sum { return r.costs[id] }

// Read returns what the sessions of a project say. The error is the store's, and wraps
// [skein.ErrNotFound] if there are none.
func (s DataSource) Read(ctx context.Context, key string) (*Overview, error) {
	r := &Overview{Key: key, costs: map[skein.SessionID]price.Sum{}}
	if err := s.readCosts(ctx, r); err != nil {
		return nil, err
	}
	type place struct{ branch, folder string }
	at, agents := map[place]int{}, map[string]int{}
	n := 0
	for one, err := range s.Store.Sessions(ctx, Filter(key)) {
		if err != nil {
			return nil, err
		}
		if n++; n > mostSessions {
			r.Partial = true
			break
		}
		cost := r.costs[one.ID]
		r.Cost = r.Cost.Plus(cost)
		r.Last = max(r.Last, one.Updated)
		if r.First == 0 || one.Created != 0 && one.Created < r.First {
			r.First = one.Created
		}
		k := place{one.Checkout.Branch, one.Project}
		i, known := at[k]
		if !known {
			i = len(r.Branches)
			at[k], r.Branches = i, append(r.Branches, Branch{Name: k.branch, Folder: k.folder, Worktree: one.Checkout.Worktree})
		}
		b := &r.Branches[i]
		b.Cost, b.Last = b.Cost.Plus(cost), max(b.Last, one.Updated)
		if one.Project != "" && !slices.Contains(r.Folders, one.Project) {
			r.Folders = append(r.Folders, one.Project)
		}
		if one.Parent != nil && one.Parent.Why == skein.Child {
			r.Children++
			continue
		}
		r.Sessions++
		b.Sessions++
		agents[one.Agent]++
		if len(r.Newest) < mostNewest {
			r.Newest = append(r.Newest, one)
		}
	}
	if n == 0 {
		return nil, fmt.Errorf("project %q %w", key, skein.ErrNotFound)
	}
	for agent, n := range agents {
		r.Agents = append(r.Agents, AgentCount{agent, n})
	}
	slices.SortFunc(r.Agents, func(a, b AgentCount) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Agent, b.Agent))
	})
	return r, nil
}

// Filter selects the sessions of a project.
func Filter(key string) skein.Filter {
	return skein.Filter{Among: map[skein.Dimension][]string{skein.ByRepository: {key}}}
}

// Usage asks for the usage of a project.
func Usage(key string) skein.UsageQuery {
	if isPath(key) {
		return skein.UsageQuery{Project: key}
	}
	return skein.UsageQuery{Repository: key}
}

// isPath reports whether a project is known by the path of its folder only.
func isPath(key string) bool {
	return strings.HasPrefix(key, "/") || strings.HasPrefix(key, `\`) || len(key) > 2 && key[1] == ':' && (key[2] == '\\' || key[2] == '/')
}

func (s DataSource) readCosts(ctx context.Context, r *Overview) error {
	if s.Prices == nil {
		return nil
	}
	q := Usage(r.Key)
	q.By = skein.BySession
	rows, err := s.Store.Usage(ctx, q)
	for _, sum := range s.Prices.Sums(rows, skein.BySession) {
		r.costs[skein.SessionID(sum.Of)] = sum
	}
	return err
}

// Files returns the files that the sessions of a project changed, as
// [provenance.WrittenBy] does, by the newest messages of models, at most so many. The error
// is the store's.
func (s DataSource) Files(ctx context.Context, r *Overview, most int) ([]provenance.WrittenFile, skein.Time, error) {
	of := provenance.WrittenQuery{Most: most}
	if isPath(r.Key) {
		of.Root = r.Key
	} else {
		of.Repository = repository.ID(r.Key)
		of.Root = first(r.Folders, func(dir string) bool { return isPath(dir) })
	}
	if of.Root == "" {
		return nil, 0, nil // without a folder, paths mean nothing
	}
	return provenance.WrittenBy(ctx, s.Store, of)
}

// Clone returns the folder of a working tree of the project on this machine; "" if no
// session worked in one that is still there.
func (r *Overview) Clone() string {
	return first(r.Folders, func(dir string) bool {
		if !filepath.IsAbs(dir) {
			return false
		}
		at, err := repository.At(dir)
		return err == nil && at.Git && (string(at.Repository) == r.Key || at.Repository == "" && at.Project == r.Key)
	})
}

func first(all []string, fits func(string) bool) string {
	if i := slices.IndexFunc(all, fits); i >= 0 {
		return all[i]
	}
	return ""
}
