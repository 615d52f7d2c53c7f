// Package tomledit adds tables to TOML files that people keep by hand, and takes
// them out again, without a change to any other byte.
package tomledit
