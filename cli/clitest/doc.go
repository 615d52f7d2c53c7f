// Package clitest holds an environment for tests of commands.
package clitest
