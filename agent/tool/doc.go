// Package tool says what a tool is: something that a model may ask to have
// done. Each has a folder of its own under this one.
package tool
