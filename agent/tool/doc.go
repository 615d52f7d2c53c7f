// Package tool defines what a tool is: something that a model may call. The
// packages below this one each have one tool or one group of tools.
package tool
