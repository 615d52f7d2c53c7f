// Package refine says what each part of a query means, so that a person can refine a
// search.
package refine
