// Package ranking sorts the sessions of a list by what the store does not order them by,
// page after page.
package ranking
