// Package inspect has the interfaces by which a store reports its own state: its
// examination, area by area, its copies, and the lag of its search index.
package inspect
