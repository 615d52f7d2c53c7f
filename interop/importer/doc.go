// Package importer stores what sources say: see [Import]. A [Pipeline] takes what a planner
// picked through one way: a producer reads it as chunks on one goroutine, and a consumer
// stores these on another, one target for each source. Package interop has the picture.
package importer
