// Package disktest gives tests a disk that is quickly full.
package disktest
