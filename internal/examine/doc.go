// Package examine leads the examination of a store through its areas and
// gathers what is found; where to look is the store's.
package examine
