// Package integration holds what only shows when the parts are together: the scenarios of the design documents, the
// replay of recordings, the contract between the nREPL client and real servers, and the guards on the tree.
//
// Everything here is a test. What needs a JVM or docker says aloud that it is skipped where they are missing, and fails
// with CI=true.
package integration
