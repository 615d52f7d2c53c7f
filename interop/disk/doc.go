// Package disk looks at the files of this machine: it walks through folders, sorts
// files by their age, unpacks those that are packed, and replaces a file whole or not at
// all. It knows nothing of formats, records or stores.
package disk
