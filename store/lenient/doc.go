// Package lenient lets readers read a damaged store: a placeholder is shown in
// place of each event that cannot be read.
package lenient
