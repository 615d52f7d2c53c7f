// Package exchange holds what commands share that read or write the files of other
// programs: the list of the formats, and reports of imports and exports.
package exchange
