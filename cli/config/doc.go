// Package config holds what a person set up: the program's environment, its folders,
// the settings with where each was set, and the address of the store.
package config
