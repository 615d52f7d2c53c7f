// Package whole tests the promises of a store about itself: versions, closing, users,
// damage, and whatever is done in any order.
package whole
