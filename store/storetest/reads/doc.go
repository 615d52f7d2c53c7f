// Package reads tests the promises of a store about what reads, searches and watches return.
package reads
