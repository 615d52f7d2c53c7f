// Package upload is the import of files from another machine: [Unpack] writes them to
// a folder, and [Store] is the store as an importer of that folder sees it.
package upload
